#include "rma_shim/requests.h"

#include <cstdint>

#include "membuf/status.h"
#include "rma_shim/carried_window.h"
#include "rma_shim/errors.h"
#include "rma_shim/runtime.h"

namespace brigade {
namespace rma {
namespace {

using Operation = Requests::Operation;

int Query(void* operation, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const Operation*>(operation)->error;
}

int Free(void* operation) {
  delete static_cast<Operation*>(operation);
  return MPI_SUCCESS;
}

// A request to a target cannot be cancelled.
int Cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

void Requests::Add(Operation* operation, MPI_Request* request) {
  MPI_Grequest_start(&Query, &Free, &Cancel, operation, request);
  if (operation->over) {
    MPI_Grequest_complete(*request);
  } else {
    pending_.push_back({operation, *request});
  }
}

void Requests::Progress(std::vector<Failure>* failures) {
  CarriedWindow* moved = nullptr;
  for (size_t i = 0; i < pending_.size(); ++i) {
    CarriedWindow* const window = pending_[i].operation->window;
    if (window == moved) continue;
    moved = window;
    Window* const inside = window->window();
    const Status status = inside->CatchOutOfMemory([&] { return inside->Progress(); });
    if (status.ok() || !Fail(window, ErrorClassOf(status))) continue;
    failures->push_back({window->handle(), ErrorClassOf(status), status.message()});
    i = SIZE_MAX;  // the list begins again, shorter
  }
  Complete(nullptr);
}

// The error handler may call MPI for these requests, too, which are complete by then.
bool Requests::Fail(const CarriedWindow* window, int error) {
  const std::vector<PendingRequest> failed = Take(
      [&](const Operation& operation) { return operation.window == window && !operation.over; });
  for (const PendingRequest& one : failed) {
    one.operation->error = error;
    MPI_Grequest_complete(one.request);
  }
  return !failed.empty();
}

template <typename Which>
std::vector<Requests::PendingRequest> Requests::Take(const Which& which) {
  const auto left =
      std::stable_partition(pending_.begin(), pending_.end(),
                            [&](const PendingRequest& one) { return !which(*one.operation); });
  std::vector<PendingRequest> taken(left, pending_.end());
  pending_.erase(left, pending_.end());
  return taken;
}

void Requests::Complete(const CarriedWindow* window) {
  const std::vector<PendingRequest> over = Take([&](const Operation& operation) {
    return operation.over && (window == nullptr || operation.window == window);
  });
  for (const PendingRequest& one : over) MPI_Grequest_complete(one.request);
}

void Requests::CompleteAll() {
  for (PendingRequest& one : pending_) MPI_Grequest_complete(one.request);
  pending_.clear();
}

}  // namespace rma
}  // namespace brigade
