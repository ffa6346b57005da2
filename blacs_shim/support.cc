#include "blacs_shim/support.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blacs_shim/call.h"
#include "blacs_shim/errors.h"
#include "blacs_shim/process_grid.h"
#include "blacs_shim/runtime.h"

namespace brigade {
namespace blacs {
namespace {

// WHAT of blacs_get and blacs_set.
enum What {
  kSystemContext = 0,
  kMessageIds = 1,
  kDebugLevel = 2,
  kContextHandle = 10,
  kBroadcastRings = 11,
  kBroadcastBranches = 12,
  kCombineRings = 13,
  kCombineBranches = 14,
  kRepeatable = 15,
  kCoherent = 16,
};

// Where a context keeps parameter `what`; null if it is none of a context's.
int* ContextParameter(ProcessGrid* grid, int what) {
  switch (what) {
    case kBroadcastRings:
      return &grid->topologies.broadcast_rings;
    case kBroadcastBranches:
      return &grid->topologies.broadcast_branches;
    case kCombineRings:
      return &grid->topologies.combine_rings;
    case kCombineBranches:
      return &grid->topologies.combine_branches;
    case kRepeatable:
      return &grid->repeatable;
    case kCoherent:
      return &grid->coherent;
    default:
      return nullptr;
  }
}

bool IsContextParameter(int what) { return what >= kBroadcastRings && what <= kCoherent; }

int LargestTag() {
  int* tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag, &found);
  return *tag;  // MPI always has this attribute
}

MPI_Comm ParentOf(const char* routine, Language language, int handle) {
  const MPI_Comm parent = language == Language::kC
                              ? Runtime::Start(routine).handles().Communicator(handle)
                              : MPI_Comm_f2c(handle);
  // Open MPI translates a number that is no communicator's to a null pointer.
  if (parent == nullptr || parent == MPI_COMM_NULL) {
    Fail(OriginOf(routine, -1), "no system context for handle %d", handle);
  }
  return parent;
}

void CheckShape(const char* routine, MPI_Comm parent, int rows, int cols) {
  int procs = 0;
  MPI_Comm_size(parent, &procs);
  if (rows < 1 || cols < 1 || static_cast<int64_t>(rows) * cols > procs) {
    Fail(OriginOf(routine, -1), "illegal grid (%d x %d), #procs = %d", rows, cols, procs);
  }
}

// `members`: ranks in `parent` in row-major order of the new grid.
void MakeGrid(const char* routine, MPI_Comm parent, const std::vector<int>& members, int rows,
              int cols, int* context) {
  int procs = 0;
  MPI_Comm_size(parent, &procs);
  std::vector<bool> taken(procs);
  for (int member : members) {
    if (member < 0 || member >= procs) {
      Fail(OriginOf(routine, -1), "illegal grid: process %d of usermap is not among %d", member,
           procs);
    }
    if (taken[member]) {
      Fail(OriginOf(routine, -1), "illegal grid: process %d is twice in usermap", member);
    }
    taken[member] = true;
  }
  int rank = 0;
  MPI_Comm_rank(parent, &rank);
  *context =
      taken[rank] ? Runtime::Start(routine).OpenGrid(routine, parent, members, rows, cols) : -1;
}

}  // namespace

void ProcessInfo(const char* routine, int* pnum, int* procs) {
  const Entry entry(routine);
  const Runtime& runtime = Runtime::Start(routine);
  *pnum = runtime.world_rank();
  *procs = runtime.world_size();
}

void GetParameter(Language language, int context, int what, int* value) {
  const char* const routine = "blacs_get";
  const Entry entry(routine);
  Runtime& runtime = Runtime::Start(routine);
  switch (what) {
    case kSystemContext:
      *value = language == Language::kC ? runtime.handles().HandleOf(MPI_COMM_WORLD)
                                        : MPI_Comm_c2f(MPI_COMM_WORLD);
      return;
    case kMessageIds:
      value[0] = 0;
      value[1] = LargestTag();
      return;
    case kDebugLevel:
      *value = 0;
      return;
    case kContextHandle: {
      const MPI_Comm communicator = GridOf(routine, context).communicator;
      *value = language == Language::kC ? runtime.handles().HandleOf(communicator, context)
                                        : MPI_Comm_c2f(communicator);
      return;
    }
  }
  if (!IsContextParameter(what)) {
    Warn(OriginOf(routine, context), "unknown WHAT (%d)", what);
    return;
  }
  *value = *ContextParameter(&GridOf(routine, context), what);
}

void SetParameter(int context, int what, int value) {
  const char* const routine = "blacs_set";
  const Entry entry(routine);
  Runtime::Start(routine);
  const Origin origin = OriginOf(routine, context);
  switch (what) {
    case kSystemContext:
    case kContextHandle:
      Warn(origin, "cannot set a system context (WHAT %d)", what);
      return;
    case kMessageIds:
      Warn(origin, "no need to set the range of message ids");
      return;
    case kDebugLevel:
      Warn(origin, "cannot set the debug level");
      return;
    case kBroadcastRings:
    case kCombineRings:
      if (value != 0) break;
      Warn(origin, "number of rings must not be 0 (WHAT %d)", what);
      return;
    case kBroadcastBranches:
    case kCombineBranches:
      if (value > 0) break;
      Warn(origin, "number of branches %d must be positive (WHAT %d)", value, what);
      return;
  }
  if (!IsContextParameter(what)) {
    Warn(origin, "unknown WHAT (%d)", what);
    return;
  }
  *ContextParameter(&GridOf(routine, context), what) = value;
}

void GridInit(Language language, int* context, const char* order, int rows, int cols) {
  const char* const routine = "blacs_gridinit";
  const Entry entry(routine);
  Runtime::Start(routine);
  const MPI_Comm parent = ParentOf(routine, language, *context);
  CheckShape(routine, parent, rows, cols);
  const bool by_columns = *order == 'C' || *order == 'c';
  std::vector<int> members;
  members.reserve(static_cast<size_t>(rows) * cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) members.push_back(by_columns ? j * rows + i : i * cols + j);
  }
  MakeGrid(routine, parent, members, rows, cols, context);
}

void GridMap(Language language, int* context, const int* usermap, int ldumap, int rows, int cols) {
  const char* const routine = "blacs_gridmap";
  const Entry entry(routine);
  Runtime::Start(routine);
  const MPI_Comm parent = ParentOf(routine, language, *context);
  CheckShape(routine, parent, rows, cols);
  if (cols > 1 && ldumap < rows) {
    Fail(OriginOf(routine, -1), "ldumap = %d is less than the %d rows of the grid", ldumap, rows);
  }
  std::vector<int> members;
  members.reserve(static_cast<size_t>(rows) * cols);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) members.push_back(usermap[int64_t{j} * ldumap + i]);
  }
  MakeGrid(routine, parent, members, rows, cols, context);
}

void GridExit(int context) {
  const char* const routine = "blacs_gridexit";
  const Entry entry(routine);
  GridOf(routine, context);
  Runtime::Start(routine).CloseGrid(context);
}

// The next three are the most frequent calls of all and only look: they do not enter.

void GridInfo(int context, int* rows, int* cols, int* row, int* col) {
  const Runtime* const runtime = Runtime::Current();
  const ProcessGrid* const grid = runtime != nullptr ? runtime->grids().Find(context) : nullptr;
  if (grid == nullptr) {
    *rows = *cols = *row = *col = -1;
    return;
  }
  *rows = grid->rows;
  *cols = grid->cols;
  *row = grid->row;
  *col = grid->col;
}

int ProcessNumber(int context, int row, int col) {
  const ProcessGrid& grid = GridOf("blacs_pnum", context);
  return grid.Contains(row, col) ? grid.RankAt(row, col) : -1;
}

void ProcessCoordinates(int context, int pnum, int* row, int* col) {
  const ProcessGrid& grid = GridOf("blacs_pcoord", context);
  const bool exists = pnum >= 0 && pnum < grid.rows * grid.cols;
  *row = exists ? pnum / grid.cols : -1;
  *col = exists ? pnum % grid.cols : -1;
}

void FreeBuffers(int /*context*/, int wait) {
  const char* const routine = "blacs_freebuff";
  const Entry entry(routine);
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr) return;
  if (wait != 0) runtime->Drain(routine);
  runtime->Trim();
}

void Abort(int context, int code) { AbortForCaller(OriginOf("blacs_abort", context), code); }

void Exit(int not_done) {
  const char* const routine = "blacs_exit";
  const Entry entry(routine);
  if (!Runtime::MpiIsActive(routine)) return;
  if (Runtime* runtime = Runtime::Current()) runtime->Reset(routine);
  if (not_done == 0) MPI_Finalize();
}

int HandleOf(MPI_Comm communicator) {
  const char* const routine = "sys2blacs_handle";
  const Entry entry(routine);
  Runtime& runtime = Runtime::Start(routine);
  if (communicator == MPI_COMM_NULL) {
    Fail(OriginOf(routine, -1), "cannot make a handle of MPI_COMM_NULL");
  }
  return runtime.handles().HandleOf(communicator);
}

MPI_Comm CommunicatorOf(int handle) {
  const char* const routine = "blacs2sys_handle";
  const Entry entry(routine);
  return ParentOf(routine, Language::kC, handle);
}

void FreeHandle(int handle) {
  const char* const routine = "free_blacs_system_handle";
  const Entry entry(routine);
  if (!Runtime::Start(routine).handles().Free(handle)) {
    Warn(OriginOf(routine, -1), "no system context for handle %d", handle);
  }
}

int BroadcastId(const char* routine, int context, const char* scope) {
  const Entry entry(routine);
  ProcessGrid& grid = GridOf(routine, context);
  Scope found;
  if (!FindScope(grid, scope, &found)) {
    Fail(OriginOf(routine, context), "unknown scope '%c': must be R, C or A", *scope);
  }
  return grid.broadcast_ids[static_cast<int>(found.kind)]++;
}

}  // namespace blacs
}  // namespace brigade
