// CarriedWindow: a window of the program that this library implements, and the MPI handle that
// represents it.
//
// The handle is a window of this process alone, without memory, which every MPI can make. It keeps
// the name, the info, the error handler and the attributes that the program sets.

#ifndef BRIGADE_RMA_SHIM_CARRIED_WINDOW_H_
#define BRIGADE_RMA_SHIM_CARRIED_WINDOW_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "rma_shim/makers.h"
#include "rma_shim/runtime.h"
#include "windows/core/window.h"

namespace brigade {
namespace rma {

// The arguments of a call that makes a window.
struct WindowRequest {
  int flavor = MPI_WIN_FLAVOR_CREATE;
  void* memory = nullptr;  // of the caller, for MPI_WIN_FLAVOR_CREATE
  MPI_Aint bytes = 0;
  int64_t unit = 1;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
};

class CarriedWindow {
 public:
  // Collective over request.comm. It is the runtime's. Null: it is left to the MPI, on all ranks.
  // Settings that differ end the job in the name of `routine`.
  static CarriedWindow* Create(Runtime* runtime, const char* routine, const WindowRequest& request);
  // Gives the handle back, unless the program's call has.
  ~CarriedWindow();
  CarriedWindow(const CarriedWindow&) = delete;
  CarriedWindow& operator=(const CarriedWindow&) = delete;

  MPI_Win handle() const { return handle_; }
  // The MPI frees the handle by itself.
  void ForgetHandle() { handle_ = MPI_WIN_NULL; }
  // Does nothing if the MPI has freed the handle. Runs delete callbacks of the program, which may
  // use this window.
  void FreeHandle();
  // For which thread the handle stands for it; none: for all.
  std::thread::id reserved_for() const { return reserved_for_; }
  void ReserveFor(std::thread::id thread) { reserved_for_ = thread; }
  // Null once it has ended.
  Window* window() const { return window_.get(); }
  // Gives the window back, but for the handle and the memory: MPI_Finalize, which ends it, may
  // still call functions of the program that use these.
  void End() { memory_ = Window::End(std::move(window_)); }
  bool has_ended() const { return window_ == nullptr; }
  // Of the ranks that have it.
  MPI_Group group() const { return group_; }
  bool is_shared() const { return flavor_ == MPI_WIN_FLAVOR_SHARED; }
  // The memory of this rank, as MPI_Win_allocate_shared returns it: null if it has no bytes and the
  // MPI returns null then.
  void* base() const { return HasAddress(window_->rank()) ? window_->base() : nullptr; }

  // A predefined attribute. False: it is none of these.
  bool FindAttribute(int keyval, void** value);
  // Where the memory of `rank` is; MPI_PROC_NULL: of the first that has any, null if none has.
  void QueryShared(int rank, MPI_Aint* bytes, int64_t* unit, void** memory) const;
  // The ranks here of a group. False: some are not members.
  bool Translate(MPI_Group group, std::vector<int>* ranks) const;

 private:
  CarriedWindow() = default;

  // Makes the MPI's handle; why this rank carries no window, else empty.
  std::string MakeHandle(Runtime* runtime, const WindowRequest& request);
  // Whether the address of the part of `rank` is not null.
  bool HasAddress(int rank) const { return !empty_parts_are_null_ || window_->bytes_of(rank) > 0; }
  // Why it cannot be carried, if so; the same on all ranks. `turn`: of Makers, where it needs one.
  Status Open(Runtime* runtime, const WindowRequest& request, Bootstrap* bootstrap,
              std::optional<Makers::Turn>* turn);
  Status CheckReach(Settings::When when) const;

  MPI_Win handle_ = MPI_WIN_NULL;
  std::thread::id reserved_for_;
  std::unique_ptr<Window> window_;
  Window::Memory memory_;  // once it has ended
  MPI_Group group_ = MPI_GROUP_NULL;
  // Values that attributes point to.
  int flavor_ = MPI_WIN_FLAVOR_CREATE;
  int model_ = MPI_WIN_UNIFIED;
  int unit_ = 1;
  MPI_Aint bytes_ = 0;
  bool empty_parts_are_null_ = false;  // of a shared window, as the MPI has it
  void* base_ = nullptr;
};

// The window that a handle stands for; null: it is none of ours.
inline CarriedWindow* Carried(MPI_Win handle) {
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr) return nullptr;
  const Runtime::Entry entry(runtime);
  return runtime->Find(handle);
}

// An error of `routine`, which was called on a window that has ended.
int RaiseEnded(const CarriedWindow& window, const char* routine);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_CARRIED_WINDOW_H_
