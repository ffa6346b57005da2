// The C interface of windows: unwrap, call, convert the error.

#include "brigade/window.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "transport/bootstrap.h"
#include "windows/api/layout_handle.h"
#include "windows/api/window_handle.h"
#include "windows/core/window.h"
#include "windows/memory/member.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/window_space.h"
#include "windows/sync/lock_queue.h"

namespace {

using brigade::CheckPointer;
using brigade::CombineOp;
using brigade::Element;
using brigade::Engine;
using brigade::Enter;
using brigade::Invalid;
using brigade::RmaKind;
using brigade::RmaRequest;
using brigade::Status;
using brigade::ToC;
using brigade::Window;

Status ToOp(int c, CombineOp* op) {
  static_assert(brigade::kCombineOps == BRIGADE_NO_OP + 1, "the numbers are those of C");
  BRIGADE_RETURN_IF_ERROR(brigade::Translate("op", c, brigade::kCombineOps, op));
  if (*op != CombineOp::kAbsMax && *op != CombineOp::kAbsMin && *op != CombineOp::kUser) {
    return Status();
  }
  return Invalid("op " + std::to_string(c) + " is not for windows");
}

Status ToValues(const char* name, const brigade_values* c, RmaRequest::Values* values) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, c));
  BRIGADE_RETURN_IF_ERROR(CheckPointer("layout", c->layout).WithContext(name));
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (c->count < 0 || !c->layout->layout.Bounds(c->count, &low, &high, &bytes)) {
    return Invalid(std::string(name) + ": a count of " + std::to_string(c->count) +
                   ": must be 0 or more, of less than 2^62 bytes");
  }
  if (bytes > 0) BRIGADE_RETURN_IF_ERROR(CheckPointer("data", c->data).WithContext(name));
  *values = {static_cast<std::byte*>(c->data), &c->layout->layout, c->count};
  return Status();
}

Status ToTarget(const brigade_target* c, RmaRequest* request) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("target", c));
  BRIGADE_RETURN_IF_ERROR(CheckPointer("layout", c->layout).WithContext("target"));
  request->rank = c->rank;
  request->displacement = c->displacement;
  request->target = {nullptr, &c->layout->layout, c->count};
  return Status();
}

// Different ranks.
Status ToRanks(const int* c, int count, std::vector<int>* ranks) {
  if (count < 0) return Invalid("a count of " + std::to_string(count) + " ranks");
  if (count > 0) BRIGADE_RETURN_IF_ERROR(CheckPointer("ranks", c));
  ranks->assign(c, c + count);
  std::vector<int> sorted = *ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return Invalid("rank " + std::to_string(*twice) + " is named twice");
  return Status();
}

// Returns the outcome of call(Window*) as a C status.
template <typename Call>
brigade_status On(brigade_window* window, const Call& call) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("window", window));
    BRIGADE_RETURN_IF_ERROR(window->failure);
    Window* const inside = window->window.get();
    Status status = inside->CatchOutOfMemory([&] { return call(inside); });
    if (!status.ok()) window->failure = inside->failure();
    return status;
  });
}

// Begins an operation, to which `fill` gives its values. A `c_request` is made if it is wanted.
template <typename Fill>
brigade_status Begin(brigade_window* window, RmaKind kind, const brigade_target* target,
                     brigade_window_request** c_request, const Fill& fill) {
  if (c_request != nullptr) *c_request = nullptr;
  // Outlives On: behind a failure that breaks the window no operation sets its `over` any more.
  std::unique_ptr<brigade_window_request> made;
  return On(window, [&](Window* inside) -> Status {
    RmaRequest request;
    request.kind = kind;
    BRIGADE_RETURN_IF_ERROR(fill(&request));
    BRIGADE_RETURN_IF_ERROR(ToTarget(target, &request));
    if (c_request == nullptr) return inside->Run(&request);
    made = std::make_unique<brigade_window_request>();
    made->window = window;
    request.over = &made->over;
    BRIGADE_RETURN_IF_ERROR(inside->Run(&request));
    ++window->requests;
    *c_request = made.release();
    return Status();
  });
}

// Returns the outcome of kCall(first..., values, target, no request), with `count` adjacent
// elements on both sides.
template <auto kCall, typename... First>
brigade_status OnRun(const void* data, int64_t count, brigade_type type, int rank,
                     int64_t displacement, First... first) {
  Element element;
  const Status known = brigade::ToElement(type, &element);
  if (!known.ok()) return ToC(known);
  const brigade_layout* const layout = brigade_layout_of(type);
  // Puts and accumulates only read `data`. A get passes memory that is not const.
  const brigade_values values{const_cast<void*>(data), count, layout};
  const brigade_target target{rank, displacement, count, layout};
  return kCall(first..., &values, &target, nullptr);
}

bool HasRank(const brigade_window* window, int rank) {
  return window != nullptr && rank >= 0 && rank < window->window->size();
}

Status Make(brigade_group* group, brigade::WindowOptions options, brigade_window** window) {
  return brigade::MakeObject("window", window, [&](brigade_window* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    options.is_checked = group->engine->checks_windows;
    return brigade::MakeInSpace(group,
                                [&](brigade::WindowSpace* space, brigade::Bootstrap* bootstrap) {
                                  return Window::Create(space, bootstrap, options, &made->window);
                                });
  });
}

}  // namespace

// --- windows ---

brigade_status brigade_window_create(brigade_group* group, void* memory, size_t bytes, int64_t unit,
                                     brigade_window** window) {
  brigade::WindowOptions options;
  options.memory = static_cast<std::byte*>(memory);
  options.bytes = bytes;
  options.unit = unit;
  return Enter(group, [&] { return Make(group, options, window); });
}

brigade_status brigade_window_allocate(brigade_group* group, size_t bytes, int64_t unit,
                                       void** memory, brigade_window** window) {
  return Enter(group, [&]() -> Status {
    if (window != nullptr) *window = nullptr;
    BRIGADE_RETURN_IF_ERROR(CheckPointer("memory", memory));
    brigade::WindowOptions options;
    options.kind = brigade::WindowMemory::kShared;
    options.bytes = bytes;
    options.unit = unit;
    BRIGADE_RETURN_IF_ERROR(Make(group, options, window));
    *memory = (*window)->window->base();
    return Status();
  });
}

brigade_status brigade_window_create_dynamic(brigade_group* group, brigade_window** window) {
  brigade::WindowOptions options;
  options.kind = brigade::WindowMemory::kDynamic;
  return Enter(group, [&] { return Make(group, options, window); });
}

brigade_status brigade_window_attach(brigade_window* window, void* memory, size_t bytes) {
  return On(window, [&](Window* inside) -> Status {
    if (bytes > 0) BRIGADE_RETURN_IF_ERROR(CheckPointer("memory", memory));
    return inside->Attach(static_cast<const std::byte*>(memory), bytes);
  });
}

brigade_status brigade_window_detach(brigade_window* window, const void* memory) {
  return On(window,
            [&](Window* inside) { return inside->Detach(static_cast<const std::byte*>(memory)); });
}

brigade_status brigade_window_free(brigade_window* window) {
  if (window == nullptr) return BRIGADE_OK;
  if (window->requests > 0) {
    return Enter(nullptr, [&] {
      return Invalid(std::to_string(window->requests) +
                     " requests of the window were not waited for");
    });
  }
  const brigade_status status = On(window, [](Window* inside) { return inside->Free(); });
  if (status != BRIGADE_INVALID_ARGUMENT) delete window;
  return status;
}

void brigade_window_destroy(brigade_window* window) { delete window; }

int brigade_window_size(const brigade_window* window) {
  return window == nullptr ? -1 : window->window->size();
}
int brigade_window_rank(const brigade_window* window) {
  return window == nullptr ? -1 : window->window->rank();
}

int64_t brigade_window_bytes(const brigade_window* window, int rank) {
  return HasRank(window, rank) ? window->window->bytes_of(rank) : -1;
}

int64_t brigade_window_unit(const brigade_window* window, int rank) {
  return HasRank(window, rank) ? window->window->unit_of(rank) : -1;
}

void* brigade_window_pointer(const brigade_window* window, int rank) {
  return HasRank(window, rank) ? window->window->PointerTo(rank) : nullptr;
}

// --- operations on runs ---

brigade_status brigade_window_put(brigade_window* window, const void* data, int64_t count,
                                  brigade_type type, int rank, int64_t displacement) {
  return OnRun<brigade_window_put_values>(data, count, type, rank, displacement, window);
}

brigade_status brigade_window_get(brigade_window* window, void* result, int64_t count,
                                  brigade_type type, int rank, int64_t displacement) {
  return OnRun<brigade_window_get_values>(result, count, type, rank, displacement, window);
}

brigade_status brigade_window_accumulate(brigade_window* window, brigade_op op, const void* data,
                                         int64_t count, brigade_type type, int rank,
                                         int64_t displacement) {
  return OnRun<brigade_window_accumulate_values>(data, count, type, rank, displacement, window, op);
}

brigade_status brigade_window_put_notify(brigade_window* window, const void* data, int64_t count,
                                         brigade_type type, int rank, int64_t displacement) {
  return OnRun<brigade_window_put_notify_values>(data, count, type, rank, displacement, window);
}

brigade_status brigade_window_fetch_and_op(brigade_window* window, brigade_op op, brigade_type type,
                                           const void* value, void* result, int rank,
                                           int64_t displacement) {
  return On(window, [&](Window* inside) -> Status {
    CombineOp how;
    Element what;
    BRIGADE_RETURN_IF_ERROR(ToOp(op, &how));
    BRIGADE_RETURN_IF_ERROR(brigade::ToElement(type, &what));
    if (how != CombineOp::kNoOp) BRIGADE_RETURN_IF_ERROR(CheckPointer("value", value));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("result", result));
    return inside->FetchAndOp(how, what, value, result, rank, displacement);
  });
}

brigade_status brigade_window_compare_and_swap(brigade_window* window, brigade_type type,
                                               const void* expected, const void* desired,
                                               void* result, int rank, int64_t displacement) {
  return On(window, [&](Window* inside) -> Status {
    Element what;
    BRIGADE_RETURN_IF_ERROR(brigade::ToElement(type, &what));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("expected", expected));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("desired", desired));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("result", result));
    return inside->CompareAndSwap(what, expected, desired, result, rank, displacement);
  });
}

// --- operations on values of any layout ---

brigade_status brigade_window_put_values(brigade_window* window, const brigade_values* values,
                                         const brigade_target* target,
                                         brigade_window_request** request) {
  return Begin(window, RmaKind::kPut, target, request,
               [&](RmaRequest* put) { return ToValues("values", values, &put->send); });
}

brigade_status brigade_window_get_values(brigade_window* window, const brigade_values* result,
                                         const brigade_target* target,
                                         brigade_window_request** request) {
  return Begin(window, RmaKind::kGet, target, request, [&](RmaRequest* get) {
    get->op = CombineOp::kNoOp;
    return ToValues("result", result, &get->receive);
  });
}

brigade_status brigade_window_accumulate_values(brigade_window* window, brigade_op op,
                                                const brigade_values* values,
                                                const brigade_target* target,
                                                brigade_window_request** request) {
  return Begin(window, RmaKind::kAccumulate, target, request,
               [&](RmaRequest* accumulate) -> Status {
                 BRIGADE_RETURN_IF_ERROR(ToOp(op, &accumulate->op));
                 return ToValues("values", values, &accumulate->send);
               });
}

brigade_status brigade_window_get_accumulate(brigade_window* window, brigade_op op,
                                             const brigade_values* values,
                                             const brigade_values* result,
                                             const brigade_target* target,
                                             brigade_window_request** request) {
  return Begin(window, RmaKind::kFetch, target, request, [&](RmaRequest* fetch) -> Status {
    BRIGADE_RETURN_IF_ERROR(ToOp(op, &fetch->op));
    if (fetch->op != CombineOp::kNoOp) {
      BRIGADE_RETURN_IF_ERROR(ToValues("values", values, &fetch->send));
    }
    return ToValues("result", result, &fetch->receive);
  });
}

brigade_status brigade_window_put_notify_values(brigade_window* window,
                                                const brigade_values* values,
                                                const brigade_target* target,
                                                brigade_window_request** request) {
  return Begin(window, RmaKind::kPut, target, request, [&](RmaRequest* put) {
    put->end = brigade::AccessEnd::kNotification;
    return ToValues("values", values, &put->send);
  });
}

int brigade_window_request_test(brigade_window_request* request) {
  const auto progress = [](Window* inside) { return inside->Progress(); };
  if (request == nullptr || On(request->window, progress) != BRIGADE_OK) return 1;
  return request->over ? 1 : 0;
}

brigade_status brigade_window_request_wait(brigade_window_request* request) {
  if (request == nullptr) return BRIGADE_OK;
  const std::unique_ptr<brigade_window_request> ended(request);
  --request->window->requests;
  return On(request->window, [&](Window* inside) { return inside->WaitFor(request->over); });
}

// --- synchronisation ---

brigade_status brigade_window_fence(brigade_window* window, int promises) {
  return On(window, [&](Window* inside) -> Status {
    constexpr int kAll = BRIGADE_FENCE_NOTHING_PRECEDES | BRIGADE_FENCE_NOTHING_SUCCEEDS;
    if ((promises & ~kAll) != 0) {
      return Invalid("promises has no value " + std::to_string(promises));
    }
    return inside->Fence({(promises & BRIGADE_FENCE_NOTHING_PRECEDES) != 0,
                          (promises & BRIGADE_FENCE_NOTHING_SUCCEEDS) != 0});
  });
}

brigade_status brigade_window_start(brigade_window* window, const int* ranks, int count) {
  return On(window, [&](Window* inside) -> Status {
    std::vector<int> targets;
    BRIGADE_RETURN_IF_ERROR(ToRanks(ranks, count, &targets));
    return inside->Start(targets);
  });
}

brigade_status brigade_window_complete(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->Complete(); });
}

brigade_status brigade_window_post(brigade_window* window, const int* ranks, int count) {
  return On(window, [&](Window* inside) -> Status {
    std::vector<int> origins;
    BRIGADE_RETURN_IF_ERROR(ToRanks(ranks, count, &origins));
    return inside->Post(origins);
  });
}

brigade_status brigade_window_wait(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->Wait(); });
}

brigade_status brigade_window_test(brigade_window* window, int* done) {
  return On(window, [&](Window* inside) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("done", done));
    bool over = false;
    const Status status = inside->Test(&over);
    *done = over ? 1 : 0;
    return status;
  });
}

brigade_status brigade_window_lock(brigade_window* window, brigade_lock kind, int rank) {
  using brigade::LockKind;
  return On(window, [&](Window* inside) -> Status {
    constexpr LockKind kKindsInC[] = {LockKind::kShared, LockKind::kExclusive};
    LockKind how;
    BRIGADE_RETURN_IF_ERROR(brigade::Translate("kind", kind, kKindsInC, &how));
    return inside->Lock(how, rank);
  });
}

brigade_status brigade_window_unlock(brigade_window* window, int rank) {
  return On(window, [&](Window* inside) { return inside->Unlock(rank); });
}

brigade_status brigade_window_lock_all(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->LockAll(); });
}

brigade_status brigade_window_unlock_all(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->UnlockAll(); });
}

brigade_status brigade_window_flush(brigade_window* window, int rank) {
  return On(window, [&](Window* inside) { return inside->Flush(rank); });
}

brigade_status brigade_window_flush_all(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->FlushAll(); });
}

brigade_status brigade_window_flush_local(brigade_window* window, int rank) {
  return On(window, [&](Window* inside) { return inside->FlushLocal(rank); });
}

brigade_status brigade_window_flush_local_all(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->FlushLocalAll(); });
}

brigade_status brigade_window_sync(brigade_window* window) {
  return On(window, [](Window* inside) { return inside->Sync(); });
}

// --- notifications ---

brigade_status brigade_window_notify_wait(brigade_window* window, int rank, int64_t count) {
  return On(window, [&](Window* inside) -> Status {
    if (count < 0) return Invalid("a count of " + std::to_string(count) + " notifications");
    return inside->NotifyWait(rank, static_cast<uint64_t>(count));
  });
}

brigade_status brigade_window_notify_test(brigade_window* window, int rank, int64_t count,
                                          int* taken) {
  return On(window, [&](Window* inside) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("taken", taken));
    if (count < 0) return Invalid("a count of " + std::to_string(count) + " notifications");
    bool is_there = false;
    const Status status = inside->NotifyTest(rank, static_cast<uint64_t>(count), &is_there);
    *taken = is_there ? 1 : 0;
    return status;
  });
}
