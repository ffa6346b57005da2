#include "windows/multiply/product.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>

#include "windows/multiply/visits.h"

namespace brigade {
namespace {

constexpr std::align_val_t kAlignment{64};

// What the BLAS takes, of any of its four kinds of elements.
struct Numbers {
  explicit Numbers(Element element) {
    if (element == Element::kFloat || element == Element::kComplexFloat) {
      const float real = 1;
      std::memcpy(one, &real, sizeof(real));
    } else {
      const double real = 1;
      std::memcpy(one, &real, sizeof(real));
    }
  }
  std::byte one[16] = {};
  std::byte zero[16] = {};
};

bool IsZero(Element element, const void* value) {
  const Numbers numbers(element);
  double parts[2] = {};
  if (element == Element::kFloat || element == Element::kComplexFloat) {
    float read[2] = {};
    std::memcpy(read, value, ElementBytes(element));
    parts[0] = read[0];
    parts[1] = read[1];
  } else {
    std::memcpy(parts, value, ElementBytes(element));
  }
  return parts[0] == 0 && parts[1] == 0;
}

// Column by column.
template <typename T>
void Add(const T* from, int64_t rows, int64_t cols, T* to, int64_t ld) {
  for (int64_t col = 0; col < cols; ++col) {
    for (int64_t row = 0; row < rows; ++row) to[col * ld + row] += from[col * rows + row];
  }
}

char Letter(Transpose op) {
  if (op == Transpose::kNo) return 'N';
  return op == Transpose::kYes ? 'T' : 'C';
}

}  // namespace

void ProductMemory::Free::operator()(std::byte* data) const { operator delete(data, kAlignment); }

Status ProductMemory::Grow(std::vector<Buffer>* buffers, size_t count, size_t bytes) {
  if (buffers->size() < count) buffers->resize(count);
  for (size_t i = 0; i < count; ++i) {
    Buffer& buffer = (*buffers)[i];
    if (buffer.bytes >= bytes) continue;
    buffer.data.reset();
    buffer.bytes = 0;
    buffer.data.reset(static_cast<std::byte*>(operator new(bytes, kAlignment, std::nothrow)));
    if (buffer.data == nullptr) {
      return {StatusCode::kOutOfMemory, "a buffer of " + std::to_string(bytes) + " bytes"};
    }
    buffer.bytes = bytes;
  }
  return Status();
}

Status ProductMemory::Reserve(int sets, size_t buffer_bytes, int sums, size_t sum_bytes) {
  const auto count = static_cast<size_t>(sets);
  BRIGADE_RETURN_IF_ERROR(Grow(&buffers_, 2 * count, buffer_bytes));
  BRIGADE_RETURN_IF_ERROR(Grow(&sums_, static_cast<size_t>(sums), sum_bytes));
  if (sets_.size() < count) sets_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    sets_[i].a_buffer = buffers_[2 * i].data.get();
    sets_[i].b_buffer = buffers_[2 * i + 1].data.get();
  }
  return Status();
}

Product::Product(const MultiplyCall& call, const MultiplyOptions& options,
                 const MultiplierOptions& grid, int rank)
    : call_(call),
      options_(options),
      grid_(grid),
      rank_(rank),
      element_bytes_(ElementBytes(call.element)) {
  const Dealing c_rows = RowsOf(call.c, grid.rows);
  const Dealing c_cols = ColsOf(call.c, grid.cols);
  OwnParts own;
  own.row = rank / grid.cols;
  own.col = rank % grid.cols;
  rows_ = OwnRanges(c_rows, call.m, own.row);
  cols_ = OwnRanges(c_cols, call.n, own.col);
  m_ = CountOf(rows_);
  n_ = CountOf(cols_);
  if (m_ == 0 || n_ == 0) return;
  first_row_ = c_rows.LocalOf(rows_[0].begin);
  first_col_ = c_cols.LocalOf(cols_[0].begin);
  is_sum_ = call.k > 0 && !IsZero(call.element, call.alpha);
  if (!is_sum_) return;

  const size_t elements = std::min(grid.buffer_bytes / element_bytes_, size_t{INT32_MAX});
  cutting_ = Cut(m_, n_, call.k, static_cast<int64_t>(elements));
  row_tiles_ = (m_ + cutting_.rows - 1) / cutting_.rows;
  const bool a_turned = call.op_a != Transpose::kNo;
  const bool b_turned = call.op_b != Transpose::kNo;
  const Dealing a_rows = RowsOf(call.a, grid.rows);
  const Dealing a_cols = ColsOf(call.a, grid.cols);
  const Dealing b_rows = RowsOf(call.b, grid.rows);
  const Dealing b_cols = ColsOf(call.b, grid.cols);
  panels_ =
      CutIntoPanels(a_turned ? a_rows : a_cols, b_turned ? b_cols : b_rows, call.k, cutting_.width);
  own.along_a = a_turned ? own.row : own.col;
  own.along_b = b_turned ? own.col : own.row;
  for (const IndexPiece& piece : PiecesOf(a_turned ? a_cols : a_rows, rows_)) {
    if (piece.owner == (a_turned ? own.col : own.row)) own.of_a += piece.count;
  }
  for (const IndexPiece& piece : PiecesOf(b_turned ? b_rows : b_cols, cols_)) {
    if (piece.owner == (b_turned ? own.row : own.col)) own.of_b += piece.count;
  }
  starts_ = StartsOf(panels_, own);
  visits_ = VisitsOf(options.order, panels_, starts_);
  steps_ = row_tiles_ * ((n_ + cutting_.cols - 1) / cutting_.cols) *
           static_cast<int64_t>(visits_.size());

  bool is_used[kSums] = {};
  for (const Panel& panel : panels_) is_used[SumOf(panel.class_number, starts_)] = true;
  sum_in_c_ = static_cast<int>(std::find(is_used, is_used + kSums, true) - is_used);
  for (int i = 0; i < kSums; ++i) {
    buffer_of_[i] = is_used[i] && i != sum_in_c_ ? sum_buffers_++ : -1;
  }
}

Status Product::Prepare(ProductMemory* memory) {
  BRIGADE_RETURN_IF_ERROR(Gemm::Find(call_.element, &gemm_));
  if (steps_ == 0) return Status();
  const auto longest = static_cast<size_t>(std::max(cutting_.rows, cutting_.cols));
  return memory->Reserve(
      options_.depth + 1, longest * static_cast<size_t>(cutting_.width) * element_bytes_,
      sum_buffers_,
      static_cast<size_t>(cutting_.rows) * static_cast<size_t>(cutting_.cols) * element_bytes_);
}

Product::Tile Product::TileOf(int64_t step) const {
  const int64_t number = step / static_cast<int64_t>(visits_.size());
  Tile tile;
  tile.row = number % row_tiles_ * cutting_.rows;
  tile.col = number / row_tiles_ * cutting_.cols;
  tile.rows = std::min(cutting_.rows, m_ - tile.row);
  tile.cols = std::min(cutting_.cols, n_ - tile.col);
  return tile;
}

const Panel& Product::PanelOf(int64_t step) const {
  const auto visit = static_cast<size_t>(step) % visits_.size();
  return panels_[static_cast<size_t>(visits_[visit])];
}

Status Product::Begin(int64_t step, Operand* a, Operand* b, Needs* needs,
                      ProductMemory::Set* set) const {
  const int64_t number = step / static_cast<int64_t>(visits_.size());
  if (needs->tile != number) {
    const Tile tile = TileOf(step);
    needs->tile = number;
    needs->a_rows = PiecesOf(a->op_rows(), Slice(rows_, tile.row, tile.rows));
    needs->b_cols = PiecesOf(b->op_cols(), Slice(cols_, tile.col, tile.cols));
  }
  const Panel& panel = PanelOf(step);
  BRIGADE_RETURN_IF_ERROR(
      a->Begin(needs->a_rows, PiecesOf(a->op_cols(), panel.indices), set->a_buffer, &set->a));
  return b->Begin(PiecesOf(b->op_rows(), panel.indices), needs->b_cols, set->b_buffer, &set->b);
}

std::byte* Product::PlaceOf(const Tile& tile) const {
  const int64_t element = first_row_ + tile.row + (first_col_ + tile.col) * call_.c.ld;
  return call_.c.data + element * static_cast<int64_t>(element_bytes_);
}

void Product::Scale() const {
  const Numbers numbers(call_.element);
  const std::byte nothing[16] = {};
  gemm_('N', 'N', m_, n_, 0, numbers.zero, nothing, m_, nothing, 1, call_.beta, PlaceOf(Tile()),
        call_.c.ld);
}

void Product::Multiply(int64_t step, const ProductMemory::Set& set, ProductMemory* memory) {
  const Numbers numbers(call_.element);
  const Tile tile = TileOf(step);
  const Panel& panel = PanelOf(step);
  const int sum = SumOf(panel.class_number, starts_);
  const bool is_first = !has_begun_[sum];
  has_begun_[sum] = true;
  const bool is_in_c = sum == sum_in_c_;
  std::byte* const to = is_in_c ? PlaceOf(tile) : memory->sum(static_cast<size_t>(buffer_of_[sum]));
  const void* const beta = !is_first ? numbers.one : is_in_c ? call_.beta : numbers.zero;
  gemm_(Letter(call_.op_a), Letter(call_.op_b), tile.rows, tile.cols, panel.width, call_.alpha,
        set.a.data, set.a.ld, set.b.data, set.b.ld, beta, to, is_in_c ? call_.c.ld : tile.rows);
}

void Product::AddSums(const Tile& tile, ProductMemory* memory) {
  const int64_t reals =
      call_.element == Element::kComplexFloat || call_.element == Element::kComplexDouble ? 2 : 1;
  const bool is_float = call_.element == Element::kFloat || call_.element == Element::kComplexFloat;
  for (int sum = 0; sum < kSums; ++sum) {
    has_begun_[sum] = false;
    if (buffer_of_[sum] < 0) continue;
    const std::byte* const from = memory->sum(static_cast<size_t>(buffer_of_[sum]));
    std::byte* const to = PlaceOf(tile);
    const int64_t rows = reals * tile.rows;
    const int64_t ld = reals * call_.c.ld;
    if (is_float) {
      Add(reinterpret_cast<const float*>(from), rows, tile.cols, reinterpret_cast<float*>(to), ld);
    } else {
      Add(reinterpret_cast<const double*>(from), rows, tile.cols, reinterpret_cast<double*>(to),
          ld);
    }
  }
}

Status Product::Run(Window* window, const std::vector<PartPlace>& a_places,
                    const std::vector<PartPlace>& b_places, ProductMemory* memory,
                    MultiplyStatistics* statistics) {
  if (m_ == 0 || n_ == 0) return Status();
  if (!is_sum_) {
    Scale();
    return Status();
  }
  Operand::Options of_a{call_.element, call_.op_a != Transpose::kNo, grid_.rows, grid_.cols,
                        options_.in_place};
  Operand::Options of_b = of_a;
  of_b.is_transposed = call_.op_b != Transpose::kNo;
  Operand a(call_.a, of_a, window, a_places, statistics);
  Operand b(call_.b, of_b, window, b_places, statistics);
  Needs needs;
  const int64_t sets = options_.depth + 1;
  const auto set_of = [&](int64_t step) { return memory->set(static_cast<size_t>(step % sets)); };
  int64_t begun = 0;
  for (int64_t step = 0; step < steps_; ++step) {
    for (; begun < std::min(step + sets, steps_); ++begun) {
      BRIGADE_RETURN_IF_ERROR(Begin(begun, &a, &b, &needs, set_of(begun)));
    }
    ProductMemory::Set* const set = set_of(step);
    for (const FetchedBlock* const block : {&set->a, &set->b}) {
      for (const std::atomic<bool>& arrived : block->arrived) {
        BRIGADE_RETURN_IF_ERROR(window->WaitFor(arrived));
      }
    }
    Multiply(step, *set, memory);
    ++statistics->products;
    if ((step + 1) % static_cast<int64_t>(visits_.size()) == 0) AddSums(TileOf(step), memory);
  }
  return Status();
}

}  // namespace brigade
