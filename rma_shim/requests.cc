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
    under_way_.push_back({operation, *request});
  }
}

void Requests::Progress(std::vector<Failure>* failures) {
  CarriedWindow* moved = nullptr;
  for (size_t i = 0; i < under_way_.size(); ++i) {
    CarriedWindow* const window = under_way_[i].operation->window;
    if (window == moved) continue;
    moved = window;
    const Status status = window->window()->Progress();
    if (status.ok() || !Fail(window, ErrorClassOf(status))) continue;
    failures->push_back({window->handle(), ErrorClassOf(status), status.message()});
    i = SIZE_MAX;  // the list begins again, shorter
  }
  Complete(nullptr);
}

// The error handler may call MPI for these requests, too, which are complete by then.
bool Requests::Fail(const CarriedWindow* window, int error) {
  const std::vector<UnderWay> failed = Take(
      [&](const Operation& operation) { return operation.window == window && !operation.over; });
  for (const UnderWay& one : failed) {
    one.operation->error = error;
    MPI_Grequest_complete(one.request);
  }
  return !failed.empty();
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
