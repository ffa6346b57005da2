// BlacsScript: an endless random sequence of legal BLACS calls, the same on every rank.
//
// A script is a pure function of its seed and the number of ranks. It knows the grids that exist
// and the messages under way, so every sequence it yields ends if executed in order by all ranks: a
// receive is only ever drawn for a message that an earlier step sent.

#ifndef BRIGADE_TEST_BLACS_BLACS_SCRIPT_H_
#define BRIGADE_TEST_BLACS_BLACS_SCRIPT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "test/blacs/blacs_oracle.h"

namespace brigade {

class Random {
 public:
  explicit Random(uint64_t seed) : generator_(seed) {}

  // Uniform in [low, high].
  int Uniform(int low, int high) {
    return low + static_cast<int>(generator_() % (static_cast<uint64_t>(high - low) + 1));
  }
  bool OneIn(int n) { return Uniform(1, n) == 1; }
  template <typename Container>
  const auto& Pick(const Container& choices) {
    return choices[static_cast<size_t>(Uniform(0, static_cast<int>(std::size(choices)) - 1))];
  }
  char Letter(const std::string& letters) { return Pick(letters); }
  uint64_t Key() { return generator_(); }
  std::mt19937_64& generator() { return generator_; }

 private:
  std::mt19937_64 generator_;
};

enum class Scope { kRow, kColumn, kAll };

struct Grid {
  int id;  // distinguishes all grids that ever existed
  int nprow;
  int npcol;
  std::vector<int> world_ranks;  // by process number, which is row-major

  int size() const { return nprow * npcol; }
  // The process number of a world rank, or -1.
  int ProcessOf(int world_rank) const;
};
using GridRef = std::shared_ptr<const Grid>;

// Where a new grid's system handle comes from.
enum class Parent { kWorld, kGrid, kSplitCommunicator };

struct CreateGrid {
  GridRef grid;
  Parent parent;
  GridRef parent_grid;            // for kGrid
  std::vector<int> parent_ranks;  // world ranks of the parent communicator, in its order
  // Positions in the parent by column-major grid coordinate, for gridmap; empty for gridinit.
  std::vector<int> user_map;
  int ld_user_map;
  std::string order;  // for gridinit
};
struct ExitGrid {
  GridRef grid;
};
struct ExitBlacs {};
struct SetParameter {
  GridRef grid;
  int what;
  int value;
};
struct Query {
  GridRef grid;
};
struct GridBarrier {
  GridRef grid;
  Scope scope;
};
struct FreeBuffers {
  GridRef grid;
  int wait;
};
// MPI_Barrier of all ranks on a communicator BLACS knows nothing of.
struct PlainBarrier {};

struct Transfer {
  GridRef grid;
  int sent_in_step;
  uint64_t key;
  int source;  // process numbers
  int destination;
  char type;
  Region sent;
  Region received;  // holds at least as many elements
};
struct Send {
  std::vector<Transfer> transfers;
};
struct Receive {
  std::vector<Transfer> transfers;
};

// A scope and which of them: every row at once or one row, say.
struct ScopeChoice {
  GridRef grid;
  Scope scope;
  int line;  // row or column number, or -1 for all of them
};
struct Broadcast {
  ScopeChoice where;
  char topology;
  int root;  // rank in the scope
  uint64_t key;
  char type;
  Region sent;
  Region received;  // holds as many elements
};
struct Combine {
  ScopeChoice where;
  char topology;
  int root;  // rank in the scope, or -1 for all
  uint64_t key;
  CombineOp op;
  char type;
  int m;
  int n;
  bool coordinates;  // ldia != -1
};

using Step = std::variant<CreateGrid, ExitGrid, ExitBlacs, SetParameter, Query, GridBarrier,
                          FreeBuffers, PlainBarrier, Send, Receive, Broadcast, Combine>;

class BlacsScript {
 public:
  BlacsScript(uint64_t seed, int ranks) : random_(seed), ranks_(ranks) {}

  Step Next();
  // The steps that receive everything under way and exit every grid; empty once that is done.
  std::vector<Step> Finish();

 private:
  Step DrawCreateGrid();
  Step DrawExitGrid(size_t index);
  Step DrawSend();
  Step DrawReceive(size_t count);
  Step DrawBroadcast();
  Step DrawCombine();

  // Prefers large grids.
  GridRef DrawGrid();
  ScopeChoice DrawScope();
  Region DrawRegion();
  Region DrawRegionHolding(size_t count, bool exactly);

  Random random_;
  const int ranks_;
  int step_ = -1;
  int grids_created_ = 0;
  std::vector<GridRef> grids_;
  std::deque<Transfer> under_way_;
};

// Members of the scope through process `process`, as process numbers in scope order.
std::vector<int> ScopeMembers(const Grid& grid, Scope scope, int process);

std::string ToString(const Step& step);

}  // namespace brigade

#endif  // BRIGADE_TEST_BLACS_BLACS_SCRIPT_H_
