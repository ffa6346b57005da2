// The BLACS as its callers see it, on four ranks: properties that the BLACS tester does not check,
// and those that it cannot, because the reference does not guarantee them.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "brigade/blacs_mpi.h"
#include "gtest/gtest.h"
#include "test/support/stress.h"

extern "C" {
void blacs_get_(const int* ctxt, const int* what, int* val);
void blacs_gridinit_(int* ctxt, const char* order, const int* nprow, const int* npcol);
void dgesd2d_(const int* ctxt, const int* m, const int* n, const double* A, const int* lda,
              const int* rdest, const int* cdest);
int sys2blacs_handle_(const int* comm);
int blacs2sys_handle_(const int* handle);
void free_blacs_system_handle_(const int* handle);
}

namespace {

constexpr char kLetters[] = " 123456789TIDSMFHtidsmfh";

int WorldRank() {
  int rank, size;
  Cblacs_pinfo(&rank, &size);
  return rank;
}

int WorldHandle() {
  int handle;
  Cblacs_get(-1, 0, &handle);
  return handle;
}

// A grid over the first ranks of the communicator behind a C handle.
class Grid {
 public:
  Grid(int rows, int cols, int handle = WorldHandle(), const char* order = "Row-major")
      : context_(handle) {
    Cblacs_gridinit(&context_, order, rows, cols);
    Cblacs_gridinfo(context_, &rows_, &cols_, &row_, &col_);
  }
  ~Grid() {
    if (member()) Cblacs_gridexit(context_);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  bool member() const { return context_ >= 0; }
  int context() const { return context_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  int row() const { return row_; }
  int col() const { return col_; }
  int rank() const { return row_ * cols_ + col_; }

 private:
  int context_;
  int rows_, cols_, row_, col_;
};

// The ranks of a scope of `grid`, as {row,col}, in scope order.
std::vector<std::array<int, 2>> ScopeMembers(const Grid& grid, char scope) {
  std::vector<std::array<int, 2>> members;
  for (int r = 0; r < grid.rows(); ++r) {
    for (int c = 0; c < grid.cols(); ++c) {
      if (scope == 'R' && r != grid.row()) continue;
      if (scope == 'C' && c != grid.col()) continue;
      members.push_back({r, c});
    }
  }
  return members;
}

// A matrix with a value in every padding element, so that a stray write shows.
template <typename T>
struct Padded {
  static constexpr int kMargin = 9;
  Padded(int rows, int cols, int ld_in)
      : m(rows), n(cols), ld(ld_in), all(2 * kMargin + size_t(ld_in) * std::max(cols, 1), T(-77)) {}
  T* data() { return all.data() + kMargin; }
  T& at(int i, int j) { return all[kMargin + size_t(j) * ld + i]; }
  int m, n, ld;
  std::vector<T> all;
};

// --- Start, grids, handles -------------------------------------------------------------------

TEST(BlacsGrid, ProcessInfoIsOfTheWorld) {
  int rank, size, world_rank, world_size;
  Cblacs_pinfo(&rank, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  EXPECT_EQ(rank, world_rank);
  EXPECT_EQ(size, world_size);
  ASSERT_EQ(size, 4) << "these tests want four ranks";
  Cblacs_setup(&rank, &size);
  EXPECT_EQ(rank, world_rank);
  EXPECT_EQ(size, world_size);
}

TEST(BlacsGrid, OrderPlacesRanksAndNumbersRowByRow) {
  for (const char* order : {"Row", "r", "Column-major", "c"}) {
    const Grid grid(2, 2, WorldHandle(), order);
    const bool by_columns = *order == 'C' || *order == 'c';
    EXPECT_EQ(grid.row(), by_columns ? WorldRank() % 2 : WorldRank() / 2);
    EXPECT_EQ(grid.col(), by_columns ? WorldRank() / 2 : WorldRank() % 2);
    EXPECT_EQ(Cblacs_pnum(grid.context(), 1, 0), 2);
    EXPECT_EQ(Cblacs_pnum(grid.context(), 2, 0), -1);
    EXPECT_EQ(Cblacs_pnum(grid.context(), 0, -1), -1);
    int row, col;
    Cblacs_pcoord(grid.context(), 1, &row, &col);
    EXPECT_EQ(row, 0);
    EXPECT_EQ(col, 1);
    for (int outside : {-1, 4}) {
      Cblacs_pcoord(grid.context(), outside, &row, &col);
      EXPECT_EQ(row, -1);
      EXPECT_EQ(col, -1);
    }
  }
}

TEST(BlacsGrid, GridInfoOfAnyNumberIsSafe) {
  int context;
  {
    const Grid grid(2, 2);
    context = grid.context();
  }
  for (int bad : {-1, context, 1000000, std::numeric_limits<int>::min()}) {
    int rows = 0, cols = 0, row = 0, col = 0;
    Cblacs_gridinfo(bad, &rows, &cols, &row, &col);
    EXPECT_EQ(rows, -1);
    EXPECT_EQ(cols, -1);
    EXPECT_EQ(row, -1);
    EXPECT_EQ(col, -1);
  }
}

TEST(BlacsGrid, ContextsAreTheLowestFreeNumbers) {
  int contexts[3];
  for (int& context : contexts) {
    context = WorldHandle();
    Cblacs_gridinit(&context, "R", 2, 2);
  }
  EXPECT_EQ(contexts[1], contexts[0] + 1);
  EXPECT_EQ(contexts[2], contexts[0] + 2);
  Cblacs_gridexit(contexts[1]);
  int again = WorldHandle();
  Cblacs_gridinit(&again, "R", 4, 1);
  EXPECT_EQ(again, contexts[1]);
  for (int context : contexts) Cblacs_gridexit(context);
}

TEST(BlacsGrid, NonMembersReturnAtOnceOrNeedNotCall) {
  if (WorldRank() == 3) {
    const Grid grid(1, 3);  // before any member has called
    EXPECT_FALSE(grid.member());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (WorldRank() != 3) {
    const Grid grid(1, 3);  // without the non-member
    ASSERT_TRUE(grid.member());
    double value = 1;
    Cdgsum2d(grid.context(), "All", " ", 1, 1, &value, 1, -1, -1);
    EXPECT_EQ(value, 3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(BlacsGrid, MapPlacesAnyRankAnywhere) {
  const int map[] = {3, -9, 1, -9, 0, -9, 2, -9};  // 1 x 4 with ldumap 2
  int context = WorldHandle();
  Cblacs_gridmap(&context, map, 2, 1, 4);
  int rows, cols, row, col;
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(cols, 4);
  EXPECT_EQ(map[2 * col], WorldRank());
  Cblacs_gridexit(context);
}

TEST(BlacsGrid, ContextsHandleMakesSubgridsOfItsMembersOnly) {
  const Grid grid(2, 2, WorldHandle(), "Column");
  int handle;
  Cblacs_get(grid.context(), 10, &handle);
  int again;
  Cblacs_get(grid.context(), 10, &again);
  EXPECT_EQ(handle, again);
  int size, rank;
  const MPI_Comm communicator = Cblacs2sys_handle(handle);
  MPI_Comm_size(communicator, &size);
  MPI_Comm_rank(communicator, &rank);
  EXPECT_EQ(size, 4);
  EXPECT_EQ(rank, grid.rank());
  MPI_Errhandler handler;  // inherited from MPI_COMM_WORLD
  MPI_Comm_get_errhandler(communicator, &handler);
  EXPECT_EQ(handler, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  if (grid.row() == 1) {
    const int row_one[] = {2, 3};
    int context = handle;
    Cblacs_gridmap(&context, row_one, 1, 1, 2);
    int value = grid.col();
    Cigsum2d(context, "Row", " ", 1, 1, &value, 1, -1, -1);
    EXPECT_EQ(value, 1);
    Cblacs_gridexit(context);
  }
}

TEST(BlacsGrid, CommunicatorMayGoOnceTheGridIsThere) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, WorldRank() % 2, 0, &half);
  const int handle = Csys2blacs_handle(half);
  EXPECT_NE(handle, 0);
  EXPECT_EQ(Csys2blacs_handle(half), handle);
  EXPECT_EQ(Cblacs2sys_handle(handle), half);
  const Grid grid(2, 1, handle);
  Cfree_blacs_system_handle(handle);
  MPI_Comm_free(&half);
  int value = WorldRank();
  Cigsum2d(grid.context(), "Col", "1", 1, 1, &value, 1, -1, 0);
  EXPECT_EQ(value, WorldRank() % 2 == 0 ? 0 + 2 : 1 + 3);
}

TEST(BlacsGrid, ContextsHandleMayBeFreedAfterIt) {
  int handle;
  {
    const Grid grid(2, 2);
    Cblacs_get(grid.context(), 10, &handle);
  }
  const int other = Csys2blacs_handle(MPI_COMM_SELF);
  ::testing::internal::CaptureStderr();
  Cfree_blacs_system_handle(handle);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(Cblacs2sys_handle(other), MPI_COMM_SELF);
  Cfree_blacs_system_handle(other);
}

TEST(BlacsGrid, FortranHandlesAreMpisOwn) {
  const int any = -1, what_world = 0, what_context = 10, two = 2;
  int context;
  blacs_get_(&any, &what_world, &context);
  EXPECT_EQ(context, MPI_Comm_c2f(MPI_COMM_WORLD));

  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, WorldRank() / 2, 0, &pair);
  context = MPI_Comm_c2f(pair);  // as programs do, with no call in between
  EXPECT_EQ(sys2blacs_handle_(&context), context);
  EXPECT_EQ(blacs2sys_handle_(&context), context);
  free_blacs_system_handle_(&context);
  const int one = 1;
  blacs_gridinit_(&context, "R", &one, &two);
  ASSERT_GE(context, 0);
  int handle;
  blacs_get_(&context, &what_context, &handle);
  int size;
  MPI_Comm_size(MPI_Comm_f2c(handle), &size);
  EXPECT_EQ(size, 2);

  // Contexts are shared between the languages.
  const int zero = 0, peer = 1 - WorldRank() % 2;
  const double sent = WorldRank();
  double received;
  dgesd2d_(&context, &one, &one, &sent, &one, &zero, &peer);
  Cdgerv2d(context, 1, 1, &received, 1, 0, peer);
  EXPECT_EQ(received, WorldRank() / 2 * 2 + peer);
  Cblacs_gridexit(context);
  MPI_Comm_free(&pair);
}

// --- Parameters ------------------------------------------------------------------------------

TEST(BlacsParameters, SetAndGet) {
  const Grid grid(2, 2);
  for (int what = 11; what <= 16; ++what) {
    int value = -1;
    Cblacs_get(grid.context(), what, &value);
    EXPECT_EQ(value, what <= 14 ? 1 : 0);
    const int wanted = what == 11 || what == 13 ? -3 : 2;
    Cblacs_set(grid.context(), what, &wanted);
    Cblacs_get(grid.context(), what, &value);
    EXPECT_EQ(value, wanted);
  }
  int ids[2] = {-1, -1};
  Cblacs_get(-1, 1, ids);
  EXPECT_EQ(ids[0], 0);
  EXPECT_GE(ids[1], 32767);  // what MPI promises
  int level = -1;
  Cblacs_get(-1, 2, &level);
  EXPECT_EQ(level, 0);
}

TEST(BlacsParameters, RefusedSettingsWarnAndChangeNothing) {
  const Grid grid(2, 2);
  const int zero = 0, minus = -1;
  testing::internal::CaptureStderr();
  for (int what : {0, 1, 2, 10, 17, -1}) Cblacs_set(grid.context(), what, &zero);
  for (int what : {11, 12, 13, 14}) Cblacs_set(grid.context(), what, &zero);
  Cblacs_set(grid.context(), 12, &minus);
  int unchanged = 123;
  Cblacs_get(grid.context(), 99, &unchanged);
  const std::string warnings = testing::internal::GetCapturedStderr();
  size_t count = 0;
  for (size_t at = 0; (at = warnings.find("BLACS WARNING '", at)) != std::string::npos; ++at) {
    ++count;
  }
  EXPECT_EQ(count, 12u) << warnings;
  EXPECT_EQ(unchanged, 123);
  for (int what : {11, 12, 13, 14}) {
    int value = 0;
    Cblacs_get(grid.context(), what, &value);
    EXPECT_EQ(value, 1);
  }
}

TEST(BlacsParameters, MessageIds) {
  const Grid grid(2, 2);
  EXPECT_EQ(Cksendid(grid.context(), 0, 0), 9977);
  EXPECT_EQ(Ckrecvid(grid.context(), 0, 0), 9977);
  const int first = Ckbsid(grid.context(), "Row");
  EXPECT_EQ(Ckbrid(grid.context(), "row", 0, 0), first + 1);
  EXPECT_EQ(Ckbsid(grid.context(), "All"), first);
}

// --- Point to point --------------------------------------------------------------------------

template <typename T>
using SendRoutine = void (*)(int, int, int, const T*, int, int, int);
template <typename T>
using ReceiveRoutine = void (*)(int, int, int, T*, int, int, int);

// Every rank sends to the next around the grid and receives from the one before; `width` scalars
// make an element.
template <typename T>
void ExchangeAround(const Grid& grid, SendRoutine<T> send, ReceiveRoutine<T> receive, int width) {
  const int next = (grid.rank() + 1) % 4;
  const int before = (grid.rank() + 3) % 4;
  const struct {
    int m, n, ld_send, ld_receive;
  } kShapes[] = {{1, 1, 1, 1},  {1, 40, 5, 1},        {25, 19, 25, 31}, {13, 32, 20, 13},
                 {0, 32, 0, 3}, {300, 200, 301, 300}, {7, 3, 2, 7}};
  for (const auto& shape : kShapes) {
    // A leading dimension below m counts as m.
    Padded<T> out(shape.m * width, shape.n, std::max(shape.ld_send, shape.m) * width);
    Padded<T> in(shape.m * width, shape.n, std::max(shape.ld_receive, shape.m) * width);
    for (int j = 0; j < out.n; ++j) {
      for (int i = 0; i < out.m; ++i) out.at(i, j) = T(grid.rank() * 1000000 + j * 1000 + i);
    }
    Padded<T> expected = in;
    for (int j = 0; j < in.n; ++j) {
      for (int i = 0; i < in.m; ++i) expected.at(i, j) = T(before * 1000000 + j * 1000 + i);
    }
    send(grid.context(), shape.m, shape.n, out.data(), shape.ld_send, next / 2, next % 2);
    receive(grid.context(), shape.m, shape.n, in.data(), shape.ld_receive, before / 2, before % 2);
    EXPECT_EQ(in.all, expected.all) << shape.m << " x " << shape.n;
  }
}

TEST(BlacsPointToPoint, EveryTypeAndShape) {
  const Grid grid(2, 2);
  ExchangeAround<int>(grid, Cigesd2d, Cigerv2d, 1);
  ExchangeAround<float>(grid, Csgesd2d, Csgerv2d, 1);
  ExchangeAround<double>(grid, Cdgesd2d, Cdgerv2d, 1);
  ExchangeAround<float>(grid, Ccgesd2d, Ccgerv2d, 2);
  ExchangeAround<double>(grid, Czgesd2d, Czgerv2d, 2);
}

// The definition of the transferred region, 1-based as in the BLACS guide.
bool InTrapezoid(bool upper, bool unit, int m, int n, int i, int j) {
  const int d = unit ? 1 : 0;
  if (upper) return m <= n ? i <= j - d : i <= j + (m - n) - d;
  return m > n ? i >= j + d : j <= i + (n - m) - d;
}

TEST(BlacsPointToPoint, Trapezoids) {
  const Grid grid(2, 2);
  const int peer = grid.rank() ^ 1;
  const int sizes[][2] = {{5, 5}, {4, 9}, {9, 4}, {1, 7}, {7, 1}, {1, 1}, {0, 6}, {60, 50}};
  for (const auto& size : sizes) {
    for (const char* uplo : {"Upper", "lower"}) {
      for (const char* diag : {"Unit", "non-unit"}) {
        const int m = size[0], n = size[1];
        Padded<double> out(m, n, m + 1), in(m, n, m + 2);
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < m; ++i) out.at(i, j) = grid.rank() * 10000 + j * 100 + i;
        }
        Padded<double> expected = in;
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < m; ++i) {
            if (InTrapezoid(*uplo == 'U', *diag == 'U', m, n, i + 1, j + 1)) {
              expected.at(i, j) = peer * 10000 + j * 100 + i;
            }
          }
        }
        Cdtrsd2d(grid.context(), uplo, diag, m, n, out.data(), m + 1, peer / 2, peer % 2);
        Cdtrrv2d(grid.context(), uplo, diag, m, n, in.data(), m + 2, peer / 2, peer % 2);
        EXPECT_EQ(in.all, expected.all) << uplo << " " << diag << " " << m << " x " << n;
      }
    }
  }
}

TEST(BlacsPointToPoint, OrderHoldsAcrossTypesAndOnlyTheCountMatches) {
  const Grid grid(2, 2);
  const int peer = grid.rank() ^ 2;
  const int r = peer / 2, c = peer % 2;
  const std::vector<double> row = {1, 2, 3, 4, 5, 6};
  const std::vector<int> ints = {10, 11, 12};
  const std::vector<float> one = {7.5f};
  Cdgesd2d(grid.context(), 1, 6, row.data(), 1, r, c);
  Cigesd2d(grid.context(), 3, 1, ints.data(), 3, r, c);
  Csgesd2d(grid.context(), 1, 1, one.data(), 1, r, c);
  Cdgesd2d(grid.context(), 3, 2, row.data(), 3, r, c);

  std::vector<double> column(6), larger(9, -1), triangle(9, -1);
  std::vector<int> got_ints(3);
  float got_one = 0;
  Cdgerv2d(grid.context(), 6, 1, column.data(), 6, r, c);
  EXPECT_EQ(column, row);
  Cigerv2d(grid.context(), 1, 3, got_ints.data(), 1, r, c);
  EXPECT_EQ(got_ints, ints);
  Csgerv2d(grid.context(), 1, 1, &got_one, 1, r, c);
  EXPECT_EQ(got_one, 7.5f);
  // A general matrix into the upper triangle of as many elements.
  Cdtrrv2d(grid.context(), "U", "N", 3, 3, triangle.data(), 3, r, c);
  EXPECT_EQ(triangle, (std::vector<double>{1, -1, -1, 2, 3, -1, 4, 5, 6}));

  Cdgesd2d(grid.context(), 2, 3, row.data(), 2, r, c);
  Cdgerv2d(grid.context(), 3, 3, larger.data(), 3, r, c);
  EXPECT_EQ(larger, (std::vector<double>{1, 2, 3, 4, 5, 6, -1, -1, -1}));
}

TEST(BlacsPointToPoint, SendToOneself) {
  const Grid grid(2, 2);
  for (int n : {1, 100, 100000}) {
    std::vector<double> out(n), in(n);
    std::iota(out.begin(), out.end(), grid.rank());
    Cdgesd2d(grid.context(), n, 1, out.data(), n, grid.row(), grid.col());
    std::fill(out.begin(), out.end(), 0.0);
    Cdgerv2d(grid.context(), n, 1, in.data(), n, grid.row(), grid.col());
    for (int i = 0; i < n; ++i) ASSERT_EQ(in[i], grid.rank() + i);
  }
}

// Everyone sends `count` messages of `elems` ints to everyone before anyone receives.
void SendAllThenReceiveAll(int count, int elems) {
  const Grid grid(2, 2);
  std::vector<int> data(elems);
  for (int message = 0; message < count; ++message) {
    for (int peer = 0; peer < 4; ++peer) {
      for (int i = 0; i < elems; ++i) data[i] = grid.rank() * 7 + message * 3 + i;
      Cigesd2d(grid.context(), elems, 1, data.data(), elems, peer / 2, peer % 2);
      std::fill(data.begin(), data.end(), -1);  // the send has returned: ours again
    }
  }
  Cblacs_barrier(grid.context(), "All");
  for (int message = 0; message < count; ++message) {
    for (int peer = 0; peer < 4; ++peer) {
      Cigerv2d(grid.context(), elems, 1, data.data(), elems, peer / 2, peer % 2);
      int wrong = 0;
      for (int i = 0; i < elems; ++i) wrong += data[i] != peer * 7 + message * 3 + i;
      ASSERT_EQ(wrong, 0);
    }
  }
}

TEST(BlacsPointToPoint, SendsAreLocallyBlocking) { SendAllThenReceiveAll(3, 50000); }
TEST(BlacsPointToPoint, ManySmallSendsAreLocallyBlocking) { SendAllThenReceiveAll(2000, 2); }
// Messages of rank 3 that rank 2 has not received fill all of MPI's memory for pending messages.
// Rank 0 has to receive some that are behind them, and rank 2 waits for rank 0, in shared memory if
// they are on one host.
TEST(BlacsPointToPoint, AWaitingReceiveAcceptsMessagesOfOtherRanks) {
  const Grid grid(2, 2);
  const int count = 3000;
  int value = 0;
  const auto receive_all = [&] {
    for (int i = 0; i < count; ++i) {
      Cigerv2d(grid.context(), 1, 1, &value, 1, 1, 1);
      ASSERT_EQ(value, i);
    }
  };
  switch (grid.rank()) {
    case 0:
      usleep(100000);  // else it takes in everything as it comes, and nothing is behind anything
      receive_all();
      Cigesd2d(grid.context(), 1, 1, &value, 1, 1, 0);
      break;
    case 2:
      Cigerv2d(grid.context(), 1, 1, &value, 1, 0, 0);
      EXPECT_EQ(value, count - 1);
      receive_all();
      break;
    case 3:
      for (int i = 0; i < count; ++i) {
        Cigesd2d(grid.context(), 1, 1, &i, 1, 1, 0);
        Cigesd2d(grid.context(), 1, 1, &i, 1, 0, 0);
      }
      break;
  }
}

TEST(BlacsPointToPoint, HugeSendsAreLocallyBlocking) {
  const Grid grid(2, 2);
  const int elems = 16 << 20;  // 64 MiB
  const int peer = grid.rank() ^ 1;
  std::vector<int> data(elems, grid.rank());
  Cigesd2d(grid.context(), elems, 1, data.data(), elems, peer / 2, peer % 2);
  Cigerv2d(grid.context(), elems, 1, data.data(), elems, peer / 2, peer % 2);
  EXPECT_EQ(std::count(data.begin(), data.end(), peer), elems);
}

// The receiver takes its data while the sender, having returned from the send, sits in plain MPI
// that only the receiver can end.
TEST(BlacsPointToPoint, ReturnedSendsArriveWhileTheSenderIsInPlainMpi) {
  const Grid grid(2, 2);
  const int elems = 1 << 20;
  std::vector<double> data(elems);
  for (bool barrier : {false, true}) {
    if (grid.rank() == 0) {
      std::iota(data.begin(), data.end(), 1.0);
      Cdgesd2d(grid.context(), elems, 1, data.data(), elems, 1, 1);
      if (!barrier) MPI_Recv(nullptr, 0, MPI_INT, 3, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (grid.rank() == 3) {
      Cdgerv2d(grid.context(), elems, 1, data.data(), elems, 0, 0);
      for (int i = 0; i < elems; i += 1023) ASSERT_EQ(data[i], i + 1.0);
      if (!barrier) MPI_Send(nullptr, 0, MPI_INT, 0, 5, MPI_COMM_WORLD);
    }
    if (barrier) MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(BlacsPointToPoint, UnreceivedDataDelayNoBroadcast) {
  const Grid grid(2, 2);
  const int elems = 4 << 20;
  std::vector<double> data(elems, 3.0);
  double small = 0;
  if (grid.rank() == 0) {
    small = 9;
    Cdgesd2d(grid.context(), elems, 1, data.data(), elems, 0, 1);
    Cdgebs2d(grid.context(), "All", " ", 1, 1, &small, 1);
  } else {
    Cdgebr2d(grid.context(), "All", " ", 1, 1, &small, 1, 0, 0);
    EXPECT_EQ(small, 9);
    if (grid.rank() == 1) {
      std::fill(data.begin(), data.end(), 0.0);
      Cdgerv2d(grid.context(), elems, 1, data.data(), elems, 0, 0);
      EXPECT_EQ(std::count(data.begin(), data.end(), 3.0), elems);
    }
  }
}

TEST(BlacsPointToPoint, ContextsDoNotMix) {
  const Grid first(2, 2), second(2, 2);
  const int peer = first.rank() ^ 1;
  const int a = 1, b = 2;
  int got = 0;
  Cigesd2d(first.context(), 1, 1, &a, 1, peer / 2, peer % 2);
  Cigesd2d(second.context(), 1, 1, &b, 1, peer / 2, peer % 2);
  Cigerv2d(second.context(), 1, 1, &got, 1, peer / 2, peer % 2);
  EXPECT_EQ(got, 2);
  Cigerv2d(first.context(), 1, 1, &got, 1, peer / 2, peer % 2);
  EXPECT_EQ(got, 1);
}

// The receiver gets the message although the sender's context is gone.
TEST(BlacsPointToPoint, SendsOutliveTheirContext) {
  const int elems = 1 << 18;
  int context = WorldHandle();
  Cblacs_gridinit(&context, "R", 1, 4);
  std::vector<double> data(elems, WorldRank());
  if (WorldRank() == 0) {
    Cdgesd2d(context, elems, 1, data.data(), elems, 0, 2);
    Cblacs_gridexit(context);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    if (WorldRank() == 2) {
      Cdgerv2d(context, elems, 1, data.data(), elems, 0, 0);
      EXPECT_EQ(std::count(data.begin(), data.end(), 0.0), elems);
    }
    Cblacs_gridexit(context);
  }
}

// --- Broadcasts ------------------------------------------------------------------------------

TEST(BlacsBroadcast, EveryTopologyScopeRootAndSize) {
  const Grid grid(2, 2);
  const int three = 3;
  Cblacs_set(grid.context(), 11, &three);
  Cblacs_set(grid.context(), 12, &three);
  const int sizes[][2] = {{1, 1}, {0, 32}, {25, 19}, {13, 32}, {400, 300}};
  for (const char* scope : {"Row", "column", "All"}) {
    const auto members = ScopeMembers(grid, static_cast<char>(std::toupper(*scope)));
    for (const char* top = kLetters; *top != '\0'; ++top) {
      for (const auto& root : members) {
        for (const auto& size : sizes) {
          const int m = size[0], n = size[1];
          Padded<double> a(m, n, m + 3), expected(m, n, m + 3);
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) expected.at(i, j) = root[0] * 31 + root[1] + i + j * 1e4;
          }
          if (root[0] == grid.row() && root[1] == grid.col()) {
            a = expected;
            Cdgebs2d(grid.context(), scope, top, m, n, a.data(), m + 3);
          } else {
            // Only the coordinate the scope needs is looked at.
            const int r = *scope == 'R' ? -5 : root[0];
            const int c = *scope == 'c' ? -5 : root[1];
            Cdgebr2d(grid.context(), scope, top, m, n, a.data(), m + 3, r, c);
          }
          ASSERT_EQ(a.all, expected.all) << scope << " '" << *top << "' " << m << " x " << n;
        }
      }
    }
  }
}

TEST(BlacsBroadcast, TrapezoidsLeaveTheRestAlone) {
  const Grid grid(2, 2);
  for (const char* uplo : {"U", "L"}) {
    for (const char* diag : {"U", "N"}) {
      const int m = 25, n = 19;
      Padded<double> a(m, n, m + 1), expected(m, n, m + 1);
      for (int j = 0; j < n; ++j) {
        for (int i = 0; i < m; ++i) {
          if (InTrapezoid(*uplo == 'U', *diag == 'U', m, n, i + 1, j + 1)) {
            expected.at(i, j) = i + j * 100;
          }
        }
      }
      if (grid.rank() == 3) {
        a = expected;
        Cdtrbs2d(grid.context(), "All", "I", uplo, diag, m, n, a.data(), m + 1);
      } else {
        Cdtrbr2d(grid.context(), "All", "I", uplo, diag, m, n, a.data(), m + 1, 1, 1);
      }
      EXPECT_EQ(a.all, expected.all) << uplo << diag;
    }
  }
}

TEST(BlacsBroadcast, ScopeOfOneSendsNothing) {
  const Grid grid(4, 1);
  double value = grid.rank();
  Cdgebs2d(grid.context(), "Row", " ", 1, 1, &value, 1);
  EXPECT_EQ(value, grid.rank());
  Cdgebr2d(grid.context(), "Row", " ", 1, 1, &value, 1, grid.rank(), 0);
  EXPECT_EQ(value, grid.rank());
}

// Returns whether a message of `rank` comes. The limit ends a wait that would hang.
bool HearsFrom(int rank) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  int came = 0;
  while (!came && std::chrono::steady_clock::now() < give_up) {
    MPI_Iprobe(rank, /*tag=*/0, MPI_COMM_WORLD, &came, MPI_STATUS_IGNORE);
    std::this_thread::yield();
  }
  return came != 0;
}

// One line of the grid passes its barrier before the other comes to its own.
TEST(BlacsBarrier, ScopesAreIndependent) {
  const Grid grid(2, 2);
  for (int round = 0; round < 10; ++round) {
    for (const char* scope : {"Row", "c"}) {
      const int line = *scope == 'R' ? grid.row() : grid.col();
      const int peer = grid.rank() ^ (*scope == 'R' ? 2 : 1);  // in the other line
      if (line == round % 2) {
        Cblacs_barrier(grid.context(), scope);
        MPI_Send(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
      } else {
        ASSERT_TRUE(HearsFrom(peer)) << scope << ": it waits for the other line";
        Cblacs_barrier(grid.context(), scope);
        MPI_Recv(nullptr, 0, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    if (grid.rank() == 0) Cblacs_barrier(grid.context(), "?");  // nothing, as in the reference
    Cblacs_barrier(grid.context(), "All");
  }
}

TEST(BlacsBarrier, NoRankReturnsBeforeAllHaveCalled) {
  const Grid grid(2, 2);
  MPI_Win window;
  int* arrived = nullptr;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &arrived, &window);
  *arrived = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window);
  const int one = 1;
  int before = -1;
  for (int round = 1; round <= 10; ++round) {
    MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    Cblacs_barrier(grid.context(), "All");
    MPI_Fetch_and_op(nullptr, &before, MPI_INT, 0, 0, MPI_NO_OP, window);
    MPI_Win_flush(0, window);
    EXPECT_GE(before, 4 * round);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

// --- Combines --------------------------------------------------------------------------------

// {destination row, destination column} pairs that mean "everywhere" or one member of a scope.
std::vector<std::array<int, 2>> Destinations(const Grid& grid, char scope) {
  auto destinations = ScopeMembers(grid, scope);
  destinations.push_back({-1, -1});
  destinations.push_back({-1, grid.col()});
  destinations.push_back({grid.row(), -1});
  return destinations;
}

bool Delivers(const Grid& grid, const std::array<int, 2>& destination) {
  return destination[0] == -1 || destination[1] == -1 ||
         (destination[0] == grid.row() && destination[1] == grid.col());
}

TEST(BlacsCombine, SumsOfEveryTopologyScopeAndDestination) {
  const Grid grid(2, 2);
  const int two = 2, minus_two = -2;
  Cblacs_set(grid.context(), 13, &minus_two);
  Cblacs_set(grid.context(), 14, &two);
  const int sizes[][2] = {{1, 1}, {0, 0}, {25, 19}, {300, 200}};
  for (const char* scope : {"Row", "Column", "all"}) {
    const char upper = static_cast<char>(std::toupper(*scope));
    const auto members = ScopeMembers(grid, upper);
    for (const char* top = kLetters; *top != '\0'; ++top) {
      for (const auto& destination : Destinations(grid, upper)) {
        for (const auto& size : sizes) {
          const int m = size[0], n = size[1];
          Padded<int> a(m, n, m + 2), expected(m, n, m + 2);
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
              a.at(i, j) = (grid.rank() + 1) * (i + j * 1000);
              for (const auto& member : members) {
                expected.at(i, j) += (member[0] * 2 + member[1] + 1) * (i + j * 1000);
              }
              expected.at(i, j) += 77;  // Padded's filling
            }
          }
          Cigsum2d(grid.context(), scope, top, m, n, a.data(), m + 2, destination[0],
                   destination[1]);
          if (Delivers(grid, destination)) {
            ASSERT_EQ(a.all, expected.all) << scope << " '" << *top << "' " << m << " x " << n;
          }
        }
      }
    }
  }
}

TEST(BlacsCombine, EveryTypeSums) {
  const Grid grid(2, 2);
  float s = 0.5f, c[2] = {1, 2};
  double d = 0.25, z[2] = {3, -4};
  Csgsum2d(grid.context(), "A", " ", 1, 1, &s, 1, -1, -1);
  Cdgsum2d(grid.context(), "A", " ", 1, 1, &d, 1, -1, -1);
  Ccgsum2d(grid.context(), "A", " ", 1, 1, c, 1, -1, -1);
  Czgsum2d(grid.context(), "A", " ", 1, 1, z, 1, -1, -1);
  EXPECT_EQ(s, 2);
  EXPECT_EQ(d, 1);
  EXPECT_EQ(c[0], 4);
  EXPECT_EQ(c[1], 8);
  EXPECT_EQ(z[0], 12);
  EXPECT_EQ(z[1], -16);
}

// Equal bits on every rank and in every round, for any arrival order.
TEST(BlacsCombine, SumsAreCoherentAndRepeatable) {
  const Grid grid(2, 2);
  std::mt19937 random(grid.rank());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> mine(501);
  for (double& value : mine) value = std::ldexp(uniform(random), static_cast<int>(random() % 40));
  for (const char* top = kLetters; *top != '\0'; ++top) {
    std::vector<double> first;
    for (int round = 0; round < 3; ++round) {
      std::vector<double> sum = mine;
      if (round == grid.rank()) {
        for (volatile int spin = 0; spin < 1000000; spin = spin + 1) {
        }
      }
      Cdgsum2d(grid.context(), "All", top, 501, 1, sum.data(), 501, -1, -1);
      std::vector<double> at_zero = sum;
      MPI_Bcast(at_zero.data(), 501, MPI_DOUBLE, 0, MPI_COMM_WORLD);
      EXPECT_EQ(std::memcmp(sum.data(), at_zero.data(), sizeof(double) * 501), 0) << *top;
      if (round == 0) first = sum;
      EXPECT_EQ(std::memcmp(sum.data(), first.data(), sizeof(double) * 501), 0) << *top;
    }
  }
}

// Winners and their places, by direct definition: the largest (smallest) magnitude, ties to the
// process nearest to the destination counting upwards.
TEST(BlacsCombine, ExtremesNameTheWinnersPlace) {
  const Grid grid(2, 2);
  const int m = 9, n = 8;
  const auto value_of = [](int rank, int i, int j) {
    const int magnitude = (i * 7 + j * 5 + rank * (i % 3)) % 4;  // plenty of ties
    return static_cast<double>((i + j + rank) % 2 == 0 ? magnitude : -magnitude);
  };
  for (bool maximum : {true, false}) {
    for (const char* scope : {"R", "C", "A"}) {
      const auto members = ScopeMembers(grid, *scope);
      const int size = static_cast<int>(members.size());
      for (const char* top = kLetters; *top != '\0'; ++top) {
        for (const auto& destination : Destinations(grid, *scope)) {
          Padded<double> a(m, n, m + 1), expected(m, n, m + 1);
          Padded<int> ra(m, n, m + 2), ca(m, n, m + 2), expected_ra(m, n, m + 2),
              expected_ca(m, n, m + 2);
          const bool to_all = destination[0] == -1 || destination[1] == -1;
          const int root =
              to_all ? 0
                     : static_cast<int>(std::find(members.begin(), members.end(), destination) -
                                        members.begin());
          for (int j = 0; j < n; ++j) {
            for (int i = 0; i < m; ++i) {
              a.at(i, j) = value_of(grid.rank(), i, j);
              std::array<int, 2> winner{};
              double best = 0;
              for (int distance = 0; distance < size; ++distance) {
                const auto member = members[(root + distance) % size];
                const double value = value_of(member[0] * 2 + member[1], i, j);
                const bool better =
                    maximum ? std::abs(value) > std::abs(best) : std::abs(value) < std::abs(best);
                if (distance == 0 || better) {
                  best = value;
                  winner = member;
                }
              }
              expected.at(i, j) = best;
              expected_ra.at(i, j) = winner[0];
              expected_ca.at(i, j) = winner[1];
            }
          }
          (maximum ? Cdgamx2d : Cdgamn2d)(grid.context(), scope, top, m, n, a.data(), m + 1,
                                          ra.data(), ca.data(), m + 2, destination[0],
                                          destination[1]);
          if (Delivers(grid, destination)) {
            ASSERT_EQ(a.all, expected.all) << maximum << scope << "'" << *top << "'";
            ASSERT_EQ(ra.all, expected_ra.all) << maximum << scope << "'" << *top << "'";
            ASSERT_EQ(ca.all, expected_ca.all) << maximum << scope << "'" << *top << "'";
          } else {
            const Padded<int> untouched(m, n, m + 2);
            ASSERT_EQ(ra.all, untouched.all);
            ASSERT_EQ(ca.all, untouched.all);
          }
        }
      }
    }
  }
}

TEST(BlacsCombine, WithoutPlacesTiesKeepTheLargerSignedValue) {
  const Grid grid(2, 2);
  for (bool maximum : {true, false}) {
    for (const char* top = kLetters; *top != '\0'; ++top) {
      // Rank 2 holds +3, all others -3; complex: |re| + |im| ties, larger real part wins.
      int i = grid.rank() == 2 ? 3 : -3;
      double z[2] = {grid.rank() == 1 ? 2.0 : -1.0, grid.rank() == 1 ? -1.0 : 2.0};
      (maximum ? Cigamx2d : Cigamn2d)(grid.context(), "All", top, 1, 1, &i, 1, nullptr, nullptr, -1,
                                      -1, grid.col());
      (maximum ? Czgamx2d : Czgamn2d)(grid.context(), "All", top, 1, 1, z, 1, nullptr, nullptr, -1,
                                      0, -1);
      EXPECT_EQ(i, 3) << *top;
      EXPECT_EQ(z[0], 2) << *top;
      EXPECT_EQ(z[1], -1) << *top;
    }
  }
}

TEST(BlacsCombine, ScopeOfOneIsItsOwnWinner) {
  const Grid grid(4, 1);
  double value = -2;
  int row = -9, col = -9;
  Cdgamx2d(grid.context(), "Row", " ", 1, 1, &value, 1, &row, &col, 1, -1, -1);
  EXPECT_EQ(value, -2);
  EXPECT_EQ(row, grid.row());
  EXPECT_EQ(col, 0);
  Cdgsum2d(grid.context(), "Row", " ", 1, 1, &value, 1, grid.row(), 0);
  EXPECT_EQ(value, -2);
}

TEST(BlacsCombine, NanWinsAlikeEverywhere) {
  const Grid grid(2, 2);
  for (const char* top = kLetters; *top != '\0'; ++top) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    double max = grid.rank() == 2 ? nan : grid.rank();
    double sum = max;
    int row = -1, col = -1;
    Cdgamx2d(grid.context(), "All", top, 1, 1, &max, 1, &row, &col, 1, -1, -1);
    EXPECT_TRUE(std::isnan(max)) << *top;
    EXPECT_EQ(row, 1) << *top;
    EXPECT_EQ(col, 0) << *top;
    Cdgsum2d(grid.context(), "All", top, 1, 1, &sum, 1, -1, -1);
    uint64_t bits, at_zero;
    std::memcpy(&bits, &sum, 8);
    at_zero = bits;
    MPI_Bcast(&at_zero, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    EXPECT_TRUE(std::isnan(sum)) << *top;
    EXPECT_EQ(bits, at_zero) << *top;
  }
}

// --- Life ------------------------------------------------------------------------------------

// Without pages of files, which the system drops and reads again whenever it likes.
size_t ResidentBytes() {
  std::ifstream status("/proc/self/status");
  std::string field;
  size_t kilobytes = 0, all = 0;
  while (status >> field) {
    if (field == "RssAnon:" || field == "RssShmem:") status >> kilobytes, all += kilobytes;
  }
  EXPECT_GT(all, 0u);
  return all * 1024;
}

// The number the next communicator gets: Open MPI hands out the lowest free one.
int NextCommunicatorNumber() {
  MPI_Comm probe;
  MPI_Comm_dup(MPI_COMM_SELF, &probe);
  const int number = MPI_Comm_c2f(probe);
  MPI_Comm_free(&probe);
  return number;
}

TEST(BlacsLife, ContextsLeakNothing) {
  const auto cycle = [](int count) {
    for (int i = 0; i < count; ++i) {
      const Grid grid(2, 2);
      int handle;
      Cblacs_get(grid.context(), 10, &handle);
      ASSERT_LT(handle, 10);
      if (i % 10 != 0) continue;
      int value = 1;
      Cigsum2d(grid.context(), "All", " ", 1, 1, &value, 1, -1, -1);
      ASSERT_EQ(value, 4);
    }
  };
  cycle(1000);  // whatever is kept for reuse is there now
  const int number = NextCommunicatorNumber();
  const int contexts = brigade::StressRounds(10000, 100000);
  // A leak adds memory each time; a rank that is far ahead of another rank adds memory only once.
  int grow = 1;
  std::string resident = std::to_string(ResidentBytes());
  for (int i = 0; i < 3 && grow > 0; ++i) {
    const size_t before = ResidentBytes();
    cycle(contexts);
    // 16 bytes a context would be more.
    grow = ResidentBytes() < before + static_cast<size_t>(contexts) * 12 ? 0 : 1;
    resident += ", " + std::to_string(ResidentBytes());
    MPI_Allreduce(MPI_IN_PLACE, &grow, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  EXPECT_EQ(grow, 0) << "resident bytes of rank " << WorldRank() << ": " << resident;
  EXPECT_EQ(NextCommunicatorNumber(), number);
}

TEST(BlacsLife, UsableAgainAfterExitWithMpiAlive) {
  int context = WorldHandle();
  Cblacs_gridinit(&context, "R", 2, 2);
  const int peer = WorldRank() ^ 1;
  std::vector<double> data(100000, WorldRank());
  Cdgesd2d(context, 100000, 1, data.data(), 100000, peer / 2, peer % 2);
  Cdgerv2d(context, 100000, 1, data.data(), 100000, peer / 2, peer % 2);
  Cblacs_freebuff(context, 1);
  Cblacs_exit(1);

  int finalized = 1;
  MPI_Finalized(&finalized);
  ASSERT_FALSE(finalized);
  int rows, cols, row, col;
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  EXPECT_EQ(rows, -1);

  const Grid grid(4, 1);
  EXPECT_EQ(grid.context(), 0);
  int value = 1;
  Cigsum2d(grid.context(), "Column", " ", 1, 1, &value, 1, -1, 0);
  EXPECT_EQ(value, 4);
}

}  // namespace
