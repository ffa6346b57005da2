/* A matrix from one rank to all, then its sum over all ranks.

   mpicxx examples/broadcast_and_sum.cc -o broadcast_and_sum \
     -Iinclude -Lbazel-bin/patterns/api -lbrigade -Wl,-rpath,$PWD/bazel-bin/patterns/api
   mpirun -n 4 --oversubscribe ./broadcast_and_sum

   -> rank 0: every element is 4 */

#include <mpi.h>

#include <cstdio>
#include <vector>

#include "brigade/brigade.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  // 1000 x 32, of a larger matrix with 1200 rows: nobody has to pack it.
  std::vector<double> a(1200 * 32, rank == 0 ? 1.0 : 0.0);
  const brigade::View<double> matrix(a.data(), 1000, 32, 1200);
  brigade::Result result;
  {
    brigade::Engine engine;
    brigade::Group group;
    result = engine.Create();
    if (result) result = group.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks);
    if (result) result = group.Broadcast(matrix, 0);
    if (result) result = group.AllReduceInPlace(matrix, BRIGADE_SUM);
  }  // group and engine go before MPI does
  if (!result) {
    std::fprintf(stderr, "rank %d: %s\n", rank, result.text.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }

  bool right = true;
  for (int j = 0; j < 32; ++j) {
    for (int i = 0; i < 1000; ++i) right &= a[j * 1200 + i] == ranks;
  }
  if (rank == 0) std::printf("rank 0: every element is %s%d\n", right ? "" : "not ", ranks);
  MPI_Finalize();
  return right ? 0 : 1;
}
