#include "windows/multiply/operand.h"

#include <utility>

#include "windows/message/rma_request.h"

namespace brigade {
namespace {

std::map<int, std::vector<IndexPiece>> ByOwner(const std::vector<IndexPiece>& pieces) {
  std::map<int, std::vector<IndexPiece>> by_owner;
  for (const IndexPiece& piece : pieces) by_owner[piece.owner].push_back(piece);
  return by_owner;
}

int64_t CountOf(const std::vector<IndexPiece>& pieces) {
  int64_t count = 0;
  for (const IndexPiece& piece : pieces) count += piece.count;
  return count;
}

// As many as names there are for them.
constexpr size_t kMostLayouts = 200;

}  // namespace

Operand::Operand(const DistributedMatrix& matrix, const Options& options, Window* window,
                 std::vector<PartPlace> places, MultiplyStatistics* statistics)
    : options_(options),
      given_(matrix.window),
      rows_(RowsOf(matrix, options.grid_rows)),
      cols_(ColsOf(matrix, options.grid_cols)),
      element_bytes_(static_cast<int64_t>(ElementBytes(options.element))),
      window_(window),
      places_(std::move(places)),
      statistics_(statistics) {}

const std::byte* Operand::Seen(int rank) const {
  const PartPlace& place = PlaceOf(rank);
  if (rank != window_->rank() && !options_.in_place) return nullptr;
  if (window_->PointerTo(rank) != nullptr) {
    return window_->PointerTo(rank) + (place.address - kProcessAddress);
  }
  const std::byte* const base = given_ == nullptr ? nullptr : given_->PointerTo(rank);
  return base == nullptr ? nullptr : base + place.offset;
}

Status Operand::Begin(const std::vector<IndexPiece>& op_rows,
                      const std::vector<IndexPiece>& op_cols, std::byte* buffer,
                      FetchedBlock* block) {
  const Pieces& rows = options_.is_transposed ? op_cols : op_rows;
  const Pieces& cols = options_.is_transposed ? op_rows : op_cols;
  block->arrived.clear();
  if (rows.size() == 1 && cols.size() == 1) {
    const int rank = rows[0].owner * options_.grid_cols + cols[0].owner;
    const std::byte* const part = Seen(rank);
    if (part != nullptr) {
      block->ld = PlaceOf(rank).ld;
      block->data = part + (rows[0].local + cols[0].local * block->ld) * element_bytes_;
      ++statistics_->in_place;
      return Status();
    }
  }
  block->ld = CountOf(rows);
  block->data = buffer;
  const std::map<int, Pieces> cols_by_owner = ByOwner(cols);
  for (const auto& [row_owner, row_pieces] : ByOwner(rows)) {
    for (const auto& [col_owner, col_pieces] : cols_by_owner) {
      BRIGADE_RETURN_IF_ERROR(
          Fetch(row_owner * options_.grid_cols + col_owner, row_pieces, col_pieces, buffer, block));
    }
  }
  return Status();
}

Status Operand::Fetch(int rank, const Pieces& rows, const Pieces& cols, std::byte* buffer,
                      FetchedBlock* block) {
  const PartPlace& place = PlaceOf(rank);
  TypedLayout here;
  TypedLayout there;
  BRIGADE_RETURN_IF_ERROR(LayoutOf(rows, cols, &IndexPiece::place, block->ld, &here));
  BRIGADE_RETURN_IF_ERROR(LayoutOf(rows, cols, &IndexPiece::local, place.ld, &there));
  const auto address = static_cast<int64_t>(place.address - kProcessAddress) +
                       (rows[0].local + cols[0].local * place.ld) * element_bytes_;
  block->arrived.emplace_back(false);
  if (rank != window_->rank()) {
    ++statistics_->gets;
    statistics_->bytes_got += here.size();
  }
  return window_->Get(
      {buffer + (rows[0].place + cols[0].place * block->ld) * element_bytes_, here, 1},
      {rank, address, there, 1}, &block->arrived.back());
}

// From the first of them on.
Status Operand::LayoutOf(const Pieces& rows, const Pieces& cols, int64_t IndexPiece::*at,
                         int64_t ld, TypedLayout* layout) {
  std::vector<int64_t> form = {ld, static_cast<int64_t>(rows.size())};
  for (const Pieces* const pieces : {&rows, &cols}) {
    for (const IndexPiece& piece : *pieces) {
      form.push_back(piece.*at - pieces->front().*at);
      form.push_back(piece.count);
    }
  }
  const auto known = layouts_.find(form);
  if (known != layouts_.end()) {
    *layout = known->second;
    return Status();
  }
  std::vector<TypedLayout> runs;
  std::vector<TypedLayout::Part> parts;
  runs.reserve(rows.size());
  for (const IndexPiece& piece : rows) {
    runs.push_back(TypedLayout::Run(options_.element, piece.count));
    parts.push_back({(piece.*at - rows.front().*at) * element_bytes_, &runs.back()});
  }
  TypedLayout column;
  BRIGADE_RETURN_IF_ERROR(TypedLayout::List(parts, &column));
  std::vector<TypedLayout> columns(cols.size());
  parts.clear();
  for (size_t i = 0; i < cols.size(); ++i) {
    BRIGADE_RETURN_IF_ERROR(
        TypedLayout::Repeat(cols[i].count, ld * element_bytes_, column, &columns[i]));
    parts.push_back({(cols[i].*at - cols.front().*at) * ld * element_bytes_, &columns[i]});
  }
  BRIGADE_RETURN_IF_ERROR(TypedLayout::List(parts, layout));
  if (layouts_.size() == kMostLayouts) layouts_.clear();
  layouts_.emplace(std::move(form), *layout);
  return Status();
}

}  // namespace brigade
