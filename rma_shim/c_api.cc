// MPI's calls on windows. A call on a window that is not ours goes to the MPI. Nothing here calls
// another public name.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "patterns/settings/settings.h"
#include "rma_shim/carried_window.h"
#include "rma_shim/errors.h"
#include "rma_shim/operation.h"
#include "rma_shim/original.h"
#include "rma_shim/public.h"
#include "rma_shim/requests.h"
#include "rma_shim/runtime.h"
#include "transport/host_memory/shared_allocations.h"

namespace {

using brigade::FencePromise;
using brigade::LockKind;
using brigade::Settings;
using brigade::SharedAllocations;
using brigade::Status;
using brigade::StatusCode;
using brigade::Window;
using brigade::rma::Carried;
using brigade::rma::CarriedWindow;
using brigade::rma::ErrorClassOf;
using brigade::rma::MpiIsActive;
using brigade::rma::Operation;
using brigade::rma::Outcome;
using brigade::rma::Raise;
using brigade::rma::RaiseEnded;
using brigade::rma::Requests;
using brigade::rma::Runtime;
using brigade::rma::WindowRequest;
using Kind = Operation::Kind;

// What `call` says, which no other thread is within meanwhile. Error handlers of the program are
// called behind it.
template <typename Call>
auto Alone(const Call& call) {
  const Runtime::Entry entry(Runtime::Current());
  return call();
}

int Answer(const CarriedWindow& window, const char* routine, int error, const std::string& text) {
  if (error == MPI_SUCCESS) return error;
  return Raise(window.handle(), routine, error, text, Runtime::Current()->settings().log_info);
}

// The window of ours that a call is on. Null: it is the MPI's, unless *error is set: then it is
// ours and has ended.
CarriedWindow* Usable(const char* routine, MPI_Win handle, int* error) {
  CarriedWindow* const carried = Carried(handle);
  if (carried == nullptr || !carried->has_ended()) return carried;
  *error = RaiseEnded(*carried, routine);
  return nullptr;
}

// --- making and freeing ---

// The first window names what is wrong with the settings.
bool GivesMemory() {
  static const bool gives = [] {
    Settings settings;
    return brigade::ReadSettings(&settings).ok() && settings.rma != Settings::When::kOff;
  }();
  return gives;
}

// What MPI 4 lets a program ask of memory; 0: nothing.
size_t AlignmentIn(MPI_Info info) {
  if (info == MPI_INFO_NULL) return 0;
  char value[24] = "";
  int is_found = 0;
  MPI_Info_get(info, "mpi_minimum_memory_alignment", sizeof(value) - 1, value, &is_found);
  return is_found ? std::strtoul(value, nullptr, 10) : 0;
}

// Null: the MPI makes it.
CarriedWindow* Make(const char* routine, const WindowRequest& request) {
  int is_inter = 1;
  if (!MpiIsActive() || request.comm == MPI_COMM_NULL || request.bytes < 0) return nullptr;
  MPI_Comm_test_inter(request.comm, &is_inter);
  if (is_inter) return nullptr;
  return CarriedWindow::Create(Runtime::Start(routine), routine, request);
}

// --- synchronisation ---

// Runs `call(window)` on a window that is ours; false: it is not. *error: MPI_SUCCESS before.
template <typename Call>
bool Synchronise(const char* routine, MPI_Win handle, int refused, const Call& call, int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  const Status status = Alone([&] {
    Runtime::Current()->CountCall();
    return call(carried->window());
  });
  *error = MPI_SUCCESS;
  if (!status.ok()) {
    const int found =
        status.code() == StatusCode::kInvalidArgument ? refused : ErrorClassOf(status);
    *error = Answer(*carried, routine, found, status.message());
  }
  return true;
}

template <typename Call>
bool ChangeAttached(const char* routine, MPI_Win handle, const Call& call, int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  const int refused = carried->window()->is_dynamic() ? MPI_ERR_RMA_ATTACH : MPI_ERR_RMA_FLAVOR;
  return Synchronise(routine, handle, refused, call, error);
}

// What names one target: MPI_PROC_NULL is none.
template <typename Call>
bool SynchroniseTarget(const char* routine, MPI_Win handle, int rank, const Call& call,
                       int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  const bool is_member = rank >= 0 && rank < carried->window()->size();
  return Synchronise(
      routine, handle, is_member ? MPI_ERR_RMA_SYNC : MPI_ERR_RANK,
      [&](Window* window) { return rank == MPI_PROC_NULL ? Status() : call(window); }, error);
}

template <typename Call>
bool SynchroniseGroup(const char* routine, MPI_Win handle, MPI_Group group, const Call& call,
                      int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  std::vector<int> ranks;
  if (group == MPI_GROUP_NULL || !carried->Translate(group, &ranks)) {
    *error = Answer(*carried, routine, MPI_ERR_GROUP, "a group with others than the window's");
    return true;
  }
  return Synchronise(
      routine, handle, MPI_ERR_RMA_SYNC, [&](Window* window) { return call(window, ranks); },
      error);
}

// --- operations ---

bool Operate(const char* routine, MPI_Win handle, const Operation& operation, int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  const Outcome outcome = Alone([&] {
    return brigade::rma::Run(carried->window(), Runtime::Current()->datatypes(), operation,
                             nullptr);
  });
  *error = Answer(*carried, routine, outcome.error, outcome.text);
  return true;
}

// As Operate, with a request for its local end.
bool OperateWithRequest(const char* routine, MPI_Win handle, const Operation& operation,
                        MPI_Request* request, int* error) {
  CarriedWindow* const carried = Usable(routine, handle, error);
  if (carried == nullptr) return *error != MPI_SUCCESS;
  const Outcome outcome = Alone([&] {
    Runtime* const runtime = Runtime::Current();
    runtime->CountCall();
    auto started = std::make_unique<Requests::Operation>();
    started->window = carried;
    Outcome found =
        brigade::rma::Run(carried->window(), runtime->datatypes(), operation, &started->over);
    if (found.error == MPI_SUCCESS) runtime->requests()->Add(started.release(), request);
    return found;
  });
  *error = Answer(*carried, routine, outcome.error, outcome.text);
  return true;
}

Operation Put(const void* memory, int64_t count, MPI_Datatype type, int rank, MPI_Aint displacement,
              int64_t target_count, MPI_Datatype target_type) {
  Operation operation;
  operation.origin = {memory, count, type};
  operation.rank = rank;
  operation.displacement = displacement;
  operation.count = target_count;
  operation.type = target_type;
  return operation;
}

Operation Get(void* memory, int64_t count, MPI_Datatype type, int rank, MPI_Aint displacement,
              int64_t target_count, MPI_Datatype target_type) {
  Operation operation = Put(nullptr, 0, type, rank, displacement, target_count, target_type);
  operation.kind = Kind::kGet;
  operation.result = {memory, count, type};
  return operation;
}

Operation Accumulate(const void* memory, int64_t count, MPI_Datatype type, int rank,
                     MPI_Aint displacement, int64_t target_count, MPI_Datatype target_type,
                     MPI_Op op) {
  Operation operation = Put(memory, count, type, rank, displacement, target_count, target_type);
  operation.kind = Kind::kAccumulate;
  operation.op = op;
  return operation;
}

Operation GetAccumulate(const void* memory, int64_t count, MPI_Datatype type, void* result,
                        int64_t result_count, MPI_Datatype result_type, int rank,
                        MPI_Aint displacement, int64_t target_count, MPI_Datatype target_type,
                        MPI_Op op) {
  Operation operation =
      Accumulate(memory, count, type, rank, displacement, target_count, target_type, op);
  operation.kind = Kind::kGetAccumulate;
  operation.result = {result, result_count, result_type};
  return operation;
}

}  // namespace

extern "C" void brigade_take_find_next(void* (*find)(const char*)) {
  brigade::rma::find_next = find;
}

// What we do not give the MPI does, or says why not.
PUBLIC(Alloc_mem, (MPI_Aint size, MPI_Info info, void* base)) {
  if (!MpiIsActive() || size <= 0 || !GivesMemory()) {
    return ORIGINAL(Alloc_mem)(size, info, base);
  }
  // Memory of up to a page is aligned to its length, and longer memory to a page.
  const size_t alignment = AlignmentIn(info);
  const size_t bytes = std::max(static_cast<size_t>(size), alignment);
  auto** const memory = static_cast<void**>(base);
  return alignment <= static_cast<size_t>(sysconf(_SC_PAGESIZE)) &&
                 SharedAllocations::Here().Allocate(bytes, memory).ok()
             ? MPI_SUCCESS
             : ORIGINAL(Alloc_mem)(size, info, base);
}

PUBLIC(Free_mem, (void* base)) {
  return SharedAllocations::Here().Free(base) ? MPI_SUCCESS : ORIGINAL(Free_mem)(base);
}

PUBLIC(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win)) {
  const CarriedWindow* const made =
      Make("MPI_Win_create_dynamic", {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1, info, comm});
  if (made == nullptr) return ORIGINAL(Win_create_dynamic)(info, comm, win);
  *win = made->handle();
  return MPI_SUCCESS;
}

PUBLIC(Win_attach, (MPI_Win win, void* base, MPI_Aint size)) {
  int error = MPI_SUCCESS;
  return ChangeAttached(
             "MPI_Win_attach", win,
             [&](Window* window) {
               return window->Attach(static_cast<std::byte*>(base), static_cast<size_t>(size));
             },
             &error)
             ? error
             : ORIGINAL(Win_attach)(win, base, size);
}

PUBLIC(Win_detach, (MPI_Win win, const void* base)) {
  int error = MPI_SUCCESS;
  return ChangeAttached(
             "MPI_Win_detach", win,
             [&](Window* window) { return window->Detach(static_cast<const std::byte*>(base)); },
             &error)
             ? error
             : ORIGINAL(Win_detach)(win, base);
}

PUBLIC(Win_free, (MPI_Win * win)) {
  int error = MPI_SUCCESS;
  CarriedWindow* const carried = Carried(*win);
  if (carried == nullptr) return ORIGINAL(Win_free)(win);
  Runtime* const runtime = Runtime::Current();
  if (!carried->has_ended()) {  // of one that has, the handle alone is left
    Synchronise(
        "MPI_Win_free", *win, MPI_ERR_RMA_SYNC,
        [&](Window* window) {
          BRIGADE_RETURN_IF_ERROR(window->Free());
          runtime->requests()->Complete(carried);
          // The MPI gives the handle away before it returns.
          runtime->TellTo(std::this_thread::get_id(), carried);
          return Status();
        },
        &error);
    if (error != MPI_SUCCESS) return error;
  }
  // Callbacks of the program's attributes may wait for threads that work with other windows.
  error = ORIGINAL(Win_free)(win);
  const Runtime::Entry entry(runtime);
  if (error != MPI_SUCCESS) {
    runtime->TellTo(std::thread::id(), carried);
    return error;
  }
  carried->ForgetHandle();
  runtime->Remove(carried);
  return MPI_SUCCESS;
}

PUBLIC(Win_get_attr, (MPI_Win win, int keyval, void* value, int* flag)) {
  CarriedWindow* const carried = Carried(win);
  if (carried == nullptr || !carried->FindAttribute(keyval, static_cast<void**>(value))) {
    return ORIGINAL(Win_get_attr)(win, keyval, value, flag);
  }
  *flag = 1;
  return MPI_SUCCESS;
}

PUBLIC(Win_get_group, (MPI_Win win, MPI_Group* group)) {
  const CarriedWindow* const carried = Carried(win);
  if (carried == nullptr) return ORIGINAL(Win_get_group)(win, group);
  return MPI_Group_union(carried->group(), MPI_GROUP_EMPTY, group);
}

PUBLIC(Win_fence, (int assert, MPI_Win win)) {
  int error = MPI_SUCCESS;
  const FencePromise promise{(assert& MPI_MODE_NOPRECEDE) != 0, (assert& MPI_MODE_NOSUCCEED) != 0};
  return Synchronise(
             "MPI_Win_fence", win, MPI_ERR_RMA_SYNC,
             [&](Window* window) { return window->Fence(promise); }, &error)
             ? error
             : ORIGINAL(Win_fence)(assert, win);
}

PUBLIC(Win_post, (MPI_Group group, int assert, MPI_Win win)) {
  int error = MPI_SUCCESS;
  return SynchroniseGroup(
             "MPI_Win_post", win, group,
             [](Window* window, const std::vector<int>& ranks) { return window->Post(ranks); },
             &error)
             ? error
             : ORIGINAL(Win_post)(group, assert, win);
}

PUBLIC(Win_start, (MPI_Group group, int assert, MPI_Win win)) {
  int error = MPI_SUCCESS;
  return SynchroniseGroup(
             "MPI_Win_start", win, group,
             [](Window* window, const std::vector<int>& ranks) { return window->Start(ranks); },
             &error)
             ? error
             : ORIGINAL(Win_start)(group, assert, win);
}

PUBLIC(Win_test, (MPI_Win win, int* flag)) {
  int error = MPI_SUCCESS;
  return Synchronise(
             "MPI_Win_test", win, MPI_ERR_RMA_SYNC,
             [&](Window* window) {
               bool over = false;
               const Status status = window->Test(&over);
               *flag = over;
               return status;
             },
             &error)
             ? error
             : ORIGINAL(Win_test)(win, flag);
}

PUBLIC(Win_lock, (int type, int rank, int assert, MPI_Win win)) {
  int error = MPI_SUCCESS;
  CarriedWindow* const carried = Carried(win);
  if (carried != nullptr && type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) {
    return Answer(*carried, "MPI_Win_lock", MPI_ERR_LOCKTYPE, "lock type " + std::to_string(type));
  }
  const LockKind kind = type == MPI_LOCK_EXCLUSIVE ? LockKind::kExclusive : LockKind::kShared;
  return SynchroniseTarget(
             "MPI_Win_lock", win, rank,
             [&](Window* window) {
               // Programs rely on it that no lock is taken then: OpenCoarrays waits for an event
               // within such an epoch, and who posts it asks for an exclusive lock.
               return (assert& MPI_MODE_NOCHECK) != 0 ? window->LockUnchecked(rank)
                                                      : window->Lock(kind, rank);
             },
             &error)
             ? error
             : ORIGINAL(Win_lock)(type, rank, assert, win);
}

PUBLIC(Win_lock_all, (int assert, MPI_Win win)) {
  int error = MPI_SUCCESS;
  return Synchronise(
             "MPI_Win_lock_all", win, MPI_ERR_RMA_SYNC,
             [&](Window* window) {
               return (assert& MPI_MODE_NOCHECK) != 0 ? window->LockAllUnchecked()
                                                      : window->LockAll();
             },
             &error)
             ? error
             : ORIGINAL(Win_lock_all)(assert, win);
}

// Calls on a window alone, and on one target of it.
#define PUBLIC_OF_WINDOW(name, method)                                  \
  PUBLIC(name, (MPI_Win win)) {                                         \
    int error = MPI_SUCCESS;                                            \
    return Synchronise(                                                 \
               "MPI_" #name, win, MPI_ERR_RMA_SYNC,                     \
               [](Window* window) { return window->method(); }, &error) \
               ? error                                                  \
               : ORIGINAL(name)(win);                                   \
  }
#define PUBLIC_OF_TARGET(name, method)                                                        \
  PUBLIC(name, (int rank, MPI_Win win)) {                                                     \
    int error = MPI_SUCCESS;                                                                  \
    return SynchroniseTarget(                                                                 \
               "MPI_" #name, win, rank, [&](Window* window) { return window->method(rank); }, \
               &error)                                                                        \
               ? error                                                                        \
               : ORIGINAL(name)(rank, win);                                                   \
  }

PUBLIC_OF_WINDOW(Win_complete, Complete)
PUBLIC_OF_WINDOW(Win_wait, Wait)
PUBLIC_OF_WINDOW(Win_unlock_all, UnlockAll)
PUBLIC_OF_WINDOW(Win_flush_all, FlushAll)
PUBLIC_OF_WINDOW(Win_flush_local_all, FlushLocalAll)
PUBLIC_OF_WINDOW(Win_sync, Sync)
PUBLIC_OF_TARGET(Win_unlock, Unlock)
PUBLIC_OF_TARGET(Win_flush, Flush)
PUBLIC_OF_TARGET(Win_flush_local, FlushLocal)

PUBLIC(Fetch_and_op, (const void* origin, void* result, MPI_Datatype type, int rank,
                      MPI_Aint displacement, MPI_Op op, MPI_Win win)) {
  int error = MPI_SUCCESS;
  // With layouts, for some pairs have gaps.
  Operation operation =
      GetAccumulate(origin, 1, type, result, 1, type, rank, displacement, 1, type, op);
  operation.is_of_one = true;
  return Operate("MPI_Fetch_and_op", win, operation, &error)
             ? error
             : ORIGINAL(Fetch_and_op)(origin, result, type, rank, displacement, op, win);
}

PUBLIC(Compare_and_swap, (const void* origin, const void* compare, void* result, MPI_Datatype type,
                          int rank, MPI_Aint displacement, MPI_Win win)) {
  int error = MPI_SUCCESS;
  Operation operation = Put(origin, 1, type, rank, displacement, 1, type);
  operation.kind = Kind::kCompareAndSwap;
  operation.expected = compare;
  operation.result = {result, 1, type};
  return Operate("MPI_Compare_and_swap", win, operation, &error)
             ? error
             : ORIGINAL(Compare_and_swap)(origin, compare, result, type, rank, displacement, win);
}

#define COUNT int
#define UNIT int
#define PUBLIC_COUNTED(name, parameters) PUBLIC(name, parameters)
#define ORIGINAL_COUNTED(name) ORIGINAL(name)
#include "rma_shim/counted_api.inc"

// Since MPI 4.
#if MPI_VERSION >= 4
#undef COUNT
#undef UNIT
#undef PUBLIC_COUNTED
#undef ORIGINAL_COUNTED
#define COUNT MPI_Count
#define UNIT MPI_Aint
#define PUBLIC_COUNTED(name, parameters) PUBLIC(name##_c, parameters)
#define ORIGINAL_COUNTED(name) ORIGINAL(name##_c)
#include "rma_shim/counted_api.inc"
#endif
