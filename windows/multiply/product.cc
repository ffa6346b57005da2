#include "windows/multiply/product.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "windows/multiply/visits.h"
#include "windows/rules.h"

namespace brigade {
namespace {

constexpr std::align_val_t kAlignment{64};

// 1 and 0 as the BLAS takes them, of any of its four kinds of elements.
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

bool Is(double real, Element element, const void* value) {
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
  return parts[0] == real && parts[1] == 0;
}

template <typename T>
void Add(const std::byte* from, size_t bytes, std::byte* to) {
  const T* const values = reinterpret_cast<const T*>(from);
  T* const sums = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < bytes / sizeof(T); ++i) sums[i] += values[i];
}

char Letter(Transpose op) {
  if (op == Transpose::kNo) return 'N';
  return op == Transpose::kYes ? 'T' : 'C';
}

}  // namespace

void ProductMemory::Free::operator()(std::byte* data) const { operator delete(data, kAlignment); }

Status ProductMemory::Grow(Buffer* buffer, size_t bytes) {
  if (buffer->bytes >= bytes) return Status();
  buffer->data.reset();
  buffer->bytes = 0;
  buffer->data.reset(static_cast<std::byte*>(operator new(bytes, kAlignment, std::nothrow)));
  if (buffer->data == nullptr) {
    return {StatusCode::kOutOfMemory,
            "a buffer of " + std::to_string(bytes) +
                " bytes; reduce buffer_bytes (BRIGADE_MULTIPLY_BYTES) or depth"};
  }
  buffer->bytes = bytes;
  return Status();
}

Status ProductMemory::Reserve(int sets, size_t buffer_bytes, size_t sum_bytes) {
  const auto count = static_cast<size_t>(sets);
  if (buffers_.size() < 2 * count) buffers_.resize(2 * count);
  for (size_t i = 0; i < 2 * count; ++i) {
    BRIGADE_RETURN_IF_ERROR(Grow(&buffers_[i], buffer_bytes));
  }
  BRIGADE_RETURN_IF_ERROR(Grow(&sum_, sum_bytes));
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
  const Distribution c_rows = RowsOf(call.c, grid.rows);
  const Distribution c_cols = ColsOf(call.c, grid.cols);
  const int grid_row = rank / grid.cols;
  const int grid_col = rank % grid.cols;
  rows_ = OwnRanges(c_rows, call.m, grid_row);
  cols_ = OwnRanges(c_cols, call.n, grid_col);
  m_ = CountOf(rows_);
  n_ = CountOf(cols_);
  if (m_ == 0 || n_ == 0) return;
  first_row_ = c_rows.LocalOf(rows_[0].begin);
  first_col_ = c_cols.LocalOf(cols_[0].begin);
  wanted_ = WantedRows(call.half, rows_, cols_);
  is_sum_ = call.k > 0 && !Is(0, call.element, call.alpha);
  if (!is_sum_) {
    CutIntoTiles(m_, std::min<int64_t>(n_, INT32_MAX));  // as a BLAS counts in 32 bits
    return;
  }

  const size_t elements = std::min(grid.buffer_bytes / element_bytes_, size_t{INT32_MAX});
  cutting_ = Cut(m_, n_, call.k, static_cast<int64_t>(elements));
  CutIntoTiles(cutting_.rows, cutting_.cols);
  const Distribution along_a =
      call.op_a == Transpose::kNo ? ColsOf(call.a, grid.cols) : RowsOf(call.a, grid.rows);
  const Distribution along_b =
      call.op_b == Transpose::kNo ? RowsOf(call.b, grid.rows) : ColsOf(call.b, grid.cols);
  panels_ = CutIntoPanels(along_a, along_b, call.k, cutting_.width);
  first_class_ = FirstClassOf(panels_, grid_row, grid_col);
  visits_ = VisitsOf(options.order, panels_, first_class_);
  steps_ = static_cast<int64_t>(tiles_.size() * visits_.size());
}

void Product::CutIntoTiles(int64_t rows, int64_t cols) {
  for (int64_t col = 0; col < n_; col += cols) {
    for (int64_t row = 0; row < m_; row += rows) {
      Tile tile;
      tile.all = {row, col, std::min(rows, m_ - row), std::min(cols, n_ - col)};
      tile.areas = AreasOf(tile.all, wanted_);
      if (!tile.areas.empty()) tiles_.push_back(std::move(tile));
    }
  }
  if (call_.half != Half::kBoth)
    crossed_.resize(rules::kMostCrossed * rules::kMostCrossed * element_bytes_);
}

Status Product::Prepare(ProductMemory* memory) {
  BRIGADE_RETURN_IF_ERROR(Gemm::Find(call_.element, &gemm_));
  if (steps_ == 0) return Status();
  const auto longest = static_cast<size_t>(std::max(cutting_.rows, cutting_.cols));
  const size_t tile_bytes =
      static_cast<size_t>(cutting_.rows) * static_cast<size_t>(cutting_.cols) * element_bytes_;
  return memory->Reserve(options_.depth + 1,
                         longest * static_cast<size_t>(cutting_.width) * element_bytes_,
                         first_class_ > 0 ? tile_bytes : 0);
}

const Product::Tile& Product::TileOf(int64_t step) const {
  return tiles_[static_cast<size_t>(step) / visits_.size()];
}

const Panel& Product::PanelOf(int64_t step) const {
  const auto visit = static_cast<size_t>(step) % visits_.size();
  return panels_[static_cast<size_t>(visits_[visit])];
}

Status Product::Begin(int64_t step, Operand* a, Operand* b, Needs* needs,
                      ProductMemory::Set* set) const {
  const int64_t number = step / static_cast<int64_t>(visits_.size());
  if (needs->tile != number) {
    const Area& tile = TileOf(step).all;
    needs->tile = number;
    needs->a_rows = PiecesOf(a->op_rows(), Slice(rows_, tile.row, tile.rows));
    needs->b_cols = PiecesOf(b->op_cols(), Slice(cols_, tile.col, tile.cols));
  }
  const Panel& panel = PanelOf(step);
  BRIGADE_RETURN_IF_ERROR(
      a->Begin(needs->a_rows, PiecesOf(a->op_cols(), panel.indices), set->a_buffer, &set->a));
  return b->Begin(PiecesOf(b->op_rows(), panel.indices), needs->b_cols, set->b_buffer, &set->b);
}

std::byte* Product::PlaceOf(int64_t row, int64_t col) const {
  const int64_t element = first_row_ + row + (first_col_ + col) * call_.c.ld;
  return call_.c.data + element * static_cast<int64_t>(element_bytes_);
}

IndexRange Product::WantedOf(const Area& area, int64_t col) const {
  const IndexRange& wanted = wanted_[static_cast<size_t>(col)];
  return {std::max(wanted.begin, area.row), std::min(wanted.end, area.row + area.rows)};
}

template <typename Compute>
void Product::InC(const Area& area, const Compute& compute) {
  if (!area.is_crossed) {
    compute(PlaceOf(area.row, area.col), call_.c.ld);
    return;
  }
  const size_t column = static_cast<size_t>(area.rows) * element_bytes_;
  // visit(what is wanted of a column, where it is copied to, bytes).
  const auto for_wanted = [&](const auto& visit) {
    std::byte* copy = crossed_.data();
    for (int64_t col = area.col; col < area.col + area.cols; ++col, copy += column) {
      const IndexRange rows = WantedOf(area, col);
      if (rows.count() <= 0) continue;
      visit(PlaceOf(rows.begin, col),
            copy + static_cast<size_t>(rows.begin - area.row) * element_bytes_,
            static_cast<size_t>(rows.count()) * element_bytes_);
    }
  };
  // The rest may be anything, on which arithmetic may trap.
  std::memset(crossed_.data(), 0, column * static_cast<size_t>(area.cols));
  for_wanted(
      [](const std::byte* c, std::byte* copy, size_t bytes) { std::memcpy(copy, c, bytes); });
  compute(crossed_.data(), area.rows);
  for_wanted(
      [](std::byte* c, const std::byte* copy, size_t bytes) { std::memcpy(c, copy, bytes); });
}

template <typename Real>
void Product::ScaleWanted() {
  Real beta = 0;
  std::memcpy(&beta, call_.beta, sizeof(beta));
  for (int64_t col = 0; col < n_; ++col) {
    const IndexRange& rows = wanted_[static_cast<size_t>(col)];
    if (rows.count() <= 0) continue;
    auto* const parts = reinterpret_cast<Real*>(PlaceOf(rows.begin, col));
    for (int64_t i = 0; i < 2 * rows.count(); ++i) parts[i] *= beta;
  }
}

void Product::Scale() {
  const Numbers numbers(call_.element);
  const std::byte nothing[16] = {};
  for (const Tile& tile : tiles_) {
    for (const Area& area : tile.areas) {
      InC(area, [&](std::byte* to, int64_t ld) {
        gemm_('N', 'N', area.rows, area.cols, 0, numbers.zero, nothing, area.rows, nothing, 1,
              call_.beta, to, ld);
      });
    }
  }
}

void Product::MakeDiagonalReal() const {
  const std::vector<IndexRange> upper = WantedRows(Half::kUpper, rows_, cols_);
  const std::vector<IndexRange> lower = WantedRows(Half::kLower, rows_, cols_);
  for (size_t col = 0; col < upper.size(); ++col) {
    const int64_t row = lower[col].begin;
    if (row == upper[col].end) continue;  // that element is another rank's
    std::byte* const element = PlaceOf(row, static_cast<int64_t>(col));
    std::memset(element + element_bytes_ / 2, 0, element_bytes_ / 2);
  }
}

void Product::Multiply(int64_t step, const ProductMemory::Set& set, ProductMemory* memory,
                       MultiplyStatistics* statistics) {
  const Numbers numbers(call_.element);
  const Tile& tile = TileOf(step);
  const Panel& panel = PanelOf(step);
  const int sum = SumOf(panel.class_number, first_class_);
  const bool is_first = !has_begun_[sum];
  has_begun_[sum] = true;
  const bool is_in_c = sum == 0;
  const void* const first_beta = !is_in_c ? numbers.zero : is_scaled_ ? numbers.one : call_.beta;
  const void* const beta = is_first ? first_beta : numbers.one;
  const auto bytes = static_cast<int64_t>(element_bytes_);
  const int64_t a_apart = (call_.op_a == Transpose::kNo ? 1 : set.a.ld) * bytes;
  const int64_t b_apart = (call_.op_b == Transpose::kNo ? set.b.ld : 1) * bytes;
  for (const Area& area : tile.areas) {
    const int64_t row = area.row - tile.all.row;
    const int64_t col = area.col - tile.all.col;
    const auto multiply = [&](std::byte* to, int64_t ld) {
      gemm_(Letter(call_.op_a), Letter(call_.op_b), area.rows, area.cols, panel.width, call_.alpha,
            set.a.data + row * a_apart, set.a.ld, set.b.data + col * b_apart, set.b.ld, beta, to,
            ld);
    };
    if (is_in_c) {
      InC(area, multiply);
    } else {
      multiply(memory->sum() + (row + col * tile.all.rows) * bytes, tile.all.rows);
    }
    ++statistics->products;
  }
}

void Product::EndTile(const Tile& tile, ProductMemory* memory) {
  std::fill(has_begun_, has_begun_ + kSums, false);
  if (first_class_ == 0) return;
  const bool is_float = call_.element == Element::kFloat || call_.element == Element::kComplexFloat;
  const auto add = is_float ? &Add<float> : &Add<double>;
  for (const Area& area : tile.areas) {
    for (int64_t col = area.col; col < area.col + area.cols; ++col) {
      const IndexRange rows = WantedOf(area, col);
      if (rows.count() <= 0) continue;
      const int64_t at = rows.begin - tile.all.row + (col - tile.all.col) * tile.all.rows;
      add(memory->sum() + at * static_cast<int64_t>(element_bytes_),
          static_cast<size_t>(rows.count()) * element_bytes_, PlaceOf(rows.begin, col));
    }
  }
}

Status Product::Run(Window* window, const std::vector<PartPlace>& a_places,
                    const std::vector<PartPlace>& b_places, ProductMemory* memory,
                    MultiplyStatistics* statistics) {
  if (m_ == 0 || n_ == 0) return Status();
  // As in the BLAS: not where nothing is done at all.
  const bool is_real = call_.is_hermitian && (is_sum_ || !Is(1, call_.element, call_.beta));
  if (is_real) MakeDiagonalReal();
  is_scaled_ =
      call_.is_hermitian && !Is(0, call_.element, call_.beta) && !Is(1, call_.element, call_.beta);
  if (is_scaled_ && call_.element == Element::kComplexFloat) ScaleWanted<float>();
  if (is_scaled_ && call_.element == Element::kComplexDouble) ScaleWanted<double>();
  if (is_sum_) {
    BRIGADE_RETURN_IF_ERROR(AddProduct(window, a_places, b_places, memory, statistics));
  } else if (!is_scaled_) {
    Scale();
  }
  if (is_real) MakeDiagonalReal();
  return Status();
}

Status Product::AddProduct(Window* window, const std::vector<PartPlace>& a_places,
                           const std::vector<PartPlace>& b_places, ProductMemory* memory,
                           MultiplyStatistics* statistics) {
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
    Multiply(step, *set, memory, statistics);
    if ((step + 1) % static_cast<int64_t>(visits_.size()) == 0) EndTile(TileOf(step), memory);
  }
  return Status();
}

}  // namespace brigade
