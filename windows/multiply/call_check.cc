#include "windows/multiply/call_check.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "membuf/element.h"
#include "windows/multiply/distribution.h"

namespace brigade {
namespace {

constexpr int64_t kMostSize = int64_t{1} << 48;
constexpr int64_t kMostBytes = int64_t{1} << 62;

Status AtLeast(const char* name, int64_t value, int64_t least) {
  if (value >= least && value <= kMostSize) return Status();
  return Invalid(std::string(name) + " is " + std::to_string(value) + ", and must be at least " +
                 std::to_string(least) + (value > kMostSize ? " and at most 2^48" : ""));
}

// One dimension of a matrix, of which `used` take part.
Status CheckDimension(const char* what, int64_t size, int64_t block, int source, int procs,
                      int64_t first, int64_t more, int64_t used) {
  const std::string name = what;
  BRIGADE_RETURN_IF_ERROR(AtLeast((name + "s").c_str(), size, 0));
  BRIGADE_RETURN_IF_ERROR(AtLeast((name + "_block").c_str(), block, 1));
  BRIGADE_RETURN_IF_ERROR(AtLeast(("more_" + name + "s").c_str(), more, 1 - block));
  if (source < 0 || source >= procs) {
    return Invalid(name + "_source is " + std::to_string(source) + " of a grid that has " +
                   std::to_string(procs) + " " + name + "s");
  }
  BRIGADE_RETURN_IF_ERROR(AtLeast(what, first, 0));
  if (used <= size && first <= size - used) return Status();
  return Invalid(std::to_string(used) + " " + name + "s from " + name + " " +
                 std::to_string(first) + " on, in a matrix that has " + std::to_string(size));
}

Status CheckMatrix(const DistributedMatrix& matrix, int64_t used_rows, int64_t used_cols,
                   const MultiplyCall& call, const MultiplierOptions& grid, int rank) {
  BRIGADE_RETURN_IF_ERROR(CheckDimension("row", matrix.rows, matrix.row_block, matrix.row_source,
                                         grid.rows, matrix.row, matrix.more_rows, used_rows));
  BRIGADE_RETURN_IF_ERROR(CheckDimension("col", matrix.cols, matrix.col_block, matrix.col_source,
                                         grid.cols, matrix.col, matrix.more_cols, used_cols));
  Distribution rows = RowsOf(matrix, grid.rows);
  Distribution cols = ColsOf(matrix, grid.cols);
  const int64_t own_rows = rows.CountOf(matrix.rows, rank / grid.cols);
  const int64_t own_cols = cols.CountOf(matrix.cols, rank % grid.cols);
  // The BLAS counts in 31 bits.
  if (matrix.ld < std::max<int64_t>(1, own_rows) || matrix.ld > INT32_MAX) {
    return Invalid("ld is " + std::to_string(matrix.ld) + ", for " + std::to_string(own_rows) +
                   " rows here, and must be below 2^31");
  }
  const auto element = static_cast<int64_t>(ElementBytes(call.element));
  if (own_cols > kMostBytes / element / matrix.ld) {
    return Invalid(std::to_string(own_cols) + " columns here, of ld " + std::to_string(matrix.ld) +
                   ": must be at most 2^62 bytes");
  }
  const Window* const window = matrix.window;
  if (window != nullptr && (window->size() != grid.rows * grid.cols || window->rank() != rank)) {
    return Invalid("window is one of other ranks");
  }
  if (own_rows == 0 || own_cols == 0) return Status();
  if (matrix.data == nullptr) return Invalid("data is a null pointer");
  if (window == nullptr) return Status();
  const int64_t bytes = ((own_cols - 1) * matrix.ld + own_rows) * element;
  const std::byte* const base = window->base();
  const int64_t whole = window->bytes_of(rank);
  if (matrix.data < base || bytes > whole || matrix.data - base > whole - bytes) {
    return Invalid("the " + std::to_string(bytes) +
                   " bytes from data on are not inside the window, which has " +
                   std::to_string(whole) + " bytes");
  }
  return Status();
}

// A rank's part of a submatrix: as a column-major matrix in memory.
struct OwnPart {
  const std::byte* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 1;
};

OwnPart OwnPartOf(const DistributedMatrix& matrix, int64_t used_rows, int64_t used_cols,
                  Element element, const MultiplierOptions& grid, int rank) {
  const auto here = [](const Distribution& distribution, int64_t used, int proc) {
    const int64_t before = distribution.CountOf(distribution.first, proc);
    return IndexRange{before, distribution.CountOf(distribution.first + used, proc)};
  };
  const IndexRange rows = here(RowsOf(matrix, grid.rows), used_rows, rank / grid.cols);
  const IndexRange cols = here(ColsOf(matrix, grid.cols), used_cols, rank % grid.cols);
  if (rows.count() == 0 || cols.count() == 0) return {};  // its data may be a null pointer
  const int64_t first = rows.begin + cols.begin * matrix.ld;
  return {matrix.data + first * static_cast<int64_t>(ElementBytes(element)), rows.count(),
          cols.count(), matrix.ld};
}

// Whether they have an element in common, where they are equally distributed; otherwise, whether
// they may.
bool Overlap(OwnPart one, OwnPart other, Element element) {
  if (one.rows * one.cols == 0 || other.rows * other.cols == 0) return false;
  if (std::less<>()(other.data, one.data)) std::swap(one, other);
  const auto bytes = static_cast<int64_t>(ElementBytes(element));
  const int64_t apart = other.data - one.data;
  if (apart >= ((one.cols - 1) * one.ld + one.rows) * bytes) return false;
  if (one.ld != other.ld || apart % bytes != 0) return true;
  // Where the other begins in the columns of the one, and what of it comes round to the next.
  const int64_t row = apart / bytes % one.ld;
  const int64_t col = apart / bytes / one.ld;
  const int64_t round = row + other.rows - one.ld;
  return (row < one.rows && col < one.cols) || (round > 0 && col + 1 < one.cols);
}

Status CheckEnum(const char* name, int value, int values) {
  if (value >= 0 && value < values) return Status();
  return Invalid(std::string(name) + " has no value " + std::to_string(value));
}

// Of what must be equal, in the order of RecordOf. Scalars take two places, and are no integers.
const char* const kCallNames[] = {"element", "op_a",         "op_b",  "m",     "n",    "k",
                                  "half",    "is_hermitian", "alpha", "alpha", "beta", "beta"};
constexpr size_t kFirstScalar = 8;
const char* const kMatrixNames[] = {"rows",      "cols",      "row_block",  "col_block",
                                    "more_rows", "more_cols", "row_source", "col_source",
                                    "row",       "col",       "window"};
constexpr size_t kOfCall = std::size(kCallNames);
constexpr size_t kOfMatrix = std::size(kMatrixNames);
static_assert(CallRecord::kAgreed == kOfCall + 3 * kOfMatrix);

std::string NameOf(size_t agreed) {
  if (agreed < kOfCall) return kCallNames[agreed];
  const size_t of_matrices = agreed - kOfCall;
  return std::string(1, "abc"[of_matrices / kOfMatrix]) + "." +
         kMatrixNames[of_matrices % kOfMatrix];
}

PartPlace PlaceOf(const DistributedMatrix& matrix) {
  PartPlace place;
  place.address = reinterpret_cast<uint64_t>(matrix.data);
  if (matrix.window != nullptr && matrix.data != nullptr) {
    place.offset = matrix.data - matrix.window->base();
  }
  place.ld = matrix.ld;
  return place;
}

}  // namespace

Status CheckCall(const MultiplyCall& call, const MultiplyOptions& options,
                 const MultiplierOptions& grid, int rank) {
  const bool is_known = call.element == Element::kFloat || call.element == Element::kDouble ||
                        call.element == Element::kComplexFloat ||
                        call.element == Element::kComplexDouble;
  if (!is_known)
    return Invalid("element: only floats and doubles, and complex ones, are multiplied");
  constexpr int kOps = static_cast<int>(Transpose::kConjugate) + 1;
  BRIGADE_RETURN_IF_ERROR(CheckEnum("op_a", static_cast<int>(call.op_a), kOps));
  BRIGADE_RETURN_IF_ERROR(CheckEnum("op_b", static_cast<int>(call.op_b), kOps));
  BRIGADE_RETURN_IF_ERROR(CheckEnum("order", static_cast<int>(options.order), kMultiplyOrders));
  BRIGADE_RETURN_IF_ERROR(CheckEnum("half", static_cast<int>(call.half), kHalves));
  if (options.depth < 0 || options.depth > kMostMultiplyDepth) {
    return Invalid("depth is " + std::to_string(options.depth) + ", and must be from 0 to " +
                   std::to_string(kMostMultiplyDepth));
  }
  BRIGADE_RETURN_IF_ERROR(AtLeast("m", call.m, 0));
  BRIGADE_RETURN_IF_ERROR(AtLeast("n", call.n, 0));
  BRIGADE_RETURN_IF_ERROR(AtLeast("k", call.k, 0));
  if (call.half != Half::kBoth && call.m != call.n) {
    return Invalid("half of a C that is not square");
  }
  if (call.alpha == nullptr) return Invalid("alpha is a null pointer");
  if (call.beta == nullptr) return Invalid("beta is a null pointer");
  const bool a_turned = call.op_a != Transpose::kNo;
  const bool b_turned = call.op_b != Transpose::kNo;
  BRIGADE_RETURN_IF_ERROR(
      CheckMatrix(call.a, a_turned ? call.k : call.m, a_turned ? call.m : call.k, call, grid, rank)
          .WithContext("a"));
  BRIGADE_RETURN_IF_ERROR(
      CheckMatrix(call.b, b_turned ? call.n : call.k, b_turned ? call.k : call.n, call, grid, rank)
          .WithContext("b"));
  BRIGADE_RETURN_IF_ERROR(CheckMatrix(call.c, call.m, call.n, call, grid, rank).WithContext("c"));
  if (call.k == 0) return Status();
  const auto part = [&](const DistributedMatrix& matrix, int64_t rows, int64_t cols) {
    return OwnPartOf(matrix, rows, cols, call.element, grid, rank);
  };
  const OwnPart a = part(call.a, a_turned ? call.k : call.m, a_turned ? call.m : call.k);
  const OwnPart b = part(call.b, b_turned ? call.n : call.k, b_turned ? call.k : call.n);
  const OwnPart c = part(call.c, call.m, call.n);
  if (Overlap(a, c, call.element)) return Invalid("c shares memory with a");
  if (Overlap(b, c, call.element)) return Invalid("c shares memory with b");
  return Status();
}

CallRecord RecordOf(const MultiplyCall& call, const Status& found) {
  CallRecord record;
  record.code = found.code();
  found.message().copy(record.text, sizeof(record.text) - 1);
  if (!found.ok()) return record;
  int64_t* next = record.agreed;
  for (const int64_t value : {static_cast<int64_t>(call.element), static_cast<int64_t>(call.op_a),
                              static_cast<int64_t>(call.op_b), call.m, call.n, call.k,
                              static_cast<int64_t>(call.half), int64_t{call.is_hermitian}}) {
    *next++ = value;
  }
  for (const void* const number : {call.alpha, call.beta}) {
    std::memcpy(next, number, ElementBytes(call.element));
    next += 2;
  }
  for (const DistributedMatrix* const matrix : {&call.a, &call.b, &call.c}) {
    for (const int64_t value : {matrix->rows, matrix->cols, matrix->row_block, matrix->col_block,
                                matrix->more_rows, matrix->more_cols, int64_t{matrix->row_source},
                                int64_t{matrix->col_source}, matrix->row, matrix->col}) {
      *next++ = value;
    }
    *next++ = matrix->window != nullptr ? 1 : 0;
  }
  record.a = PlaceOf(call.a);
  record.b = PlaceOf(call.b);
  return record;
}

Status CheckRecords(const std::vector<CallRecord>& records) {
  for (size_t r = 0; r < records.size(); ++r) {
    if (records[r].code == StatusCode::kOk) continue;
    const char* const end = std::find(records[r].text, std::end(records[r].text), '\0');
    return {records[r].code,
            "a product on rank " + std::to_string(r) + ": " + std::string(records[r].text, end)};
  }
  for (size_t r = 1; r < records.size(); ++r) {
    for (size_t i = 0; i < CallRecord::kAgreed; ++i) {
      const int64_t first = records[0].agreed[i];
      const int64_t other = records[r].agreed[i];
      if (first == other) continue;
      std::string text = "the ranks of a product differ in " + NameOf(i) + ": rank ";
      if (i >= kFirstScalar && i < kOfCall) {
        text += std::to_string(r) + " has another than rank 0";
      } else {
        text += "0 has " + std::to_string(first) + ", rank " + std::to_string(r) + " has " +
                std::to_string(other);
      }
      return {StatusCode::kMismatch, text};
    }
  }
  return Status();
}

}  // namespace brigade
