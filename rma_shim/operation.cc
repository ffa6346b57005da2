#include "rma_shim/operation.h"

#include "membuf/accumulate.h"
#include "membuf/element.h"
#include "rma_shim/datatype/predefined.h"
#include "rma_shim/datatype/translate.h"
#include "rma_shim/errors.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {
namespace {

// Whether MPI_Compare_and_swap takes it: MPI-3.1, section 11.3.4, and characters as both families
// of MPIs.
bool MayBeSwapped(Element element) {
  return (element >= Element::kInt8 && element <= Element::kUint64) || element == Element::kBool ||
         element == Element::kLogical32;
}

bool IsGiven(const RmaRequest& request) {
  return request.kind != RmaKind::kGet && request.op != CombineOp::kNoOp;
}

// Finds the error class of a request that a window has refused with the text `why`.
Outcome ExplainRefusal(Window* window, Operation* operation, const std::string& why) {
  RmaRequest& request = operation->request;
  const RmaRequest::Values& target = request.target;
  if (request.rank < 0 || request.rank >= window->size()) return {MPI_ERR_RANK, why};
  if (target.count < 0 || request.send.count < 0 || request.receive.count < 0) {
    return {MPI_ERR_COUNT, why};
  }
  if (request.displacement < 0) return {MPI_ERR_DISP, why};
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (!target.layout->Bounds(target.count, &low, &high, &bytes)) return {MPI_ERR_COUNT, why};
  RmaRequest put = request;  // as long as the target's values
  put.kind = RmaKind::kPut;
  put.send = target;
  if (!window->Check(&put).ok()) return {MPI_ERR_RMA_RANGE, why};
  const bool is_given = IsGiven(request);
  if ((request.is_fetching() && request.receive.bytes() != bytes) ||
      (is_given && request.send.bytes() != bytes)) {
    return {MPI_ERR_ARG, why};
  }
  if (request.combines() && bytes > 0) {
    const Element element = target.layout->element();
    const std::string there = DescribeDatatype(operation->target_type);
    if (is_given && request.send.layout->element() != element) {
      return {MPI_ERR_TYPE,
              "accumulates " + DescribeDatatype(operation->origin_type) + " into " + there};
    }
    if (!IsDefined(request.op, element)) {
      return {MPI_ERR_OP, CombineOpName(request.op) +
                              (element == Element::kByte
                                   ? " of " + there + " is not supported: only MPI_REPLACE and " +
                                         "MPI_NO_OP are; BRIGADE_RMA=off leaves windows to the MPI"
                                   : " is not defined for " + there)};
    }
  }
  return {MPI_ERR_RMA_SYNC, why};
}

Outcome Start(Window* window, Operation* operation) {
  const Status status = window->Run(&operation->request);
  if (status.ok()) return {};
  if (status.code() == StatusCode::kInvalidArgument) {
    return ExplainRefusal(window, operation, status.message());
  }
  return {ErrorClassOf(status), status.message()};
}

// Replaces values by others that are as long. MPI wants one datatype on both sides, and its
// libraries take any.
Outcome StartAsBytes(Window* window, Operation* operation) {
  RmaRequest& request = operation->request;
  const TypedLayout origin = request.send.layout->WithElement(Element::kByte);
  const TypedLayout target = request.target.layout->WithElement(Element::kByte);
  request.send.layout = &origin;
  request.target.layout = &target;
  return Start(window, operation);
}

}  // namespace

Outcome Run(Window* window, DatatypeCache* datatypes, Operation* operation) {
  RmaRequest& request = operation->request;
  if (request.rank == MPI_PROC_NULL) {
    request.End();
    return {};
  }
  if (request.combines() && !FindAccumulateOp(operation->op, &request.op)) {
    return {MPI_ERR_OP, "an operation that is not one of MPI's predefined operations"};
  }
  const DatatypeCache::Known* known = nullptr;
  const auto find = [&](MPI_Datatype type, RmaRequest::Values* values) {
    BRIGADE_RETURN_IF_ERROR(datatypes->Find(type, &known));
    values->layout = &known->layout;
    return Status();
  };
  const bool is_given = IsGiven(request);
  Status status;
  if (is_given) status = find(operation->origin_type, &request.send);
  if (status.ok() && request.is_fetching()) status = find(operation->result_type, &request.receive);
  if (status.ok()) status = find(operation->target_type, &request.target);
  if (!status.ok()) return {MPI_ERR_TYPE, status.message()};
  if (request.kind == RmaKind::kSwap &&
      (!known->is_predefined || !MayBeSwapped(known->layout.element()))) {
    return {MPI_ERR_TYPE, "a swap of " + DescribeDatatype(operation->target_type) +
                              ": only predefined integers, logicals and bytes are swapped"};
  }
  if (operation->is_of_one && !known->is_predefined) {
    return {MPI_ERR_TYPE, "a fetch of " + DescribeDatatype(operation->target_type) +
                              ": only values of predefined datatypes are fetched by this call"};
  }
  if (!is_given) {
    // An accumulate of nothing is as long as its target.
    request.send = request.kind == RmaKind::kAccumulate ? request.target : RmaRequest::Values();
  } else if (request.kind == RmaKind::kSwap) {
    request.element = known->layout.element();
  } else if (request.combines() && request.op == CombineOp::kReplace &&
             request.send.layout->element() != known->layout.element()) {
    return StartAsBytes(window, operation);
  }
  return Start(window, operation);
}

}  // namespace rma
}  // namespace brigade
