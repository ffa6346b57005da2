// MPI's calls on windows. A call on a window that is not ours goes to the MPI. Nothing here calls
// another public name.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "patterns/engine/out_of_memory.h"
#include "patterns/settings/settings.h"
#include "rma_shim/carried_window.h"
#include "rma_shim/errors.h"
#include "rma_shim/operation.h"
#include "rma_shim/original.h"
#include "rma_shim/public.h"
#include "rma_shim/requests.h"
#include "rma_shim/runtime.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/mpi/mpi_environment.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"

namespace {

using brigade::CombineOp;
using brigade::FencePromise;
using brigade::LockKind;
using brigade::MpiIsActive;
using brigade::RmaKind;
using brigade::RmaRequest;
using brigade::Settings;
using brigade::SharedAllocations;
using brigade::Status;
using brigade::StatusCode;
using brigade::Window;
using brigade::rma::Carried;
using brigade::rma::CarriedWindow;
using brigade::rma::ErrorClassOf;
using brigade::rma::Operation;
using brigade::rma::Outcome;
using brigade::rma::Raise;
using brigade::rma::RaiseEnded;
using brigade::rma::Requests;
using brigade::rma::Runtime;
using brigade::rma::WindowRequest;

int Answer(const CarriedWindow& window, const char* routine, int error, const std::string& text) {
  if (error == MPI_SUCCESS) return error;
  return Raise(window.handle(), routine, error, text, Runtime::Current()->settings().log_info);
}

// Returns what `call(carried)` returns of a window that is ours, as an error of MPI. Returns no
// error if the window is the MPI's. The call enters the gate once, and is in it alone; error
// handlers of the program are called behind it.
template <typename Call>
std::optional<int> On(const char* routine, MPI_Win handle, const Call& call) {
  Runtime* const runtime = Runtime::Current();
  if (runtime == nullptr) return std::nullopt;
  CarriedWindow* carried = nullptr;
  bool has_ended = false;
  Outcome outcome;
  {
    const Runtime::Entry entry(runtime);
    carried = runtime->Find(handle);
    if (carried == nullptr) return std::nullopt;
    has_ended = carried->has_ended();
    if (!has_ended) {
      const Status thrown = carried->window()->CatchOutOfMemory([&] {
        outcome = call(carried);
        return Status();
      });
      if (!thrown.ok()) outcome = {ErrorClassOf(thrown), thrown.message()};
    }
  }
  if (has_ended) return RaiseEnded(*carried, routine);
  return Answer(*carried, routine, outcome.error, outcome.text);
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

// Returns the alignment that a program requests by an info key of MPI 4; 0: it requests none.
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
  CarriedWindow* made = nullptr;
  const Status status = brigade::CatchOutOfMemory([&] {
    made = CarriedWindow::Create(Runtime::Start(routine), routine, request);
    return Status();
  });
  // The other ranks are in the call.
  if (!status.ok()) brigade::rma::Fail(routine, status.ToString());
  return made;
}

// --- synchronisation ---

// The outcome of `call(window)`: `refused` is the class of a call that is refused.
template <typename Call>
Outcome OutcomeOf(CarriedWindow* carried, int refused, const Call& call) {
  Runtime::Current()->CountCall();
  const Status status = call(carried->window());
  if (status.ok()) return {};
  return {status.code() == StatusCode::kInvalidArgument ? refused : ErrorClassOf(status),
          status.message()};
}

template <typename Call>
std::optional<int> Synchronise(const char* routine, MPI_Win handle, const Call& call) {
  return On(routine, handle,
            [&](CarriedWindow* carried) { return OutcomeOf(carried, MPI_ERR_RMA_SYNC, call); });
}

template <typename Call>
std::optional<int> ChangeAttached(const char* routine, MPI_Win handle, const Call& call) {
  return On(routine, handle, [&](CarriedWindow* carried) {
    const bool is_dynamic = carried->window()->is_dynamic();
    return OutcomeOf(carried, is_dynamic ? MPI_ERR_RMA_ATTACH : MPI_ERR_RMA_FLAVOR, call);
  });
}

// The outcome of a call on one target: MPI_PROC_NULL is none.
template <typename Call>
Outcome OutcomeOfTarget(CarriedWindow* carried, int rank, const Call& call) {
  const bool is_member = rank >= 0 && rank < carried->window()->size();
  return OutcomeOf(carried, is_member ? MPI_ERR_RMA_SYNC : MPI_ERR_RANK,
                   [&](Window* window) { return rank == MPI_PROC_NULL ? Status() : call(window); });
}

template <typename Call>
std::optional<int> SynchroniseGroup(const char* routine, MPI_Win handle, MPI_Group group,
                                    const Call& call) {
  return On(routine, handle, [&](CarriedWindow* carried) -> Outcome {
    std::vector<int> ranks;
    if (group == MPI_GROUP_NULL || !carried->Translate(group, &ranks)) {
      return {MPI_ERR_GROUP, "a group with ranks that are not in the window"};
    }
    return OutcomeOf(carried, MPI_ERR_RMA_SYNC,
                     [&](Window* window) { return call(window, ranks); });
  });
}

// --- operations ---

std::optional<int> Operate(const char* routine, MPI_Win handle, Operation operation) {
  return On(routine, handle, [&](CarriedWindow* carried) {
    return brigade::rma::Run(carried->window(), Runtime::Current()->datatypes(), &operation);
  });
}

// As Operate, with a request for its local end.
std::optional<int> OperateWithRequest(const char* routine, MPI_Win handle, Operation operation,
                                      MPI_Request* request) {
  // Outlives On: behind a failure that breaks the window no operation sets its `over` any more.
  std::unique_ptr<Requests::Operation> started;
  return On(routine, handle, [&](CarriedWindow* carried) {
    Runtime* const runtime = Runtime::Current();
    runtime->CountCall();
    started = std::make_unique<Requests::Operation>();
    started->window = carried;
    operation.request.over = &started->over;
    Outcome found = brigade::rma::Run(carried->window(), runtime->datatypes(), &operation);
    if (found.error == MPI_SUCCESS) runtime->requests()->Add(started.release(), request);
    return found;
  });
}

RmaRequest::Values Values(const void* memory, int64_t count) {
  // Casts const away: Values also describes results. Operations only read their sources.
  return {static_cast<std::byte*>(const_cast<void*>(memory)), nullptr, count};
}

Operation Put(const void* memory, int64_t count, MPI_Datatype type, int rank, MPI_Aint displacement,
              int64_t target_count, MPI_Datatype target_type) {
  Operation operation;
  operation.request.send = Values(memory, count);
  operation.request.rank = rank;
  operation.request.displacement = displacement;
  operation.request.target.count = target_count;
  operation.origin_type = type;
  operation.target_type = target_type;
  return operation;
}

Operation Get(void* memory, int64_t count, MPI_Datatype type, int rank, MPI_Aint displacement,
              int64_t target_count, MPI_Datatype target_type) {
  Operation operation = Put(nullptr, 0, type, rank, displacement, target_count, target_type);
  operation.request.kind = RmaKind::kGet;
  operation.request.op = CombineOp::kNoOp;
  operation.request.receive = Values(memory, count);
  operation.result_type = type;
  return operation;
}

Operation Accumulate(const void* memory, int64_t count, MPI_Datatype type, int rank,
                     MPI_Aint displacement, int64_t target_count, MPI_Datatype target_type,
                     MPI_Op op) {
  Operation operation = Put(memory, count, type, rank, displacement, target_count, target_type);
  operation.request.kind = RmaKind::kAccumulate;
  operation.op = op;
  return operation;
}

Operation GetAccumulate(const void* memory, int64_t count, MPI_Datatype type, void* result,
                        int64_t result_count, MPI_Datatype result_type, int rank,
                        MPI_Aint displacement, int64_t target_count, MPI_Datatype target_type,
                        MPI_Op op) {
  Operation operation =
      Accumulate(memory, count, type, rank, displacement, target_count, target_type, op);
  operation.request.kind = RmaKind::kFetch;
  operation.request.receive = Values(result, result_count);
  operation.result_type = result_type;
  return operation;
}

}  // namespace

extern "C" void brigade_take_find_next(void* (*find)(const char*)) {
  brigade::rma::find_next = find;
}

// If Brigade does not allocate the memory, the MPI allocates it, or returns an error.
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
  const auto error = ChangeAttached("MPI_Win_attach", win, [&](Window* window) {
    return window->Attach(static_cast<std::byte*>(base), static_cast<size_t>(size));
  });
  return error ? *error : ORIGINAL(Win_attach)(win, base, size);
}

PUBLIC(Win_detach, (MPI_Win win, const void* base)) {
  const auto error = ChangeAttached("MPI_Win_detach", win, [&](Window* window) {
    return window->Detach(static_cast<const std::byte*>(base));
  });
  return error ? *error : ORIGINAL(Win_detach)(win, base);
}

PUBLIC(Win_free, (MPI_Win * win)) {
  CarriedWindow* const carried = Carried(*win);
  if (carried == nullptr) return ORIGINAL(Win_free)(win);
  Runtime* const runtime = Runtime::Current();
  if (!carried->has_ended()) {  // of one that has, the handle alone is left
    const auto error = Synchronise("MPI_Win_free", *win, [&](Window* window) {
      BRIGADE_RETURN_IF_ERROR(window->Free());
      runtime->requests()->Complete(carried);
      // The MPI gives the handle away before it returns.
      runtime->ReserveFor(std::this_thread::get_id(), carried);
      return Status();
    });
    if (error != MPI_SUCCESS) return *error;
  }
  // Callbacks of the program's attributes may wait for threads that work with other windows.
  const int error = ORIGINAL(Win_free)(win);
  const Runtime::Entry entry(runtime);
  if (error != MPI_SUCCESS) {
    runtime->ReserveFor(std::thread::id(), carried);
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
  const FencePromise promise{(assert& MPI_MODE_NOPRECEDE) != 0, (assert& MPI_MODE_NOSUCCEED) != 0};
  const auto error =
      Synchronise("MPI_Win_fence", win, [&](Window* window) { return window->Fence(promise); });
  return error ? *error : ORIGINAL(Win_fence)(assert, win);
}

PUBLIC(Win_post, (MPI_Group group, int assert, MPI_Win win)) {
  const auto error = SynchroniseGroup(
      "MPI_Win_post", win, group,
      [](Window* window, const std::vector<int>& ranks) { return window->Post(ranks); });
  return error ? *error : ORIGINAL(Win_post)(group, assert, win);
}

PUBLIC(Win_start, (MPI_Group group, int assert, MPI_Win win)) {
  const auto error = SynchroniseGroup(
      "MPI_Win_start", win, group,
      [](Window* window, const std::vector<int>& ranks) { return window->Start(ranks); });
  return error ? *error : ORIGINAL(Win_start)(group, assert, win);
}

PUBLIC(Win_test, (MPI_Win win, int* flag)) {
  const auto error = Synchronise("MPI_Win_test", win, [&](Window* window) {
    bool over = false;
    const Status status = window->Test(&over);
    *flag = over;
    return status;
  });
  return error ? *error : ORIGINAL(Win_test)(win, flag);
}

PUBLIC(Win_lock, (int type, int rank, int assert, MPI_Win win)) {
  const auto error = On("MPI_Win_lock", win, [&](CarriedWindow* carried) -> Outcome {
    if (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) {
      return {MPI_ERR_LOCKTYPE, "lock type " + std::to_string(type)};
    }
    const LockKind kind = type == MPI_LOCK_EXCLUSIVE ? LockKind::kExclusive : LockKind::kShared;
    return OutcomeOfTarget(carried, rank, [&](Window* window) {
      // Programs rely on it that no lock is taken then: OpenCoarrays waits for an event within such
      // an epoch, and the rank that posts it requests an exclusive lock.
      return (assert& MPI_MODE_NOCHECK) != 0 ? window->LockUnchecked(rank)
                                             : window->Lock(kind, rank);
    });
  });
  return error ? *error : ORIGINAL(Win_lock)(type, rank, assert, win);
}

PUBLIC(Win_lock_all, (int assert, MPI_Win win)) {
  const auto error = Synchronise("MPI_Win_lock_all", win, [&](Window* window) {
    return (assert& MPI_MODE_NOCHECK) != 0 ? window->LockAllUnchecked() : window->LockAll();
  });
  return error ? *error : ORIGINAL(Win_lock_all)(assert, win);
}

// Calls on a window alone, and on one target of it.
#define PUBLIC_OF_WINDOW(name, method)                                                   \
  PUBLIC(name, (MPI_Win win)) {                                                          \
    const auto error =                                                                   \
        Synchronise("MPI_" #name, win, [](Window* window) { return window->method(); }); \
    return error ? *error : ORIGINAL(name)(win);                                         \
  }
#define PUBLIC_OF_TARGET(name, method)                                                             \
  PUBLIC(name, (int rank, MPI_Win win)) {                                                          \
    const auto error = On("MPI_" #name, win, [&](CarriedWindow* carried) {                         \
      return OutcomeOfTarget(carried, rank, [&](Window* window) { return window->method(rank); }); \
    });                                                                                            \
    return error ? *error : ORIGINAL(name)(rank, win);                                             \
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
  // With layouts, for some pairs have gaps.
  Operation operation =
      GetAccumulate(origin, 1, type, result, 1, type, rank, displacement, 1, type, op);
  operation.is_of_one = true;
  const auto error = Operate("MPI_Fetch_and_op", win, operation);
  return error ? *error : ORIGINAL(Fetch_and_op)(origin, result, type, rank, displacement, op, win);
}

PUBLIC(Compare_and_swap, (const void* origin, const void* compare, void* result, MPI_Datatype type,
                          int rank, MPI_Aint displacement, MPI_Win win)) {
  Operation operation = Put(origin, 1, type, rank, displacement, 1, type);
  operation.request.kind = RmaKind::kSwap;
  operation.request.expected = compare;
  operation.request.receive = Values(result, 1);
  operation.result_type = type;
  const auto error = Operate("MPI_Compare_and_swap", win, operation);
  return error ? *error
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
