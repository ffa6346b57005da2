/* C++: an operation of the program, in a call that starts, and in a plan.

   mpicxx examples/user_function.cc -o user_function \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./user_function

   -> rank 0: the values lie between 0 and 9
   -> rank 0: after 3 steps between 0 and 36 */

#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include "brigade/brigade.hpp"

struct Range {
  double least, most;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const auto join = [](const Range& left, const Range& right) {
    return Range{std::min(left.least, right.least), std::max(left.most, right.most)};
  };
  brigade::UserFunction<Range, decltype(join)> joined(join, /*commutes=*/true);
  brigade::CallOptions options;
  options.user_op = &joined;

  const double value = rank * rank;
  Range all{value, value};
  Range step{}, in_step{};
  brigade::Result result;
  {
    brigade::Engine engine;
    brigade::Group group;
    brigade::Operation operation;
    brigade::Plan plan;
    result = engine.Create();
    if (result) result = group.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks);

    // The program may compute between start and wait.
    const auto all_view = brigade::ViewOfOne(all);
    if (result) result = group.StartAllReduceInPlace(all_view, BRIGADE_USER, &operation, options);
    if (result) result = operation.Wait();

    const auto from = brigade::ViewOfOne(step), to = brigade::ViewOfOne(in_step);
    if (result) result = group.PlanAllReduce(from, to, BRIGADE_USER, &plan, options);
    for (int i = 0; result && i < 3; ++i) {
      step = {i * value, (i + 2) * value};
      result = plan.Run();
    }
  }  // plan, operation, group and engine go before MPI does
  if (!result) {
    std::fprintf(stderr, "rank %d: %s\n", rank, result.text.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  if (rank == 0) {
    std::printf("rank 0: the values lie between %g and %g\n", all.least, all.most);
    std::printf("rank 0: after 3 steps between %g and %g\n", in_step.least, in_step.most);
  }
  MPI_Finalize();
  return 0;
}
