#include "membuf/strided_layout.h"

#include <algorithm>
#include <string>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kMaxExtentBytes = size_t{1} << 62;

Status Invalid(const char* name, int64_t value, const std::string& rule) {
  return Status(StatusCode::kInvalidArgument, std::string("matrix layout: ") + name + " = " +
                                                  std::to_string(value) + " must be " + rule);
}

// Returns true for small matrices that CheckShape accepts. A fast path: every small message pays
// for this check.
bool IsSmallAndRight(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes) {
  constexpr int kBits = 28;  // twice as many, and those of an element, are fewer than 62
  const auto all = static_cast<uint64_t>(rows | cols | ld);  // a negative number has all high bits
  return all >> kBits == 0 && ld >= rows && elem_bytes - 1 < 16;
}

Status CheckShape(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes) {
  if (rows < 0) return Invalid("rows", rows, "at least 0");
  if (cols < 0) return Invalid("columns", cols, "at least 0");
  if (ld < rows) {
    return Invalid("leading dimension", ld, "at least the rows, " + std::to_string(rows));
  }
  if (elem_bytes < 1) return Invalid("element bytes", 0, "at least 1");
  if (rows == 0 || cols == 0) return Status();
  uint64_t extent = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(cols - 1), static_cast<uint64_t>(ld), &extent) ||
      __builtin_add_overflow(extent, static_cast<uint64_t>(rows), &extent) ||
      __builtin_mul_overflow(extent, elem_bytes, &extent) || extent > kMaxExtentBytes) {
    return Status(StatusCode::kInvalidArgument,
                  "matrix layout: " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " with leading dimension " + std::to_string(ld) + " and elements of " +
                      std::to_string(elem_bytes) + " bytes extends over more than 2^62 bytes");
  }
  return Status();
}

}  // namespace

Status StridedLayout::General(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes,
                              StridedLayout* layout) {
  if (!IsSmallAndRight(rows, cols, ld, elem_bytes)) {
    BRIGADE_RETURN_IF_ERROR(CheckShape(rows, cols, ld, elem_bytes));
  }
  layout->SetGeneral(rows, cols, ld, elem_bytes);
  return Status();
}

// Sets what Finish would find, without its branches: every small message pays for this.
void StridedLayout::SetGeneral(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes) {
  rows_ = rows;
  cols_ = cols;
  ld_ = ld;
  elem_bytes_ = elem_bytes;
  part_ = Part::kGeneral;
  diagonal_left_out_ = false;
  whole_begin_ = 0;
  whole_end_ = cols;
  bytes_ = static_cast<size_t>(rows) * static_cast<size_t>(cols) * elem_bytes;
  contiguous_ = ld == rows || cols <= 1 || bytes_ == 0;
  run_bytes_ = contiguous_ ? bytes_ : ColumnBytes();
}

Status StridedLayout::Trapezoid(Part part, Diagonal diagonal, int64_t rows, int64_t cols,
                                int64_t ld, size_t elem_bytes, StridedLayout* layout) {
  BRIGADE_RETURN_IF_ERROR(CheckShape(rows, cols, ld, elem_bytes));
  StridedLayout result;
  result.rows_ = rows;
  result.cols_ = cols;
  result.ld_ = ld;
  result.elem_bytes_ = elem_bytes;
  result.part_ = part;
  result.diagonal_left_out_ = diagonal == Diagonal::kLeftOut;
  result.Finish();
  *layout = result;
  return Status();
}

StridedLayout StridedLayout::Contiguous(size_t bytes) {
  BRIGADE_CHECK_LE(bytes, kMaxExtentBytes);
  StridedLayout layout;
  layout.SetGeneral(static_cast<int64_t>(bytes), 1, static_cast<int64_t>(bytes), 1);
  return layout;
}

int64_t StridedLayout::ColumnFirst(int64_t j) const {
  if (part_ != Part::kLower) return 0;
  const int64_t wide = std::max<int64_t>(cols_ - rows_, 0);
  return std::max<int64_t>(j - wide + diagonal_left_out_, 0);
}

int64_t StridedLayout::ColumnRows(int64_t j) const {
  if (part_ == Part::kUpper) {
    const int64_t tall = std::max<int64_t>(rows_ - cols_, 0);
    return std::min(j + 1 + tall - diagonal_left_out_, rows_);
  }
  return rows_ - ColumnFirst(j);
}

int64_t StridedLayout::ElemsBefore(int64_t j) const {
  // Columns on the slope differ by one row each, so theirs is an arithmetic series.
  const int64_t whole = std::max<int64_t>(std::min(j, whole_end_) - std::min(j, whole_begin_), 0);
  const int64_t slope = j - whole;
  if (slope == 0) return whole * rows_;
  const int64_t first = part_ == Part::kLower ? whole_end_ : 0;
  return whole * rows_ + slope * (ColumnRows(first) + ColumnRows(first + slope - 1)) / 2;
}

void StridedLayout::Finish() {
  whole_end_ = cols_;
  if (part_ == Part::kUpper) {
    const int64_t tall = std::max<int64_t>(rows_ - cols_, 0);
    whole_begin_ = std::clamp<int64_t>(rows_ - 1 - tall + diagonal_left_out_, 0, cols_);
  } else if (part_ == Part::kLower) {
    const int64_t wide = std::max<int64_t>(cols_ - rows_, 0);
    whole_end_ = std::min(wide + 1 - diagonal_left_out_, cols_);
  }
  bytes_ = static_cast<size_t>(ElemsBefore(cols_)) * elem_bytes_;

  if (bytes_ == 0) return;
  // The longest run is the whole columns together if they touch, else the longest column, which
  // is the last of an upper trapezoid and the first of any other part.
  const int64_t longest = ColumnRows(part_ == Part::kUpper ? cols_ - 1 : 0);
  const int64_t whole = columns_touch() ? (whole_end_ - whole_begin_) * rows_ : 0;
  run_bytes_ = static_cast<size_t>(std::max(longest, whole)) * elem_bytes_;
  contiguous_ = run_bytes_ == bytes_;
}

int64_t StridedLayout::ColumnAt(size_t packed_offset) const {
  if (part_ == Part::kGeneral) {
    // Small messages lie in the first column, and a division would be most of their copy.
    const size_t column_bytes = ColumnBytes();
    return packed_offset < column_bytes ? 0 : static_cast<int64_t>(packed_offset / column_bytes);
  }
  const auto elem = static_cast<int64_t>(packed_offset / elem_bytes_);
  // The last column with no more than `elem` elements before it: never the empty tip of a trapezoid
  // without its diagonal.
  int64_t low = 0;
  int64_t high = cols_;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (ElemsBefore(middle) <= elem ? low : high) = middle;
  }
  return low;
}

StridedLayout::Cursor::Cursor(const StridedLayout& layout, size_t packed_offset)
    : layout_(&layout) {
  BRIGADE_CHECK_LE(packed_offset, layout.bytes());
  if (packed_offset == layout.bytes()) {
    column_ = layout.cols_;
    return;
  }
  const int64_t column = layout.ColumnAt(packed_offset);
  StartRun(column);
  Advance(packed_offset - static_cast<size_t>(layout.ElemsBefore(column)) * layout.elem_bytes_);
}

void StridedLayout::Cursor::StartRun(int64_t column) {
  const StridedLayout& l = *layout_;
  column_ = column;
  run_left_ = 0;
  if (column == l.cols_) return;
  const bool joined = l.columns_touch() && l.IsWhole(column);
  const int64_t rows = joined ? (l.whole_end_ - column) * l.rows_ : l.ColumnRows(column);
  run_left_ = static_cast<size_t>(rows) * l.elem_bytes_;
  memory_offset_ = static_cast<size_t>(column * l.ld_ + l.ColumnFirst(column)) * l.elem_bytes_;
}

void StridedLayout::Cursor::Advance(size_t bytes) {
  BRIGADE_CHECK_LE(bytes, run_left_);
  memory_offset_ += bytes;
  run_left_ -= bytes;
  if (run_left_ > 0 || column_ == layout_->cols_) return;
  const bool joined = layout_->columns_touch() && layout_->IsWhole(column_);
  StartRun(joined ? layout_->whole_end_ : column_ + 1);
}

StridedLayout::RunBlock StridedLayout::Cursor::TakeBlock(size_t max_bytes) {
  const StridedLayout& l = *layout_;
  const size_t column_bytes = l.ColumnBytes();
  // A whole column is a run not yet begun if all its bytes are left.
  if (!l.columns_touch() && l.IsWhole(column_) && run_left_ == column_bytes &&
      max_bytes >= column_bytes) {
    const auto columns = static_cast<size_t>(l.whole_end_ - column_);
    const RunBlock block{memory_offset_, column_bytes, static_cast<size_t>(l.ld_) * l.elem_bytes_,
                         std::min(columns, max_bytes / column_bytes)};
    StartRun(column_ + static_cast<int64_t>(block.runs));
    return block;
  }
  const RunBlock block{memory_offset_, std::min(run_left_, max_bytes), 0, 1};
  Advance(block.run_bytes);
  return block;
}

size_t StridedLayout::ColumnsOf(size_t offset, size_t bytes) const {
  if (bytes == 0) return 0;
  return static_cast<size_t>(ColumnAt(offset + bytes - 1) - ColumnAt(offset)) + 1;
}

bool StridedLayout::ContiguousRange(size_t offset, size_t bytes, size_t* memory_offset) const {
  const Run run = Cursor(*this, offset).Next();
  if (bytes > run.bytes) return false;
  *memory_offset = run.memory_offset;
  return true;
}

}  // namespace brigade
