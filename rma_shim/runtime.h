// Runtime: the state of this process between calls.
//
// The runtime is made with the program's first window: a preloaded library is also loaded by
// mpirun, shells and interpreters. MPI_Finalize frees engine and memory
// (transport/mpi/mpi_teardown.h). The runtime and the handles of windows stay, since delete
// callbacks that MPI calls afterwards may still use them.

#ifndef BRIGADE_RMA_SHIM_RUNTIME_H_
#define BRIGADE_RMA_SHIM_RUNTIME_H_

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/shared_engine.h"
#include "patterns/settings/settings.h"
#include "rma_shim/datatype/datatype_cache.h"
#include "rma_shim/gate.h"
#include "rma_shim/makers.h"
#include "rma_shim/requests.h"
#include "transport/mpi_polls.h"
#include "transport/rules.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace rma {

class CarriedWindow;

class Runtime {
 public:
  // The runtime, started if it was not. A bad setting ends the job in the name of `routine`.
  // REQUIRES: MPI is initialised, and not finalised.
  static Runtime* Start(const char* routine) {
    Runtime* const current = Current();
    return current != nullptr ? current : StartNow(routine);
  }
  // Null before the start.
  static Runtime* Current() { return current_.load(std::memory_order_acquire); }

  const Settings& settings() const { return settings_; }
  // Why this process carries no window; empty: it does.
  const std::string& refusal() const { return refusal_; }
  // REQUIRES: there is no refusal.
  WindowSpace* space() const { return space_.get(); }
  DatatypeCache* datatypes() const { return datatypes_; }
  Requests* requests() { return &requests_; }

  // Null: it is left to the MPI.
  CarriedWindow* Find(MPI_Win handle) {
    if (handle == last_handle_) return last_;
    return FindAnew(handle);
  }
  void Add(std::unique_ptr<CarriedWindow> window);
  // For which thread its handle stands for it; none: for all, as at first.
  void ReserveFor(std::thread::id thread, CarriedWindow* window);
  void Remove(CarriedWindow* window);

  // Held while a call is at work: of several threads of a process one at a time.
  class Entry {
   public:
    explicit Entry(Runtime* runtime) : gate_(runtime->gate_.get()) {
      if (gate_ != nullptr) gate_->Enter();
    }
    ~Entry() {
      if (gate_ != nullptr) gate_->Leave();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Gate* const gate_;
  };
  // From every call, within its Entry, that a program may repeat until something has come, while
  // none of these calls waits: one that synchronises, or has a request.
  void CountCall() {
    if (++calls_ % rules::kCallsPerMpiLook == 0) MpiPolls::PollIfLate();
  }
  // Null: the process has one thread that calls MPI.
  Gate* gate() { return gate_.get(); }
  Makers* makers() { return &makers_; }

 private:
  Runtime(const char* routine, const Settings& settings);

  static Runtime* StartNow(const char* routine);
  static void OnMpiFinalize();
  void End();
  Status OpenEngine();
  CarriedWindow* FindAnew(MPI_Win handle);
  // If that is what was found last.
  void ForgetLast(const CarriedWindow* window);

  static std::atomic<Runtime*> current_;

  const Settings settings_;
  const pid_t pid_;
  std::string refusal_;
  std::unique_ptr<Gate> gate_;
  Makers makers_;
  // Stays for as long as MPI.
  DatatypeCache* const datatypes_;
  std::shared_ptr<SharedEngine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::vector<std::unique_ptr<CarriedWindow>> windows_;
  Requests requests_;
  uint64_t calls_ = 0;  // by CountCall
  MPI_Win last_handle_ = MPI_WIN_NULL;
  CarriedWindow* last_ = nullptr;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_RUNTIME_H_
