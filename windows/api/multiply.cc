// The C interface of products: unwrap, call, convert the error.

#include "brigade/multiply.h"

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "patterns/api/sized.h"
#include "transport/bootstrap.h"
#include "windows/api/layout_handle.h"
#include "windows/api/window_handle.h"
#include "windows/message/window_space.h"
#include "windows/multiply/distribution.h"
#include "windows/multiply/multiply.h"
#include "windows/multiply/multiply_call.h"

struct brigade_multiplier {
  std::unique_ptr<brigade::Multiplier> multiplier;
};

namespace {

using brigade::CheckPointer;
using brigade::DistributedMatrix;
using brigade::Invalid;
using brigade::Multiplier;
using brigade::MultiplyCall;
using brigade::MultiplyOptions;
using brigade::MultiplyOrder;
using brigade::MultiplyStatistics;
using brigade::ReadSized;
using brigade::Status;
using brigade::Translate;
using brigade::Transpose;
using brigade::WriteSized;

constexpr Transpose kTransposesInC[] = {Transpose::kNo, Transpose::kYes, Transpose::kConjugate};
constexpr MultiplyOrder kOrdersInC[] = {MultiplyOrder::kDiagonal, MultiplyOrder::kNatural};

DistributedMatrix ToMatrix(const brigade_distributed_matrix& c) {
  DistributedMatrix matrix;
  matrix.data = static_cast<std::byte*>(c.data);
  matrix.rows = c.rows;
  matrix.cols = c.cols;
  matrix.row_block = c.row_block;
  matrix.col_block = c.col_block;
  matrix.row_source = c.row_source;
  matrix.col_source = c.col_source;
  matrix.ld = c.ld;
  matrix.row = c.row;
  matrix.col = c.col;
  matrix.window = c.window == nullptr ? nullptr : c.window->window.get();
  return matrix;
}

// Checks only errors that the C++ types rule out, for example a null pointer or an unknown enum
// value.
Status ToCall(const brigade_product* c, const brigade_multiply_options* how, MultiplyCall* call,
              MultiplyOptions* options) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("product", c));
  brigade_product product;
  BRIGADE_RETURN_IF_ERROR(ReadSized("brigade_product", *c, &product));
  c = &product;
  BRIGADE_RETURN_IF_ERROR(brigade::ToElement(c->type, &call->element));
  BRIGADE_RETURN_IF_ERROR(Translate("op_a", c->op_a, kTransposesInC, &call->op_a));
  BRIGADE_RETURN_IF_ERROR(Translate("op_b", c->op_b, kTransposesInC, &call->op_b));
  call->m = c->m;
  call->n = c->n;
  call->k = c->k;
  call->alpha = c->alpha;
  call->beta = c->beta;
  call->a = ToMatrix(c->a);
  call->b = ToMatrix(c->b);
  call->c = ToMatrix(c->c);
  if (how == nullptr) return Status();
  brigade_multiply_options read;
  BRIGADE_RETURN_IF_ERROR(ReadSized("brigade_multiply_options", *how, &read));
  BRIGADE_RETURN_IF_ERROR(brigade::CheckReserved("brigade_multiply_options", read.reserved));
  BRIGADE_RETURN_IF_ERROR(Translate("order", read.order, kOrdersInC, &options->order));
  if (read.depth != 0) options->depth = read.depth == -1 ? 0 : read.depth;
  constexpr bool kSwitches[] = {MultiplyOptions().in_place, true, false};
  return Translate("in_place", read.in_place, kSwitches, &options->in_place);
}

Status ToC(const MultiplyStatistics& did, brigade_multiply_statistics* statistics) {
  if (statistics == nullptr) return Status();
  brigade_multiply_statistics counters = brigade_multiply_statistics_init();
  counters.products = did.products;
  counters.in_place = did.in_place;
  counters.gets = did.gets;
  counters.bytes_got = did.bytes_got;
  return WriteSized("brigade_multiply_statistics", counters, statistics);
}

Status Make(brigade_group* group, size_t buffer_bytes, brigade_multiplier** multiplier) {
  return brigade::MakeObject("multiplier", multiplier, [&](brigade_multiplier* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    brigade::MultiplierOptions options;
    options.rows = group->group->rows();
    options.cols = group->group->cols();
    if (buffer_bytes != 0) options.buffer_bytes = buffer_bytes;
    return brigade::MakeInSpace(
        group, [&](brigade::WindowSpace* space, brigade::Bootstrap* bootstrap) {
          return Multiplier::Create(space, bootstrap, options, &made->multiplier);
        });
  });
}

}  // namespace

brigade_status brigade_multiplier_create(brigade_group* group, size_t buffer_bytes,
                                         brigade_multiplier** multiplier) {
  return brigade::Enter(group, [&] { return Make(group, buffer_bytes, multiplier); });
}

brigade_status brigade_multiplier_free(brigade_multiplier* multiplier) {
  return brigade::Enter(nullptr, [&]() -> Status {
    const std::unique_ptr<brigade_multiplier> freed(multiplier);
    return freed == nullptr ? Status() : freed->multiplier->Free();
  });
}

void brigade_multiplier_destroy(brigade_multiplier* multiplier) { delete multiplier; }

brigade_status brigade_multiply(brigade_multiplier* multiplier, const brigade_product* product,
                                const brigade_multiply_options* options,
                                brigade_multiply_statistics* statistics) {
  return brigade::Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("multiplier", multiplier));
    Multiplier* const inside = multiplier->multiplier.get();
    MultiplyCall call;
    MultiplyOptions how;
    MultiplyStatistics did;
    Status made = ToCall(product, options, &call, &how);
    if (made.ok()) made = ToC(did, statistics);
    if (!made.ok()) return inside->Refuse(made);
    const Status status = inside->Multiply(call, how, &did);
    (void)ToC(did, statistics);  // it was found right before
    return status;
  });
}

int64_t brigade_local_count(int64_t n, int64_t block, int source, int procs, int proc) {
  const bool makes_sense = n >= 0 && block >= 1 && procs >= 1 && source >= 0 && source < procs &&
                           proc >= 0 && proc < procs;
  return makes_sense ? brigade::Distribution{block, source, procs, 0}.CountOf(n, proc) : -1;
}
