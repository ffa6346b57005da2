// Grids that end when no rank uses them any more, as a language with finalizers ends them: in
// another order on each rank, or while others wait for a message. Products are made on all of them.
// On four ranks; then many grids, which must take no memory that stays.

#include <dirent.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

#include "test/support/stress.h"

extern "C" {
void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridmap_(int* context, const int* map, const int* ld, const int* rows, const int* cols);
void blacs_gridinfo_(const int* context, int* rows, int* cols, int* row, int* col);
void blacs_gridexit_(const int* context);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
}

namespace {

constexpr int kRanks = 4;

int rank = 0;
int failures = 0;

// A grid of these ranks of the world; below 0 on all others.
int MakeGrid(const std::vector<int>& members, int rows) {
  const int minus_one = -1, zero = 0;
  const int cols = static_cast<int>(members.size()) / rows;
  int context = 0;
  blacs_get_(&minus_one, &zero, &context);
  blacs_gridmap_(&context, members.data(), &rows, &rows, &cols);
  return context;
}

// Of 8 x 8 matrices in blocks of 2: A is all ones, B the number of its column.
void Multiply(int context) {
  int rows = 0, cols = 0, row = 0, col = 0;
  blacs_gridinfo_(&context, &rows, &cols, &row, &col);
  const int n = 8, one = 1;
  std::vector<int> my_rows, my_cols;
  for (int i = 0; i < n; ++i) {
    if (i / 2 % rows == row) my_rows.push_back(i);
    if (i / 2 % cols == col) my_cols.push_back(i);
  }
  const int ld = std::max(1, static_cast<int>(my_rows.size()));
  const int descriptor[] = {1, context, n, n, 2, 2, 0, 0, ld};
  std::vector<double> a(64, 1), b(64, -1), c(64, -1);
  for (size_t j = 0; j < my_cols.size(); ++j) {
    std::fill_n(&b[j * static_cast<size_t>(ld)], my_rows.size(), my_cols[j]);
  }
  const double alpha = 1, beta = 0;
  pdgemm_("N", "N", &n, &n, &n, &alpha, a.data(), &one, &one, descriptor, b.data(), &one, &one,
          descriptor, &beta, c.data(), &one, &one, descriptor);
  for (size_t j = 0; j < my_cols.size(); ++j) {
    for (size_t i = 0; i < my_rows.size(); ++i) {
      if (c[i + j * static_cast<size_t>(ld)] == n * my_cols[j]) continue;
      ++failures;
      std::fprintf(stderr, "rank %d: a product is wrong\n", rank);
      return;
    }
  }
}

void EndInAnyOrder() {
  const std::vector<int> all = {0, 1, 2, 3};
  for (int turn = 0; turn < 3; ++turn) {
    const int contexts[] = {MakeGrid(all, 2), MakeGrid({0, 2, 1, 3}, 2), MakeGrid(all, 1)};
    for (const int context : contexts) Multiply(context);
    for (int i = 0; i < 3; ++i) blacs_gridexit_(&contexts[(rank + turn + i) % 3]);
  }
  // One rank after the other.
  int context = MakeGrid(all, 2);
  Multiply(context);
  if (rank > 0) {
    MPI_Recv(nullptr, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  blacs_gridexit_(&context);
  if (rank < kRanks - 1) MPI_Send(nullptr, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  // One rank is in the PBLAS' part of a product of another grid until all others have ended theirs.
  context = MakeGrid(all, 4);
  const int other = MakeGrid(all, 1);
  Multiply(context);
  Multiply(other);
  blacs_gridexit_(rank % 2 == 0 ? &context : &other);
  MPI_Barrier(MPI_COMM_WORLD);
  blacs_gridexit_(rank % 2 == 0 ? &other : &context);
}

struct Use {
  long kilobytes = 0;
  int files = 0;  // that are open
  int maps = 0;
};

Use UseNow() {
  Use use;
  long pages = 0;
  FILE* const statm = std::fopen("/proc/self/statm", "r");
  if (statm == nullptr || std::fscanf(statm, "%*d %ld", &pages) != 1) std::perror("statm");
  if (statm != nullptr) std::fclose(statm);
  use.kilobytes = pages * (sysconf(_SC_PAGESIZE) / 1024);
  DIR* const folder = opendir("/proc/self/fd");
  while (folder != nullptr && readdir(folder) != nullptr) ++use.files;
  closedir(folder);
  FILE* const maps = std::fopen("/proc/self/maps", "r");
  for (int c = 0; maps != nullptr && (c = std::fgetc(maps)) != EOF;) use.maps += c == '\n' ? 1 : 0;
  if (maps != nullptr) std::fclose(maps);
  return use;
}

// So many grids of all ranks, or of any, in turn; up to four of them live at a time, and each rank
// ends any of its own.
void MakeMany(int grids) {
  std::mt19937 same(brigade::StressSeed());
  std::mt19937 own(brigade::StressSeed() + 1 + static_cast<unsigned>(rank));
  const auto draw = [](std::mt19937* random, int below) {
    return static_cast<int>((*random)() % static_cast<unsigned>(below));
  };
  std::deque<int> live;
  Use begin;
  for (int i = 0; i < grids; ++i) {
    std::vector<int> members = {0, 1, 2, 3};
    std::shuffle(members.begin(), members.end(), same);
    if (i % 2 == 0) members.resize(static_cast<size_t>(2 + draw(&same, 3)));
    const int rows = members.size() % 2 == 0 ? 1 + draw(&same, 2) : 1;
    const int context = MakeGrid(members, rows);
    if (context >= 0) {
      Multiply(context);
      live.push_back(context);
    }
    if (live.size() == 4) {
      const auto ended = live.begin() + draw(&own, 4);
      blacs_gridexit_(&*ended);
      live.erase(ended);
    }
    if (i == grids / 4) begin = UseNow();
  }
  const Use end = UseNow();
  for (const int context : live) blacs_gridexit_(&context);
  const int counted = grids - grids / 4;
  const long bytes = (end.kilobytes - begin.kilobytes) * 1024 / counted;
  std::printf("rank %d: of %d grids each left %ld bytes; %d files, %d maps more\n", rank, counted,
              bytes, end.files - begin.files, end.maps - begin.maps);
  if (end.kilobytes > begin.kilobytes + 2048 || end.files > begin.files + 16 ||
      end.maps > begin.maps + 32)
    ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EndInAnyOrder();
  MakeMany(argc > 1 ? atoi(argv[1]) : brigade::StressRounds(400, 10000));
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0) std::puts(all == 0 ? "passed" : "FAILED");
  return all == 0 ? 0 : 1;
}
