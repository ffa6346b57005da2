#include "rma_shim/operation.h"

#include "rma_shim/datatype/predefined.h"
#include "rma_shim/datatype/translate.h"
#include "rma_shim/errors.h"
#include "windows/elements/accumulate.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {
namespace {

using Kind = Operation::Kind;

// An operation as windows have it.
struct Translated {
  AccumulateOp op = AccumulateOp::kReplace;
  OriginData origin;
  OriginData result;
  TargetData target;
};

bool Combines(Kind kind) { return kind == Kind::kAccumulate || kind == Kind::kGetAccumulate; }

// Whether MPI_Compare_and_swap takes it: MPI-3.1, section 11.3.4, and characters as both families
// of MPIs.
bool MayBeSwapped(Element element) {
  return (element >= Element::kInt8 && element <= Element::kUint64) || element == Element::kBool ||
         element == Element::kLogical32;
}

Status FindSide(DatatypeCache* datatypes, const Side& side, OriginData* data) {
  const DatatypeCache::Known* known = nullptr;
  BRIGADE_RETURN_IF_ERROR(datatypes->Find(side.type, &known));
  // What is only read is not written.
  data->data = static_cast<std::byte*>(const_cast<void*>(side.memory));
  data->layout = known->layout;
  data->count = side.count;
  return Status();
}

// What is wrong with an operation that a window has refused, for `why`.
Outcome ExplainRefusal(Window* window, const Operation& operation, const Translated& translated,
                       const std::string& why) {
  const TargetData& target = translated.target;
  if (target.rank < 0 || target.rank >= window->size()) return {MPI_ERR_RANK, why};
  if (target.count < 0 || operation.origin.count < 0 || operation.result.count < 0) {
    return {MPI_ERR_COUNT, why};
  }
  if (target.displacement < 0) return {MPI_ERR_DISP, why};
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (!target.layout.Bounds(target.count, &low, &high, &bytes)) return {MPI_ERR_COUNT, why};
  int64_t offset = 0;
  if (!window->Check(target, bytes, &offset).ok()) return {MPI_ERR_RMA_RANGE, why};
  const bool is_fetched = operation.kind == Kind::kGet || operation.kind == Kind::kGetAccumulate;
  const bool is_given = operation.kind != Kind::kGet && translated.op != AccumulateOp::kNoOp;
  if ((is_fetched && translated.result.bytes() != bytes) ||
      (is_given && translated.origin.bytes() != bytes)) {
    return {MPI_ERR_ARG, why};
  }
  if (Combines(operation.kind) && bytes > 0) {
    const Element element = target.layout.element();
    const std::string there = DescribeDatatype(operation.type);
    if (is_given && translated.origin.layout.element() != element) {
      return {MPI_ERR_TYPE,
              "accumulates " + DescribeDatatype(operation.origin.type) + " into " + there};
    }
    if (!IsDefined(translated.op, element)) {
      return {MPI_ERR_OP, AccumulateOpName(translated.op) +
                              (element == Element::kByte
                                   ? " of " + there + " is not carried: only MPI_REPLACE and " +
                                         "MPI_NO_OP are; BRIGADE_RMA=off leaves windows to the MPI"
                                   : " is not defined for " + there)};
    }
  }
  return {MPI_ERR_RMA_SYNC, why};
}

Status Start(Window* window, const Operation& operation, const Translated& translated,
             std::atomic<bool>* over) {
  switch (operation.kind) {
    case Kind::kPut:
      return window->Put(translated.origin, translated.target, over);
    case Kind::kGet:
      return window->Get(translated.result, translated.target, over);
    case Kind::kAccumulate:
      return window->Accumulate(translated.op, translated.origin, translated.target, over);
    case Kind::kGetAccumulate:
      return window->GetAccumulate(translated.op, translated.origin, translated.result,
                                   translated.target, over);
    case Kind::kCompareAndSwap:
      break;
  }
  return window->CompareAndSwap(translated.target.layout.element(), operation.expected,
                                operation.origin.memory, const_cast<void*>(operation.result.memory),
                                operation.rank, operation.displacement, over);
}

}  // namespace

Outcome Run(Window* window, DatatypeCache* datatypes, const Operation& operation,
            std::atomic<bool>* over) {
  if (operation.rank == MPI_PROC_NULL) {
    if (over != nullptr) *over = true;
    return {};
  }
  Translated translated;
  if (Combines(operation.kind) && !FindAccumulateOp(operation.op, &translated.op)) {
    return {MPI_ERR_OP, "an operation that is none of MPI's own"};
  }
  Status status;
  const bool is_given = operation.kind != Kind::kGet && translated.op != AccumulateOp::kNoOp;
  if (is_given) status = FindSide(datatypes, operation.origin, &translated.origin);
  if (status.ok() && operation.kind != Kind::kPut && operation.kind != Kind::kAccumulate) {
    status = FindSide(datatypes, operation.result, &translated.result);
  }
  const DatatypeCache::Known* known = nullptr;
  if (status.ok()) status = datatypes->Find(operation.type, &known);
  if (!status.ok()) return {MPI_ERR_TYPE, status.message()};
  const TypedLayout* const layout = &known->layout;
  if (operation.kind == Kind::kCompareAndSwap &&
      (!known->is_predefined || !MayBeSwapped(layout->element()))) {
    return {MPI_ERR_TYPE, "a swap of " + DescribeDatatype(operation.type) +
                              ": only predefined integers, logicals and bytes are swapped"};
  }
  if (operation.is_of_one && !known->is_predefined) {
    return {MPI_ERR_TYPE, "a fetch of " + DescribeDatatype(operation.type) +
                              ": only values of predefined datatypes are fetched by this call"};
  }
  translated.target = {operation.rank, operation.displacement, *layout, operation.count};
  if (!is_given) translated.origin.layout = *layout, translated.origin.count = operation.count;
  // MPI wants one datatype on both sides, and its libraries any that are equally long.
  if (translated.op == AccumulateOp::kReplace && Combines(operation.kind) &&
      translated.origin.layout.element() != layout->element()) {
    for (TypedLayout* const side : {&translated.origin.layout, &translated.target.layout}) {
      *side = side->WithElement(Element::kByte);
    }
  }

  status = Start(window, operation, translated, over);
  if (status.ok()) return {};
  if (status.code() == StatusCode::kInvalidArgument) {
    return ExplainRefusal(window, operation, translated, status.message());
  }
  return {ErrorClassOf(status), status.message()};
}

}  // namespace rma
}  // namespace brigade
