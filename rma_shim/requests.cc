#include "rma_shim/requests.h"

#include <algorithm>

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
    under_way_.push_back({operation, *request});
  }
}

void Requests::Progress() {
  CarriedWindow* moved = nullptr;
  Status status;
  for (const UnderWay& one : under_way_) {
    Operation* const operation = one.operation;
    if (operation->window != moved) {
      moved = operation->window;
      status = moved->window()->Progress();
    }
    if (!status.ok() && !operation->over) {
      operation->error = Raise(moved->handle(), "a request of one-sided communication",
                               ErrorClassOf(status), status.message(), /*tells=*/true);
      operation->over = true;
    }
  }
  Complete(nullptr);
}

void Requests::Complete(const CarriedWindow* window) {
  const auto left = std::partition(under_way_.begin(), under_way_.end(), [&](const UnderWay& one) {
    return !one.operation->over || (window != nullptr && one.operation->window != window);
  });
  const std::vector<UnderWay> over(left, under_way_.end());
  under_way_.erase(left, under_way_.end());
  for (UnderWay one : over) MPI_Grequest_complete(one.request);
}

void Requests::CompleteAll() {
  for (UnderWay& one : under_way_) MPI_Grequest_complete(one.request);
  under_way_.clear();
}

}  // namespace rma
}  // namespace brigade
