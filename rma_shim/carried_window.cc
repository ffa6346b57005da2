#include "rma_shim/carried_window.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>

#include "membuf/version.h"
#include "rma_shim/errors.h"
#include "rma_shim/original.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/returned_errors.h"

namespace brigade {
namespace rma {
namespace {

// The record that each rank contributes to Agree before a window is made.
struct MemberRecord {
  MPI_Aint bytes = 0;
  bool is_scattered = false;  // each rank's part of a shared window may lie anywhere
  bool is_checked = false;    // BRIGADE_CHECK_WINDOWS
  bool has_makers = false;    // its threads may make windows at the same time
  Makers::Key key;            // then
  char refusal[160] = {};     // why not; empty: it can
  // BRIGADE_RMA
  Settings::When when = Settings::When::kAuto;
};

bool IsScattered(MPI_Info info) {
  if (info == MPI_INFO_NULL) return false;
  char value[8] = "";
  int found = 0;
  MPI_Info_get(info, "alloc_shared_noncontig", sizeof(value) - 1, value, &found);
  return found && std::strcmp(value, "true") == 0;
}

// Returns whether a failure is not the same on all ranks, or names settings that differ: then the
// window is not left to the MPI, which would wait for ranks that do not come.
bool MayDifferOnRanks(StatusCode code) {
  return code == StatusCode::kMismatch || code == StatusCode::kPeerLost ||
         code == StatusCode::kAborted || code == StatusCode::kTimedOut ||
         code == StatusCode::kInternal;
}

Status Refused(const std::string& why) { return {StatusCode::kUnavailable, why}; }

// The result of Agree, the same on all ranks.
struct Agreed {
  bool are_scattered = true;       // the parts of a shared window need not be in one piece
  int have_memory = 0;             // ranks whose part has bytes
  std::optional<Makers::Key> key;  // of Makers; none: no rank has several who make windows
};

// The first refusal of a rank, as all see it. kMismatch: their settings differ. Otherwise *agreed.
Status Agree(Bootstrap* bootstrap, const std::string& refusal, const WindowRequest& request,
             bool has_makers, const Settings& settings, Agreed* agreed) {
  MemberRecord mine;
  mine.is_checked = settings.check_windows;
  mine.when = settings.rma;
  mine.has_makers = has_makers;
  if (has_makers) mine.key = Makers::Key::New();
  mine.bytes = request.bytes;
  mine.is_scattered = IsScattered(request.info);
  refusal.copy(mine.refusal, sizeof(mine.refusal) - 1);
  std::vector<MemberRecord> all(static_cast<size_t>(bootstrap->size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].refusal[0] != '\0') {
      return Refused("on rank " + std::to_string(r) + " " + all[r].refusal);
    }
    if (!agreed->key.has_value() && all[r].has_makers) agreed->key = all[r].key;
    if (all[r].bytes > 0) ++agreed->have_memory;
    agreed->are_scattered = agreed->are_scattered && all[r].is_scattered;
  }
  return CheckEqualSettings("a window", all.size(), [&](size_t r) -> SettingValues {
    return {{"BRIGADE_CHECK_WINDOWS", all[r].is_checked ? "1" : "0"},
            {"BRIGADE_RMA", Settings::kWhen[static_cast<int>(all[r].when)]}};
  });
}

}  // namespace

CarriedWindow* CarriedWindow::Create(Runtime* runtime, const char* routine,
                                     const WindowRequest& request) {
  std::unique_ptr<CarriedWindow> made(new CarriedWindow);
  // Until the window is in the runtime's list, in the same place on all its ranks.
  std::optional<Makers::Turn> turn;
  Status status;
  {
    // To make a window is collective over the communicator, as gathers on it are. Errors of these
    // go to its error handler.
    MpiBootstrap bootstrap(request.comm);
    status = made->Open(runtime, request, &bootstrap, &turn);
    if (MayDifferOnRanks(status.code())) Fail(routine, status.message());
    const bool is_told =
        runtime->settings().log_info || (runtime->settings().check_windows && !status.ok());
    if (bootstrap.rank() == 0 && is_told) {
      const std::string outcome =
          status.ok() ? std::string("carried over ") + made->window_->capabilities().name
                      : "left to MPI: " + status.message();
      std::fprintf(stderr, "brigade " BRIGADE_VERSION ": a window of %d ranks is %s\n",
                   bootstrap.size(), outcome.c_str());
    }
  }
  const Runtime::Entry entry(runtime);
  if (!status.ok()) return made.reset(), nullptr;
  CarriedWindow* const window = made.get();
  runtime->Add(std::move(made));
  return window;
}

std::string CarriedWindow::MakeHandle(Runtime* runtime, const WindowRequest& request) {
  MPI_Comm_group(request.comm, &group_);
  if (!runtime->refusal().empty()) return runtime->refusal();
  // Of threads that make windows on one communicator only one may be at it.
  const Runtime::Entry entry(runtime);
  const ReturnedErrors returned(MPI_COMM_SELF);
  void* nothing = nullptr;
  if (ORIGINAL(Win_allocate)(0, 1, request.info, MPI_COMM_SELF, &nothing, &handle_) ==
      MPI_SUCCESS) {
    return "";
  }
  handle_ = MPI_WIN_NULL;
  return "MPI has no window of one process";
}

// While it waits for others it lets threads in, until all have a turn.
Status CarriedWindow::Open(Runtime* runtime, const WindowRequest& request, Bootstrap* bootstrap,
                           std::optional<Makers::Turn>* turn) {
  WindowOptions options;
  Agreed agreed;
  BRIGADE_RETURN_IF_ERROR(Agree(bootstrap, MakeHandle(runtime, request), request,
                                runtime->gate() != nullptr, runtime->settings(), &agreed));
  if (agreed.key.has_value()) {
    turn->emplace(runtime->makers(), *agreed.key);
    BRIGADE_RETURN_IF_ERROR((*turn)->Await(bootstrap));
  }
  const Runtime::Entry entry(runtime);
  flavor_ = request.flavor;
  unit_ = static_cast<int>(request.unit);
  bytes_ = request.bytes;
  options.in_one_piece = is_shared() && agreed.have_memory > 1 && !agreed.are_scattered;
#ifdef OPEN_MPI
  // Open MPI gives an empty part an address where the parts are in one piece.
  empty_parts_are_null_ = is_shared() && agreed.are_scattered;
#else
  empty_parts_are_null_ = is_shared();
#endif
  options.kind = WindowMemory::kShared;
  if (flavor_ == MPI_WIN_FLAVOR_CREATE) options.kind = WindowMemory::kPrivate;
  if (flavor_ == MPI_WIN_FLAVOR_DYNAMIC) options.kind = WindowMemory::kDynamic;
  options.memory = static_cast<std::byte*>(request.memory);
  options.bytes = static_cast<size_t>(request.bytes);
  options.unit = request.unit;
  options.others = runtime->gate();
  options.goes_directly = std::getenv("BRIGADE_TEST_BY_MESSAGES") == nullptr;
  options.is_checked = runtime->settings().check_windows;
  BRIGADE_RETURN_IF_ERROR(Window::Create(runtime->space(), bootstrap, options, &window_));
  base_ = window_->is_dynamic() ? MPI_BOTTOM : base();
  const Status reach = CheckReach(runtime->settings().rma);
  if (!reach.ok()) BRIGADE_RETURN_IF_ERROR(window_->Free());
  return reach;
}

Status CarriedWindow::CheckReach(Settings::When when) const {
  if (is_shared() && !window_->all_are_mapped()) {
    return Refused("some of its ranks share no memory");
  }
  if (when == Settings::When::kOn) return Status();
  // A target that is inside MPI would never carry out requests.
  if (window_->size() > 1 && window_->capabilities().calls_mpi) {
    return Refused("some of its ranks reach each other by transport mpi only");
  }
  if (!window_->is_direct() && !window_->all_answer()) {
    return Refused(
        "some of its ranks reach each other's memory by messages only, which no thread "
        "answers while they are inside MPI");
  }
  return Status();
}

CarriedWindow::~CarriedWindow() {
  FreeHandle();
  if (group_ != MPI_GROUP_NULL) MPI_Group_free(&group_);
}

void CarriedWindow::FreeHandle() {
  if (handle_ != MPI_WIN_NULL) ORIGINAL(Win_free)(&handle_);
}

bool CarriedWindow::FindAttribute(int keyval, void** value) {
  switch (keyval) {
    case MPI_WIN_BASE:
      *value = base_;
      return true;
    case MPI_WIN_SIZE:
      *value = &bytes_;
      return true;
    case MPI_WIN_DISP_UNIT:
      *value = &unit_;
      return true;
    case MPI_WIN_CREATE_FLAVOR:
      *value = &flavor_;
      return true;
    case MPI_WIN_MODEL:
      *value = &model_;
      return true;
    default:
      return false;
  }
}

void CarriedWindow::QueryShared(int rank, MPI_Aint* bytes, int64_t* unit, void** memory) const {
  const bool is_any = rank == MPI_PROC_NULL;
  if (is_any) {
    rank = 0;
    while (rank + 1 < window_->size() && window_->bytes_of(rank) == 0) ++rank;
  }
  *bytes = window_->bytes_of(rank);
  *unit = window_->unit_of(rank);
  const bool has_address = is_any ? *bytes > 0 : HasAddress(rank);
  *memory = has_address ? window_->PointerTo(rank) : nullptr;
}

bool CarriedWindow::Translate(MPI_Group group, std::vector<int>* ranks) const {
  int size = 0;
  MPI_Group_size(group, &size);
  std::vector<int> theirs(static_cast<size_t>(size));
  std::iota(theirs.begin(), theirs.end(), 0);
  ranks->resize(theirs.size());
  MPI_Group_translate_ranks(group, size, theirs.data(), group_, ranks->data());
  for (const int rank : *ranks) {
    if (rank == MPI_UNDEFINED) return false;
  }
  return true;
}

int RaiseEnded(const CarriedWindow& window, const char* routine) {
  const std::string text =
      "MPI_Finalize has ended this window of Brigade's; free it before MPI_Finalize, or load the "
      "library before MPI_Init, so that delete callbacks on MPI_COMM_SELF may use it";
  if (!MpiIsActive()) Fail(routine, text);
  return Raise(window.handle(), routine, MPI_ERR_WIN, text,
               Runtime::Current()->settings().log_info);
}

}  // namespace rma
}  // namespace brigade
