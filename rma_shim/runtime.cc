#include "rma_shim/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "rma_shim/carried_window.h"
#include "rma_shim/errors.h"
#include "transport/host/launcher.h"
#include "transport/host/variable_names.h"
#include "transport/mpi/mpi_teardown.h"

namespace brigade {
namespace rma {
namespace {

constexpr char kHasEnded[] = "MPI_Finalize has ended Brigade's windows";

}  // namespace

std::atomic<Runtime*> Runtime::current_ = nullptr;

Runtime::Runtime(const char* routine, const Settings& settings)
    : settings_(settings), pid_(getpid()), datatypes_(new DatatypeCache) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level == MPI_THREAD_MULTIPLE) gate_ = std::make_unique<Gate>();
  if (settings_.rma == Settings::When::kOff) {
    refusal_ = "BRIGADE_RMA=off";
    return;
  }
  if (IsTornDown()) {
    refusal_ = kHasEnded;
    return;
  }
  const Status status = OpenEngine();
  if (status.code() == StatusCode::kInvalidArgument) Fail(routine, status.message());
  if (!status.ok()) refusal_ = status.message();
}

Status Runtime::OpenEngine() {
  // Checked windows go by messages, which between hosts auto may leave to MPI: then nobody answers
  // while a rank is inside MPI.
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool avoids_mpi =
      settings_.check_windows && settings_.transport == "auto" && LocalRanks() < ranks;
  BRIGADE_RETURN_IF_ERROR(
      SharedEngine::Acquire(avoids_mpi ? "tcp" : settings_.transport, settings_.engine, &engine_));
  return WindowSpace::Create(engine_->engine.get(), &space_);
}

// Of several threads that make their first windows at once one starts it.
Runtime* Runtime::StartNow(const char* routine) {
  static std::mutex starting;
  const std::lock_guard<std::mutex> lock(starting);
  if (Runtime* const current = Current()) return current;
  Settings settings;
  const Status status = ReadSettings(&settings);
  if (!status.ok()) Fail(routine, status.message());
  auto* const runtime = new Runtime(routine, settings);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) PrintSettingWarnings();

  if (!IsTornDown()) SetTeardown(Teardown::kWindows, &Runtime::OnMpiFinalize);
  current_.store(runtime, std::memory_order_release);
  return runtime;
}

void Runtime::OnMpiFinalize() {
  Runtime* const runtime = Current();
  // A forked child has copies of everything and owns none of it.
  if (runtime->pid_ != getpid()) return;
  runtime->End();
}

void Runtime::End() {
  // Windows that the program has not freed: all ranks come here, in the same state. Where one does
  // not, as with an open epoch, the window breaks on all ranks, before any waits in the next one.
  for (const auto& window : windows_) {
    (void)window->window()->EndLocks();
    (void)window->window()->Free();
    window->End();
  }
  requests_.CompleteAll();
  refusal_ = kHasEnded;  // before callbacks that may make windows
#ifndef OPEN_MPI
  // MPICH leaves windows that are not freed to UCX, which complains. Open MPI frees them.
  while (IsTornDownLast() && !windows_.empty()) {
    CarriedWindow* const window = windows_.back().get();
    window->FreeHandle();
    Remove(window);
  }
#endif
  space_.reset();
  engine_.reset();
}

CarriedWindow* Runtime::FindAnew(MPI_Win handle) {
  const std::thread::id kAll;
  const auto found = std::find_if(windows_.begin(), windows_.end(), [&](const auto& one) {
    return one->handle() == handle &&
           (one->reserved_for() == kAll || one->reserved_for() == std::this_thread::get_id());
  });
  if (found == windows_.end()) return nullptr;
  if ((*found)->reserved_for() != kAll) return found->get();
  last_handle_ = handle;
  return last_ = found->get();
}

void Runtime::Add(std::unique_ptr<CarriedWindow> window) { windows_.push_back(std::move(window)); }

void Runtime::ForgetLast(const CarriedWindow* window) {
  if (last_ != window) return;
  last_handle_ = MPI_WIN_NULL;
  last_ = nullptr;
}

void Runtime::ReserveFor(std::thread::id thread, CarriedWindow* window) {
  ForgetLast(window);
  window->ReserveFor(thread);
}

void Runtime::Remove(CarriedWindow* window) {
  ForgetLast(window);
  windows_.erase(std::find_if(windows_.begin(), windows_.end(),
                              [&](const auto& one) { return one.get() == window; }));
}

}  // namespace rma
}  // namespace brigade
