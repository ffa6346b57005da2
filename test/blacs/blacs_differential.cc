// Runs one random script of BLACS calls on two implementations side by side and compares every
// byte.
//
// An MPI program for any number of ranks of one host. Each step is executed with the reference,
// then with the library under test, on separate copies of the data; then both copies, padding
// included, are compared with the definition of the operation. All ranks derive the script from the
// seed alone; values of one rank only (leading dimensions, spelling of arguments, C or Fortran
// entry point) are drawn from the seed, the step and the rank.

#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "membuf/check.h"
#include "test/blacs/blacs_library.h"
#include "test/blacs/blacs_oracle.h"
#include "test/blacs/blacs_script.h"

namespace brigade {
namespace {

constexpr unsigned kWatchdogSeconds = 120;

struct Options {
  std::string reference = "libscalapack-openmpi.so.2.2";
  std::string shim;
  uint64_t seed = 1;
  int steps = 1000;
  int from = 0;
  bool ranks_check = false;
};

// ---- Watchdog
// -------------------------------------------------------------------------------------

// The current call of each rank, in shared memory, so that the first rank that times out can print
// all of them. A text may be overwritten while another rank reads it: the output is for people.
struct Progress {
  std::atomic<bool> reported;  // used in the first only
  char text[2048];
};
Progress* progress;
int progress_count;

void OnWatchdog(int) {
  const auto print = [](const char* text) {
    // Nothing could be done about a failure.
    if (write(STDERR_FILENO, text, strnlen(text, sizeof(Progress::text))) < 0) _exit(EXIT_FAILURE);
  };
  if (!progress[0].reported.exchange(true)) {
    print("blacs_differential: no step finished within the time limit; the ranks are at:\n");
    for (int rank = 0; rank < progress_count; ++rank) print(progress[rank].text);
  }
  _exit(EXIT_FAILURE);  // mpirun ends the other ranks
}

// Publishes the current call of `rank`, and that it is alive.
void ReportProgress(int rank, const std::string& what) {
  std::snprintf(progress[rank].text, sizeof(Progress::text), "  rank %d: %.1900s\n", rank,
                what.c_str());
  alarm(kWatchdogSeconds);
}

void StartWatchdog(int rank, int ranks) {
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(Progress), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &progress, &window);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &progress);
  progress_count = ranks;
  new (&progress[rank]) Progress();
  ReportProgress(rank, "not started");
  MPI_Barrier(MPI_COMM_WORLD);
  signal(SIGALRM, OnWatchdog);
}

// ---- The runner
// -----------------------------------------------------------------------------------

// One argument array: its expected contents, and the copy of each library.
struct Operand {
  explicit Operand(const Image& initial) : expected(initial), actual{initial, initial} {}

  Image expected;
  std::array<Image, 2> actual;  // by library
};

class Runner {
 public:
  Runner(const Options& options, const std::array<BlacsLibrary, 2>& libraries, int rank, int ranks)
      : options_(options), libraries_(libraries), rank_(rank), ranks_(ranks), local_(0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &private_);
  }

  // Executes `step`, number `number` of the script. Does not return if anything is wrong.
  void Execute(int number, const Step& step) {
    number_ = number;
    step_ = &step;
    ReportProgress(rank_, "step " + std::to_string(number) + ": " + ToString(step));
    local_ = Random(Mix(Mix(options_.seed, static_cast<uint64_t>(number)), rank_));
    if (options_.ranks_check) CheckRanksAgree();
    const bool keeps_state =
        std::holds_alternative<CreateGrid>(step) || std::holds_alternative<ExitGrid>(step) ||
        std::holds_alternative<ExitBlacs>(step) || std::holds_alternative<SetParameter>(step);
    if (keeps_state || number >= options_.from) {
      std::visit([this](const auto& s) { Run(s); }, step);
    }
  }

  void Finish() {
    for (const BlacsLibrary& library : libraries_) library.Call(Entry::kC, "blacs_exit", 1);
    MPI_Comm_free(&private_);
  }

 private:
  void Run(const CreateGrid& step);
  void Run(const ExitGrid& step);
  void Run(const ExitBlacs&);
  void Run(const SetParameter& step);
  void Run(const Query& step);
  void Run(const GridBarrier& step);
  void Run(const FreeBuffers& step);
  void Run(const PlainBarrier&) { MPI_Barrier(private_); }
  void Run(const Send& step);
  void Run(const Receive& step);
  void Run(const Broadcast& step);
  void Run(const Combine& step);

  // The system handle a CreateGrid of this rank starts from.
  int SystemHandle(const BlacsLibrary& library, Entry entry, const CreateGrid& step,
                   MPI_Comm split);
  void CheckCommunicator(const BlacsLibrary& library, Entry entry, int handle,
                         const std::vector<int>& world_ranks);
  void CheckGridInfo(const BlacsLibrary& library, Entry entry, int context, const Grid& grid);

  // This rank's process number in a grid, or -1.
  int Process(const GridRef& grid) const { return grid->ProcessOf(rank_); }
  int Context(const GridRef& grid) const { return contexts_.at(grid->id); }
  // Its process number if it takes part, or -1.
  int Participant(const ScopeChoice& where) const {
    const int process = Process(where.grid);
    if (process < 0 || where.line < 0 || where.scope == Scope::kAll) return process;
    const int npcol = where.grid->npcol;
    const int line = where.scope == Scope::kRow ? process / npcol : process % npcol;
    return line == where.line ? process : -1;
  }

  Entry DrawEntry() { return local_.OneIn(2) ? Entry::kC : Entry::kFortran; }
  int DrawLeadingDimension(int m, int n);
  // Draws the destination of the result of `step`.
  std::pair<int, int> DrawDestination(const Combine& step, int first_member);
  Image DrawImage(int m, int n, int lda, size_t element_bytes, size_t alignment) {
    return Image(local_.Key(), m, n, lda, element_bytes, 64 + alignment * local_.Uniform(0, 64));
  }
  std::string Spell(Scope scope);
  std::string Spell(char topology);
  std::string SpellUplo(const Region& region);
  std::string SpellDiag(const Region& region);

  // The elements of a message.
  struct Payload {
    char type;
    uint64_t key;
    size_t count;
  };
  // Sends `payload` from, or receives it into, a matrix with both libraries: calls the ge or the tr
  // form of `action` ("sd2d", "rv2d", "bs2d", "br2d"), whose arguments before and after the matrix
  // are `leading` and `trailing`, and checks all memory.
  template <typename... Leading, typename... Trailing>
  void Move(const char* action, bool outwards, const Payload& payload, const Region& region,
            const std::tuple<Leading...>& leading, const std::tuple<Trailing...>& trailing);

  // Calls `function` with each library and its index.
  template <typename Function>
  void OnBoth(Function function) {
    for (size_t l = 0; l < libraries_.size(); ++l) function(libraries_[l], l);
  }

  // Compares both copies with the expected contents, then overwrites them: no library may still
  // need the memory of a call that returned.
  void Check(const char* what, Operand* operand);
  void CheckEqual(const char* what, size_t library, long long actual, long long expected);
  [[noreturn]] void Fail(const std::string& text);
  void CheckRanksAgree();

  const Options& options_;
  const std::array<BlacsLibrary, 2>& libraries_;
  const int rank_;
  const int ranks_;
  MPI_Comm private_;

  int number_ = -1;
  const Step* step_ = nullptr;
  Random local_;  // this rank's own choices in this step

  std::map<int, int> contexts_;                    // by grid id; the same with both libraries
  std::map<std::pair<int, int>, int> parameters_;  // (grid id, what) -> value set
};

void Runner::Fail(const std::string& text) {
  std::fprintf(stderr,
               "blacs_differential: FAILED on rank %d in step %d of seed %llu: %s\n"
               "  step: %s\n"
               "  repeat: mpirun -n %d blacs_differential --seed %llu --steps %d --reference %s "
               "--shim %s\n"
               "  (--from %d skips the data movement before, if that does not matter)\n",
               rank_, number_, static_cast<unsigned long long>(options_.seed), text.c_str(),
               ToString(*step_).c_str(), ranks_, static_cast<unsigned long long>(options_.seed),
               number_ + 1, options_.reference.c_str(), options_.shim.c_str(), number_);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  std::abort();
}

void Runner::CheckRanksAgree() {
  const uint64_t mine = std::hash<std::string>()(ToString(*step_));
  uint64_t least, most;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, private_);
  MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, private_);
  if (least != most) Fail("the ranks derived different scripts");
}

void Runner::CheckEqual(const char* what, size_t library, long long actual, long long expected) {
  if (actual == expected) return;
  Fail(std::string(library == 0 ? "reference" : "shim") + ": " + what + " is " +
       std::to_string(actual) + ", expected " + std::to_string(expected));
}

void Runner::Check(const char* what, Operand* operand) {
  const auto& expected = operand->expected.bytes();
  const auto& reference = operand->actual[0].bytes();
  const auto& shim = operand->actual[1].bytes();
  if (reference != expected || shim != expected) {
    size_t byte = 0;
    while (reference[byte] == expected[byte] && shim[byte] == expected[byte]) ++byte;
    char values[120];
    std::snprintf(values, sizeof(values),
                  " is 0x%02x with the reference, 0x%02x with the shim, should be 0x%02x",
                  reference[byte], shim[byte], expected[byte]);
    Fail(std::string(what) + ": " + operand->expected.Locate(byte) + values);
  }
  for (Image& image : operand->actual) image.Scribble();
}

int Runner::DrawLeadingDimension(int m, int n) {
  switch (local_.Uniform(0, 3)) {
    case 0:
      return m;
    case 1:
      return local_.Uniform(1, std::max(1, m));  // too small means m
    default:
      // Long rows get narrow gaps, to bound the memory.
      return m + local_.Uniform(1, n > 10000 ? 2 : 20);
  }
}

std::string Runner::Spell(Scope scope) {
  static const std::string kSpellings[3][4] = {
      {"R", "r", "Rowwise", "row"}, {"C", "c", "Columnwise", "col"}, {"A", "a", "All", "all"}};
  return local_.Pick(kSpellings[static_cast<int>(scope)]);
}

std::string Runner::Spell(char topology) {
  std::string text(1, local_.OneIn(2) ? topology : static_cast<char>(std::tolower(topology)));
  if (local_.OneIn(4)) text += "-ring";  // only the first letter counts
  return text;
}

std::string Runner::SpellUplo(const Region& region) {
  static const std::string kSpellings[2][3] = {{"L", "l", "Lower"}, {"U", "u", "Upper"}};
  return local_.Pick(kSpellings[region.upper]);
}

std::string Runner::SpellDiag(const Region& region) {
  static const std::string kSpellings[2][3] = {{"N", "n", "Non-unit"}, {"U", "u", "Unit"}};
  return local_.Pick(kSpellings[region.unit_diagonal]);
}

// ---- Grids
// ----------------------------------------------------------------------------------------

void Runner::CheckCommunicator(const BlacsLibrary& library, Entry entry, int handle,
                               const std::vector<int>& world_ranks) {
  const size_t l = static_cast<size_t>(&library - libraries_.data());
  MPI_Comm communicator =
      entry == Entry::kC
          ? library.Call<MPI_Comm>(Entry::kC, "blacs2sys_handle", handle)
          : MPI_Comm_f2c(library.Call<int>(Entry::kFortran, "blacs2sys_handle", handle));
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(communicator, &group);
  int size;
  MPI_Group_size(group, &size);
  CheckEqual("size of the communicator", l, size, static_cast<long long>(world_ranks.size()));
  for (int r = 0; r < size; ++r) {
    int world_rank;
    MPI_Group_translate_ranks(group, 1, &r, world, &world_rank);
    CheckEqual("world rank of a member of the communicator", l, world_rank, world_ranks[r]);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&group);
}

int Runner::SystemHandle(const BlacsLibrary& library, Entry entry, const CreateGrid& step,
                         MPI_Comm split) {
  int handle = -1;
  switch (step.parent) {
    case Parent::kWorld:
      library.Call(entry, "blacs_get", -1, 0, &handle);
      break;
    case Parent::kGrid:
      library.Call(entry, "blacs_get", Context(step.parent_grid), 10, &handle);
      break;
    case Parent::kSplitCommunicator:
      handle = entry == Entry::kC ? library.Call<int>(Entry::kC, "sys2blacs_handle", split)
                                  : library.Call<int>(Entry::kFortran, "sys2blacs_handle",
                                                      static_cast<int>(MPI_Comm_c2f(split)));
      break;
  }
  CheckCommunicator(library, entry, handle, step.parent_ranks);
  return handle;
}

void Runner::CheckGridInfo(const BlacsLibrary& library, Entry entry, int context,
                           const Grid& grid) {
  const size_t l = static_cast<size_t>(&library - libraries_.data());
  const int process = grid.ProcessOf(rank_);
  const bool inside = process >= 0;
  int values[4] = {};
  library.Call(entry, "blacs_gridinfo", context, &values[0], &values[1], &values[2], &values[3]);
  CheckEqual("nprow", l, values[0], inside ? grid.nprow : -1);
  CheckEqual("npcol", l, values[1], inside ? grid.npcol : -1);
  CheckEqual("myrow", l, values[2], inside ? process / grid.npcol : -1);
  CheckEqual("mycol", l, values[3], inside ? process % grid.npcol : -1);
}

void Runner::Run(const CreateGrid& step) {
  const auto position = std::find(step.parent_ranks.begin(), step.parent_ranks.end(), rank_);
  const bool in_parent = position != step.parent_ranks.end();
  MPI_Comm split = MPI_COMM_NULL;
  if (step.parent == Parent::kSplitCommunicator) {
    MPI_Comm_split(private_, in_parent ? 0 : MPI_UNDEFINED,
                   static_cast<int>(position - step.parent_ranks.begin()), &split);
  }
  if (!in_parent) return;

  // Contexts are the lowest free small integers.
  int expected = -1;
  if (Process(step.grid) >= 0) {
    std::set<int> used;
    for (const auto& [id, context] : contexts_) used.insert(context);
    for (expected = 0; used.count(expected) != 0;) ++expected;
    contexts_[step.grid->id] = expected;
  }

  const Entry entry = DrawEntry();
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    const int handle = SystemHandle(library, entry, step, split);
    int context = handle;
    if (step.user_map.empty()) {
      library.Call(entry, "blacs_gridinit", &context, std::string_view(step.order),
                   step.grid->nprow, step.grid->npcol);
    } else {
      library.Call(entry, "blacs_gridmap", &context, step.user_map.data(), step.ld_user_map,
                   step.grid->nprow, step.grid->npcol);
    }
    CheckEqual("context", l, context, expected);
    CheckGridInfo(library, entry, context, *step.grid);
    if (step.parent == Parent::kSplitCommunicator) {
      library.Call(entry, "free_blacs_system_handle", handle);
    }
  });
  if (split != MPI_COMM_NULL) MPI_Comm_free(&split);
  for (int what = 11; what <= 16; ++what) {
    parameters_[{step.grid->id, what}] = what <= 14 ? 1 : 0;
  }
}

void Runner::Run(const ExitGrid& step) {
  if (Process(step.grid) < 0) return;
  const int context = Context(step.grid);
  const Entry entry = DrawEntry();
  OnBoth(
      [&](const BlacsLibrary& library, size_t) { library.Call(entry, "blacs_gridexit", context); });
  contexts_.erase(step.grid->id);
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    int values[4] = {};
    library.Call(entry, "blacs_gridinfo", context, &values[0], &values[1], &values[2], &values[3]);
    for (int value : values) CheckEqual("gridinfo of a freed context", l, value, -1);
  });
}

void Runner::Run(const ExitBlacs&) {
  const Entry entry = DrawEntry();
  OnBoth([&](const BlacsLibrary& library, size_t) { library.Call(entry, "blacs_exit", 1); });
  contexts_.clear();
}

void Runner::Run(const SetParameter& step) {
  if (Process(step.grid) < 0) return;
  const Entry entry = DrawEntry();
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    int value = step.value;
    library.Call(entry, "blacs_set", Context(step.grid), step.what, &value);
    value = INT_MIN;
    library.Call(entry, "blacs_get", Context(step.grid), step.what, &value);
    CheckEqual("parameter just set", l, value, step.value);
  });
  parameters_[{step.grid->id, step.what}] = step.value;
}

void Runner::Run(const Query& step) {
  const Entry entry = DrawEntry();
  const int process = Process(step.grid);
  const int nprow = step.grid->nprow;
  const int npcol = step.grid->npcol;
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    int values[4] = {};
    for (int bad : {-1, 1000, INT_MAX, INT_MIN}) {
      library.Call(entry, "blacs_gridinfo", bad, &values[0], &values[1], &values[2], &values[3]);
      for (int value : values) CheckEqual("gridinfo of a bad context", l, value, -1);
    }
    for (const char* routine : {"blacs_pinfo", "blacs_setup"}) {
      library.Call(entry, routine, &values[0], &values[1]);
      CheckEqual("process of pinfo or setup", l, values[0], rank_);
      CheckEqual("size of pinfo or setup", l, values[1], ranks_);
    }
    library.Call(entry, "blacs_get", -1, 1, values);
    CheckEqual("least message id", l, values[0], 0);
    int* tag_upper_bound;
    int exists;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_upper_bound, &exists);
    CheckEqual("greatest message id", l, values[1], *tag_upper_bound);
    library.Call(entry, "blacs_get", -1, 2, values);
    CheckEqual("debug level", l, values[0], 0);
    CheckEqual("dcputime00", l, library.Call<double>(entry, "dcputime00") == -1.0, 1);
    const double before = MPI_Wtime();
    const double time = library.Call<double>(entry, "dwalltime00");
    CheckEqual("dwalltime00 is MPI_Wtime", l, before <= time && time <= MPI_Wtime(), 1);
    if (process < 0) return;

    const int context = Context(step.grid);
    CheckGridInfo(library, entry, context, *step.grid);
    for (int r = -1; r <= nprow; ++r) {
      for (int c = -1; c <= npcol; ++c) {
        const bool inside = r >= 0 && r < nprow && c >= 0 && c < npcol;
        CheckEqual("pnum", l, library.Call<int>(entry, "blacs_pnum", context, r, c),
                   inside ? r * npcol + c : -1);
      }
    }
    for (int p = -1; p <= nprow * npcol; ++p) {
      const bool inside = p >= 0 && p < nprow * npcol;
      library.Call(entry, "blacs_pcoord", context, p, &values[0], &values[1]);
      CheckEqual("row of pcoord", l, values[0], inside ? p / npcol : -1);
      CheckEqual("column of pcoord", l, values[1], inside ? p % npcol : -1);
    }
    for (int what = 11; what <= 16; ++what) {
      library.Call(entry, "blacs_get", context, what, values);
      CheckEqual("parameter", l, values[0], parameters_.at({step.grid->id, what}));
    }
  });
}

void Runner::Run(const GridBarrier& step) {
  if (Process(step.grid) < 0) return;
  const Entry entry = DrawEntry();
  const std::string scope = Spell(step.scope);
  OnBoth([&](const BlacsLibrary& library, size_t) {
    library.Call(entry, "blacs_barrier", Context(step.grid), std::string_view(scope));
  });
}

void Runner::Run(const FreeBuffers& step) {
  if (Process(step.grid) < 0) return;
  const Entry entry = DrawEntry();
  OnBoth([&](const BlacsLibrary& library, size_t) {
    library.Call(entry, "blacs_freebuff", Context(step.grid), step.wait);
  });
}

// ---- Data
// -----------------------------------------------------------------------------------------

template <typename... Leading, typename... Trailing>
void Runner::Move(const char* action, bool outwards, const Payload& payload, const Region& region,
                  const std::tuple<Leading...>& leading, const std::tuple<Trailing...>& trailing) {
  const size_t element_bytes = ElementBytes(payload.type);
  const int lda = DrawLeadingDimension(region.m, region.n);
  Image initial = DrawImage(region.m, region.n, lda, element_bytes, ScalarBytes(payload.type));
  Image filled = initial;
  const std::vector<size_t> offsets = ElementOffsets(region, lda);
  for (size_t k = 0; k < payload.count; ++k) {
    FillArbitrary(payload.key, k, element_bytes, filled.Element(offsets[k]));
  }
  Operand a(outwards ? filled : initial);
  a.expected = filled;

  const Entry entry = DrawEntry();
  const std::string uplo = SpellUplo(region);
  const std::string diag = SpellDiag(region);
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    void* data = a.actual[l].Element(0);
    const auto call = [&](const char* kind) {
      return [&, kind](auto... arguments) {
        library.Call(entry, std::string(1, payload.type) + kind + action, arguments...);
      };
    };
    const auto matrix = std::tuple_cat(std::tuple(region.m, region.n, data, lda), trailing);
    if (region.trapezoid) {
      const auto shape = std::tuple(std::string_view(uplo), std::string_view(diag));
      std::apply(call("tr"), std::tuple_cat(leading, shape, matrix));
    } else {
      std::apply(call("ge"), std::tuple_cat(leading, matrix));
    }
  });
  Check(outwards ? "A of the sender" : "A of the receiver", &a);
}

void Runner::Run(const Send& step) {
  for (const Transfer& t : step.transfers) {
    if (Process(t.grid) != t.source) continue;
    const int npcol = t.grid->npcol;
    Move("sd2d", true, {t.type, t.key, ElementCount(t.sent)}, t.sent, std::tuple(Context(t.grid)),
         std::tuple(t.destination / npcol, t.destination % npcol));
  }
}

void Runner::Run(const Receive& step) {
  for (const Transfer& t : step.transfers) {
    if (Process(t.grid) != t.destination || t.sent_in_step < options_.from) continue;
    const int npcol = t.grid->npcol;
    Move("rv2d", false, {t.type, t.key, ElementCount(t.sent)}, t.received,
         std::tuple(Context(t.grid)), std::tuple(t.source / npcol, t.source % npcol));
  }
}

void Runner::Run(const Broadcast& step) {
  const Grid& grid = *step.where.grid;
  const int process = Participant(step.where);
  if (process < 0) return;
  const int root = ScopeMembers(grid, step.where.scope, process)[step.root];
  // Each scope of a grid has its own data.
  const Payload payload = {step.type, Mix(step.key, static_cast<uint64_t>(root)),
                           ElementCount(step.sent)};
  const std::string scope = Spell(step.where.scope);
  const std::string topology = Spell(step.topology);
  const auto leading =
      std::tuple(Context(step.where.grid), std::string_view(scope), std::string_view(topology));
  if (process == root) {
    Move("bs2d", true, payload, step.sent, leading, std::tuple());
  } else {
    int row = root / grid.npcol;
    int column = root % grid.npcol;
    // The coordinate that the scope implies is not looked at.
    if (step.where.scope == Scope::kRow) row = local_.Uniform(-1, grid.nprow);
    if (step.where.scope == Scope::kColumn) column = local_.Uniform(-1, grid.npcol);
    Move("br2d", false, payload, step.received, leading, std::tuple(row, column));
  }
}

std::pair<int, int> Runner::DrawDestination(const Combine& step, int first_member) {
  const Grid& grid = *step.where.grid;
  int row = first_member / grid.npcol;
  int column = first_member % grid.npcol;
  if (step.root < 0) {
    // Either coordinate, or both, may be -1.
    const int form = static_cast<int>(step.key % 3);
    row = form == 1 ? local_.Uniform(0, grid.nprow - 1) : -1;
    column = form == 2 ? local_.Uniform(0, grid.npcol - 1) : -1;
  } else if (step.where.scope == Scope::kRow) {
    row = local_.Uniform(0, grid.nprow);  // not looked at
  } else if (step.where.scope == Scope::kColumn) {
    column = local_.Uniform(0, grid.npcol);  // not looked at
  }
  return {row, column};
}

void Runner::Run(const Combine& step) {
  const Grid& grid = *step.where.grid;
  const int process = Participant(step.where);
  if (process < 0) return;
  // The members by increasing distance from where the result goes.
  std::vector<int> members = ScopeMembers(grid, step.where.scope, process);
  std::rotate(members.begin(), members.begin() + std::max(step.root, 0), members.end());
  const bool delivered = step.root < 0 || members[0] == process;

  int row = -1, column = -1;
  std::tie(row, column) = DrawDestination(step, members[0]);
  const Region region = {false, false, false, step.m, step.n};
  const int lda = DrawLeadingDimension(step.m, step.n);
  const size_t element_bytes = ElementBytes(step.type);
  Image initial = DrawImage(step.m, step.n, lda, element_bytes, ScalarBytes(step.type));
  const std::vector<size_t> offsets = ElementOffsets(region, lda);
  for (size_t k = 0; k < offsets.size(); ++k) {
    FillOperand(step.op, step.type, step.key, process, k, initial.Element(offsets[k]));
  }
  Operand a(initial);

  const int ldia = step.coordinates ? DrawLeadingDimension(step.m, step.n) : -1;
  Operand ra(DrawImage(step.m, step.n, ldia, sizeof(int), sizeof(int)));
  Operand ca(DrawImage(step.m, step.n, ldia, sizeof(int), sizeof(int)));
  const bool null_coordinates = !step.coordinates && local_.OneIn(4);

  const Entry entry = DrawEntry();
  const std::string scope = Spell(step.where.scope);
  const std::string topology = Spell(step.topology);
  OnBoth([&](const BlacsLibrary& library, size_t l) {
    const auto call = [&](const char* operation, auto... trailing) {
      library.Call(entry, step.type + std::string(operation), Context(step.where.grid),
                   std::string_view(scope), std::string_view(topology), step.m, step.n,
                   static_cast<void*>(a.actual[l].Element(0)), lda, trailing...);
    };
    const auto coordinates = [&](Operand* operand) {
      return null_coordinates ? nullptr : reinterpret_cast<int*>(operand->actual[l].Element(0));
    };
    switch (step.op) {
      case CombineOp::kSum:
        call("gsum2d", row, column);
        break;
      case CombineOp::kAbsMax:
        call("gamx2d", coordinates(&ra), coordinates(&ca), ldia, row, column);
        break;
      case CombineOp::kAbsMin:
        call("gamn2d", coordinates(&ra), coordinates(&ca), ldia, row, column);
        break;
      default:  // the BLACS have no others
        break;
    }
  });

  const std::vector<size_t> coordinate_offsets = ElementOffsets(region, ldia);
  for (size_t k = 0; k < offsets.size(); ++k) {
    unsigned char* element = a.expected.Element(offsets[k]);
    if (delivered) {
      const size_t winner =
          CombineOperands(step.op, step.type, !step.coordinates, step.key, members, k, element);
      if (step.coordinates) {
        const int winner_row = members[winner] / grid.npcol;
        const int winner_column = members[winner] % grid.npcol;
        std::memcpy(ra.expected.Element(coordinate_offsets[k]), &winner_row, sizeof(int));
        std::memcpy(ca.expected.Element(coordinate_offsets[k]), &winner_column, sizeof(int));
      }
    } else {
      // Anything may be in A where the result does not go.
      for (Image& actual : a.actual) {
        std::memcpy(actual.Element(offsets[k]), element, element_bytes);
      }
    }
  }
  Check("A of the combine", &a);
  Check("rA", &ra);
  Check("cA", &ca);
}

// ---------------------------------------------------------------------------------------------------

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Runs one random script of BLACS calls on two libraries and compares every byte.");
  app.add_option("--reference", options.reference, "Library that is right")->capture_default_str();
  app.add_option("--shim", options.shim, "Library under test")->required();
  app.add_option("--seed", options.seed, "Seed of the script")->capture_default_str();
  app.add_option("--steps", options.steps, "Length of the script")->capture_default_str();
  app.add_option("--from", options.from, "First step that moves data")->capture_default_str();
  app.add_flag("--ranks-check", options.ranks_check,
               "Before each step, check that all ranks derived the same one (synchronises them)");
  CLI11_PARSE(app, argc, argv);

  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::array<BlacsLibrary, 2> libraries;
  for (size_t l = 0; l < libraries.size(); ++l) {
    const Status status = libraries[l].Load(l == 0 ? options.reference : options.shim);
    if (!status.ok()) {
      std::fprintf(stderr, "blacs_differential: %s\n", status.ToString().c_str());
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
  }
  StartWatchdog(rank, ranks);

  BlacsScript script(options.seed, ranks);
  Runner runner(options, libraries, rank, ranks);
  for (int number = 0; number < options.steps; ++number) runner.Execute(number, script.Next());
  int number = options.steps;
  for (const Step& step : script.Finish()) runner.Execute(number++, step);
  runner.Finish();
  if (rank == 0) {
    std::printf("blacs_differential: seed %llu, %d ranks, %d steps: no difference\n",
                static_cast<unsigned long long>(options.seed), ranks, options.steps);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) { return brigade::Main(argc, argv); }
