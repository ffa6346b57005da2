// counted_calls: makes the calls whose instructions count_calls.py counts. A message is there
// before its receive begins, so no poll is counted.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "brigade/brigade.h"

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_exit(int keep_mpi);
void dgesd2d_(const int* context, const int* m, const int* n, const double* a, const int* lda,
              const int* row, const int* col);
void dgerv2d_(const int* context, const int* m, const int* n, double* a, const int* lda,
              const int* row, const int* col);
void dgebs2d_(const int* context, const char* scope, const char* topology, const int* m,
              const int* n, const double* a, const int* lda);
void dgebr2d_(const int* context, const char* scope, const char* topology, const int* m,
              const int* n, double* a, const int* lda, const int* row, const int* col);

// Callgrind counts while this runs. The statement behind the call keeps it from becoming a jump.
[[gnu::noinline]] void counted_call(const std::function<void()>& call) {
  call();
  asm volatile("" ::: "memory");
}
}

namespace {

using Call = std::function<void()>;

// Makes both calls so often that plans are made and memory is warm, then counts `count` of each.
// Ranks meet between the two.
void Make(int count, const Call& first, const Call& second) {
  constexpr int kWarm = 100;
  for (int i = 0; i < kWarm + count; ++i) {
    for (const Call* call : {&first, &second}) {
      if (*call) i < kWarm ? (*call)() : counted_call(*call);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

void CountBlacs(bool broadcasts, int rank, int count) {
  int context = 0;
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "Row", 1, 2);
  const int zero = 0;
  const int one = 1;
  const int rows = broadcasts ? 1 << 17 : 1;
  std::vector<double> data(static_cast<size_t>(rows));
  if (broadcasts) {
    const auto send = [&] { dgebs2d_(&context, "All", " ", &rows, &one, data.data(), &rows); };
    const auto receive = [&] {
      dgebr2d_(&context, "All", " ", &rows, &one, data.data(), &rows, &zero, &zero);
    };
    // Not after one another: a receiver may have to come for its root to end.
    Make(count, rank == 0 ? Call(send) : Call(receive), nullptr);
  } else {
    const auto send = [&] { dgesd2d_(&context, &rows, &one, data.data(), &rows, &zero, &one); };
    const auto receive = [&] { dgerv2d_(&context, &rows, &one, data.data(), &rows, &zero, &zero); };
    Make(count, rank == 0 ? Call(send) : Call(), rank == 1 ? Call(receive) : Call());
  }
  Cblacs_exit(1);
}

void CountPuts(int rank, int count) {
  double* memory = nullptr;
  MPI_Win window;
  MPI_Win_allocate(sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_fence(0, window);
  const double value = 1;
  const auto put = [&] { MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); };
  Make(count, rank == 0 ? Call(put) : Call(), nullptr);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

void Check(brigade_status status) {
  if (status == BRIGADE_OK) return;
  std::fprintf(stderr, "%s\n", brigade_error_text());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void CountFromC(bool planned, int rank, int count) {
  brigade_engine* engine = nullptr;
  brigade_group* group = nullptr;
  brigade_plan* plan = nullptr;
  double number = 1;
  const brigade_matrix matrix = {&number, 1, 1, 0};
  Check(brigade_engine_create(nullptr, &engine));
  Check(brigade_group_from_mpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, 2, &group));
  Check(brigade_plan_bcast(group, &matrix, BRIGADE_DOUBLE, 0, nullptr, &plan));
  const auto bcast = [&] { Check(brigade_bcast(group, &matrix, BRIGADE_DOUBLE, 0, nullptr)); };
  const auto run = [&] { Check(brigade_plan_run(plan, nullptr)); };
  const Call call = planned ? Call(run) : Call(bcast);
  Make(count, rank == 0 ? call : Call(), rank == 1 ? call : Call());
  brigade_plan_destroy(plan);
  brigade_group_destroy(group);
  brigade_engine_destroy(engine);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "counted_calls message|broadcast|put|bcast|plan COUNT, on two ranks\n");
    return 2;
  }
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string what = argv[1];
  const int count = std::atoi(argv[2]);
  if (what == "put") {
    CountPuts(rank, count);
  } else if (what == "bcast" || what == "plan") {
    CountFromC(what == "plan", rank, count);
  } else {
    CountBlacs(what == "broadcast", rank, count);
  }
  MPI_Finalize();
}
