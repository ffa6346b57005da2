#include "rma_shim/requests.h"

#include <algorithm>
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
    under_way_.push_back({operation, *request});
  }
}

void Requests::Progress() {
  CarriedWindow* moved = nullptr;
  for (size_t i = 0; i < under_way_.size(); ++i) {
    CarriedWindow* const window = under_way_[i].operation->window;
    if (window == moved) continue;
    moved = window;
    const Status status = window->window()->Progress();
    if (status.ok() || !Fail(window, status)) continue;
    // The error handler may have changed the list: it begins again, shorter.
    moved = nullptr;
    i = SIZE_MAX;
  }
  Complete(nullptr);
}

// The error handler may call MPI, also for these requests, which are complete by then.
bool Requests::Fail(CarriedWindow* window, const Status& status) {
  const std::vector<UnderWay> failed = Take(
      [&](const Operation& operation) { return operation.window == window && !operation.over; });
  if (failed.empty()) return false;
  const int error = ErrorClassOf(status);
  for (const UnderWay& one : failed) {
    one.operation->error = error;
    MPI_Grequest_complete(one.request);
  }
  Raise(window->handle(), "a request of one-sided communication", error, status.message(),
        /*tells=*/true);
  return true;
}

template <typename Which>
std::vector<Requests::UnderWay> Requests::Take(const Which& which) {
  const auto left =
      std::stable_partition(under_way_.begin(), under_way_.end(),
                            [&](const UnderWay& one) { return !which(*one.operation); });
  std::vector<UnderWay> taken(left, under_way_.end());
  under_way_.erase(left, under_way_.end());
  return taken;
}

void Requests::Complete(const CarriedWindow* window) {
  const std::vector<UnderWay> over = Take([&](const Operation& operation) {
    return operation.over && (window == nullptr || operation.window == window);
  });
  for (const UnderWay& one : over) MPI_Grequest_complete(one.request);
}

void Requests::CompleteAll() {
  for (UnderWay& one : under_way_) MPI_Grequest_complete(one.request);
  under_way_.clear();
}

}  // namespace rma
}  // namespace brigade
