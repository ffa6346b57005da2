// The C face of products: unwrap, call, convert the error.

#include "brigade/multiply.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "membuf/status.h"
#include "patterns/api/handles.h"
#include "transport/bootstrap.h"
#include "windows/api/window_handle.h"
#include "windows/elements/element.h"
#include "windows/message/window_space.h"
#include "windows/multiply/dealing.h"
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
using brigade::Status;
using brigade::ToC;
using brigade::Translate;
using brigade::Transpose;

constexpr Transpose kTransposesInC[] = {Transpose::kNo, Transpose::kYes, Transpose::kConjugate};
constexpr MultiplyOrder kOrdersInC[] = {MultiplyOrder::kDiagonal, MultiplyOrder::kNatural,
                                        MultiplyOrder::kOwnFirst};

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

// What the C++ side does not check, since it has no such values.
Status ToCall(const brigade_product* c, const brigade_multiply_options* how, MultiplyCall* call,
              MultiplyOptions* options) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("product", c));
  const int element = c->element;
  if (element < 0 || element >= brigade::kElements) {
    return Invalid("element has no value " + std::to_string(element));
  }
  call->element = static_cast<brigade::Element>(element);
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
  BRIGADE_RETURN_IF_ERROR(Translate("order", how->order, kOrdersInC, &options->order));
  options->depth = how->depth;
  options->in_place = how->in_place != 0;
  return Status();
}

Status Make(brigade_engine* engine, int mpi_comm, const brigade::MultiplierOptions& options,
            brigade_multiplier** multiplier) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer("engine", engine));
  BRIGADE_RETURN_IF_ERROR(CheckPointer("the place for the new multiplier", multiplier));
  std::unique_ptr<brigade::Bootstrap> bootstrap;
  brigade::WindowSpace* space = nullptr;
  BRIGADE_RETURN_IF_ERROR(brigade::OpenSpace(engine, mpi_comm, &bootstrap, &space));
  auto made = std::make_unique<brigade_multiplier>();
  BRIGADE_RETURN_IF_ERROR(Multiplier::Create(space, bootstrap.get(), options, &made->multiplier));
  *multiplier = made.release();
  return Status();
}

}  // namespace

brigade_status brigade_multiplier_create(brigade_engine* engine, int mpi_comm, int rows, int cols,
                                         size_t buffer_bytes, brigade_multiplier** multiplier) {
  brigade::MultiplierOptions options;
  options.rows = rows;
  options.cols = cols;
  if (buffer_bytes != 0) options.buffer_bytes = buffer_bytes;
  return ToC(Make(engine, mpi_comm, options, multiplier));
}

brigade_status brigade_multiplier_free(brigade_multiplier* multiplier) {
  if (multiplier == nullptr) return BRIGADE_OK;
  const Status status = multiplier->multiplier->Free();
  delete multiplier;
  return ToC(status);
}

void brigade_multiplier_destroy(brigade_multiplier* multiplier) { delete multiplier; }

void brigade_multiply_options_init(brigade_multiply_options* options) {
  const MultiplyOptions defaults;
  options->order = BRIGADE_MULTIPLY_DIAGONAL;
  options->depth = defaults.depth;
  options->in_place = defaults.in_place ? 1 : 0;
}

brigade_status brigade_multiply(brigade_multiplier* multiplier, const brigade_product* product,
                                const brigade_multiply_options* options,
                                brigade_multiply_statistics* statistics) {
  const Status is_there = CheckPointer("multiplier", multiplier);
  if (!is_there.ok()) return ToC(is_there);
  Multiplier* const inside = multiplier->multiplier.get();
  MultiplyCall call;
  MultiplyOptions how;
  const Status made = ToCall(product, options, &call, &how);
  if (!made.ok()) return ToC(inside->Refuse(made));
  MultiplyStatistics did;
  const Status status = inside->Multiply(call, how, &did);
  if (statistics != nullptr) {
    *statistics = {did.products, did.in_place, did.gets, did.bytes_got};
  }
  return ToC(status);
}

int64_t brigade_dealt_count(int64_t n, int64_t block, int source, int procs, int proc) {
  const bool makes_sense = n >= 0 && block >= 1 && procs >= 1 && source >= 0 && source < procs &&
                           proc >= 0 && proc < procs;
  return makes_sense ? brigade::Dealing{block, source, procs, 0}.CountOf(n, proc) : -1;
}
