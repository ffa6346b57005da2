#include "blacs_shim/support.h"

#include <link.h>

#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "blacs_shim/call.h"
#include "blacs_shim/errors.h"
#include "blacs_shim/process_grid.h"
#include "blacs_shim/routine.h"
#include "blacs_shim/runtime.h"
#include "patterns/engine/out_of_memory.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/mpi_teardown.h"

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
  kOfMkl = 19,  // MKL's ScaLAPACK reads this from its own BLACS; if 0, it calls public names only
};

// Returns the place of parameter `what` in a context; null if contexts do not have it.
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

MPI_Comm ParentOf(const char* routine, Language language, int64_t wide_handle) {
  RequireInt(routine, "handle", wide_handle);
  const int handle = static_cast<int>(wide_handle);
  const MPI_Comm parent = language == Language::kC
                              ? Runtime::Start(routine).handles().Communicator(handle)
                              : MPI_Comm_f2c(handle);
  // Open MPI translates a number that is no communicator's to a null pointer.
  if (parent == MPI_Comm() || parent == MPI_COMM_NULL) {
    Fail(OriginOf(routine, -1), "no system context for handle %d: pass a handle of %s", handle,
         language == Language::kC ? "Csys2blacs_handle or Cblacs_get"
                                  : "blacs_get, or a communicator");
  }
  return parent;
}

void CheckShape(const char* routine, MPI_Comm parent, int64_t rows, int64_t cols) {
  RequireInt(routine, "nprow", rows);
  RequireInt(routine, "npcol", cols);
  int procs = 0;
  MPI_Comm_size(parent, &procs);
  if (rows < 1 || cols < 1 || rows * cols > procs) {
    Fail(OriginOf(routine, -1), "illegal grid (%" PRId64 " x %" PRId64 "), #procs = %d", rows, cols,
         procs);
  }
}

// Said of a map that cannot be: taken as half as many integers of 64 bits it could.
const char* WidthHint(Integers usermap, size_t elements) {
  if (usermap.wide() || elements < 2) return "";
  std::set<int64_t> members;
  for (size_t i = 0; i + 1 < elements; i += 2) {
    if (usermap.Get(i + 1) != 0 || !members.insert(usermap.Get(i)).second) return "";
  }
  return "; if the integers of the program have 64 bits, it takes libbrigade_blacs64.so";
}

// MKL's names reveal the width of its ScaLAPACK's integers.
void CheckWidth(const char* routine, bool wide) {
  static bool checked = false;
  if (checked) return;
  checked = true;
  struct Loaded {
    bool lp64 = false;
    bool ilp64 = false;
  } loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* data) {
        auto* const found = static_cast<Loaded*>(data);
        if (std::strstr(library->dlpi_name, "mkl_scalapack_lp64") != nullptr) found->lp64 = true;
        if (std::strstr(library->dlpi_name, "mkl_scalapack_ilp64") != nullptr) found->ilp64 = true;
        return 0;
      },
      &loaded);
  if (loaded.lp64 == loaded.ilp64 || loaded.ilp64 == wide) return;
  Fail(OriginOf(routine, -1), "the program uses libmkl_scalapack_%s, which takes %s",
       wide ? "lp64" : "ilp64", wide ? "libbrigade_blacs.so" : "libbrigade_blacs64.so");
}

// `wanted`: ranks in `parent` in row-major order of the new grid. `hint`: a possible cause if they
// are invalid.
void MakeGrid(const char* routine, MPI_Comm parent, const std::vector<int64_t>& wanted,
              int64_t rows, int64_t cols, Integers context, const char* hint = "") {
  int procs = 0;
  MPI_Comm_size(parent, &procs);
  std::vector<bool> taken(procs);
  std::vector<int> members;
  members.reserve(wanted.size());
  for (const int64_t member : wanted) {
    if (member < 0 || member >= procs) {
      Fail(OriginOf(routine, -1), "illegal grid: process %" PRId64 " of usermap is not among %d%s",
           member, procs, hint);
    }
    if (taken[member]) {
      Fail(OriginOf(routine, -1), "illegal grid: process %" PRId64 " is twice in usermap%s", member,
           hint);
    }
    taken[member] = true;
    members.push_back(static_cast<int>(member));
  }
  int rank = 0;
  MPI_Comm_rank(parent, &rank);
  if (!taken[rank]) return context.Set(-1);
  FailIfNotOk(OriginOf(routine, -1), CatchOutOfMemory([&] {
                context.Set(Runtime::Start(routine).OpenGrid(
                    routine, parent, members, static_cast<int>(rows), static_cast<int>(cols)));
                return Status();
              }));
}

}  // namespace

void ProcessInfo(const char* routine, Integers pnum, Integers procs) {
  const Entry entry(routine);
  const Runtime& runtime = Runtime::Start(routine);
  pnum.Set(runtime.world_rank());
  procs.Set(runtime.world_size());
}

void GetParameter(Language language, int64_t context, int64_t what, Integers value) {
  const char* const routine = "blacs_get";
  const Entry entry(routine);
  Runtime& runtime = Runtime::Start(routine);
  RequireInt(routine, "WHAT", what);
  switch (what) {
    case kSystemContext:
      value.Set(language == Language::kC ? runtime.handles().HandleOf(MPI_COMM_WORLD)
                                         : MPI_Comm_c2f(MPI_COMM_WORLD));
      return;
    case kMessageIds:
      value.Set(0, 0);
      value.Set(1, LargestMpiTag());
      return;
    case kDebugLevel:
    case kOfMkl:
      value.Set(0);
      return;
    case kContextHandle: {
      const MPI_Comm communicator = GridOf(routine, context).communicator;
      value.Set(language == Language::kC
                    ? runtime.handles().HandleOf(communicator, static_cast<int>(context))
                    : MPI_Comm_c2f(communicator));
      return;
    }
  }
  if (!IsContextParameter(static_cast<int>(what))) {
    Warn(OriginOf(routine, context), "unknown WHAT (%d)", static_cast<int>(what));
    return;
  }
  value.Set(*ContextParameter(&GridOf(routine, context), static_cast<int>(what)));
}

void SetParameter(int64_t context, int64_t wide_what, int64_t wide_value) {
  const char* const routine = "blacs_set";
  const Entry entry(routine);
  Runtime::Start(routine);
  RequireInt(routine, "WHAT", wide_what);
  RequireInt(routine, "value", wide_value);
  const int what = static_cast<int>(wide_what);
  const int value = static_cast<int>(wide_value);
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

void GridInit(Language language, Integers context, const char* order, int64_t rows, int64_t cols) {
  const char* const routine = "blacs_gridinit";
  const Entry entry(routine);
  Runtime::Start(routine);
  CheckWidth(routine, context.wide());
  const MPI_Comm parent = ParentOf(routine, language, context.Get());
  CheckShape(routine, parent, rows, cols);
  const bool by_columns = *order == 'C' || *order == 'c';
  std::vector<int64_t> members;
  members.reserve(static_cast<size_t>(rows * cols));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) members.push_back(by_columns ? j * rows + i : i * cols + j);
  }
  MakeGrid(routine, parent, members, rows, cols, context);
}

void GridMap(Language language, Integers context, Integers usermap, int64_t ldumap, int64_t rows,
             int64_t cols) {
  const char* const routine = "blacs_gridmap";
  const Entry entry(routine);
  Runtime::Start(routine);
  CheckWidth(routine, context.wide());
  const MPI_Comm parent = ParentOf(routine, language, context.Get());
  CheckShape(routine, parent, rows, cols);
  if (cols > 1) RequireInt(routine, "ldumap", ldumap);
  if (cols > 1 && ldumap < rows) {
    Fail(OriginOf(routine, -1),
         "ldumap = %" PRId64 " is less than the %" PRId64 " rows of the grid", ldumap, rows);
  }
  std::vector<int64_t> members;
  members.reserve(static_cast<size_t>(rows * cols));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j)
      members.push_back(usermap.Get(static_cast<size_t>(j * ldumap + i)));
  }
  const bool dense = cols == 1 || ldumap == rows;
  MakeGrid(routine, parent, members, rows, cols, context,
           dense ? WidthHint(usermap, members.size()) : "");
}

void GridExit(int64_t context) {
  const char* const routine = "blacs_gridexit";
  // Destroyed after the entry: delete callbacks on its communicator may call the BLACS.
  std::unique_ptr<ProcessGrid> ended;
  const Entry entry(routine);
  GridOf(routine, context);
  ended = Runtime::Start(routine).CloseGrid(static_cast<int>(context));
}

// The next three are the most frequent calls of all and only look: they do not enter.

void GridInfo(int64_t context, Integers rows, Integers cols, Integers row, Integers col) {
  const Runtime* const runtime = Runtime::Current();
  const ProcessGrid* const grid = runtime != nullptr ? runtime->grids().Find(context) : nullptr;
  rows.Set(grid != nullptr ? grid->rows : -1);
  cols.Set(grid != nullptr ? grid->cols : -1);
  row.Set(grid != nullptr ? grid->row : -1);
  col.Set(grid != nullptr ? grid->col : -1);
}

int ProcessNumber(int64_t context, int64_t row, int64_t col) {
  const ProcessGrid& grid = GridOf("blacs_pnum", context);
  return grid.Contains(row, col) ? grid.RankAt(static_cast<int>(row), static_cast<int>(col)) : -1;
}

void ProcessCoordinates(int64_t context, int64_t pnum, Integers row, Integers col) {
  const ProcessGrid& grid = GridOf("blacs_pcoord", context);
  const bool exists = pnum >= 0 && pnum < int64_t{grid.rows} * grid.cols;
  row.Set(exists ? static_cast<int>(pnum / grid.cols) : -1);
  col.Set(exists ? static_cast<int>(pnum % grid.cols) : -1);
}

void FreeBuffers(int64_t wait) {
  const char* const routine = "blacs_freebuff";
  const Entry entry(routine);
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr) return;
  if (wait != 0) runtime->Drain(routine);
  runtime->Trim();
}

void Abort(int64_t context, int64_t code) {
  AbortForCaller(OriginOf("blacs_abort", context), static_cast<int>(code));
}

void Exit(int64_t not_done) {
  const char* const routine = "blacs_exit";
  {
    const Entry entry(routine);
    if (!MpiIsActive() || IsTornDown()) return;
  }
  if (Runtime* runtime = Runtime::Current()) runtime->Reset(routine);
  if (not_done == 0) MPI_Finalize();  // delete callbacks on MPI_COMM_SELF may call the BLACS, too
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

MPI_Comm CommunicatorOf(int64_t handle) {
  const char* const routine = "blacs2sys_handle";
  const Entry entry(routine);
  return ParentOf(routine, Language::kC, handle);
}

void FreeHandle(int64_t wide_handle) {
  const char* const routine = "free_blacs_system_handle";
  const Entry entry(routine);
  RequireInt(routine, "handle", wide_handle);
  const int handle = static_cast<int>(wide_handle);
  if (!Runtime::Start(routine).handles().Free(handle)) {
    Warn(OriginOf(routine, -1),
         "no system context for handle %d: pass a handle of Csys2blacs_handle", handle);
  }
}

int BroadcastId(const char* name, int64_t context, const char* scope) {
  const Routine routine{name, {}, {}};  // verb and type are for statistics, which omit it
  const Call call(routine, context);
  return call.grid().broadcast_ids[static_cast<int>(call.ScopeOf(scope).kind)]++;
}

}  // namespace blacs
}  // namespace brigade
