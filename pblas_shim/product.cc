#include "pblas_shim/product.h"

#include <cinttypes>
#include <cstddef>
#include <cstdio>
#include <string>

#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"
#include "pblas_shim/decision.h"
#include "pblas_shim/errors.h"
#include "pblas_shim/grid.h"
#include "pblas_shim/process_functions.h"
#include "pblas_shim/runtime.h"
#include "transport/mpi/mpi_teardown.h"
#include "windows/multiply/multiply.h"
#include "windows/multiply/multiply_call.h"

namespace brigade {
namespace pblas {
namespace {

// The first places of a descriptor.
enum { kType, kContext, kRows, kCols, kRestOfDescriptor };

char ToUpper(char letter) { return static_cast<char>(letter & ~0x20); }

// False: a letter that the PBLAS have to judge.
bool ToTranspose(const char* letter, Transpose* op) {
  switch (ToUpper(*letter)) {
    case 'N':
      *op = Transpose::kNo;
      return true;
    case 'T':
      *op = Transpose::kYes;
      return true;
    case 'C':
      *op = Transpose::kConjugate;
      return true;
    default:
      return false;
  }
}

bool ToHalf(const char* letter, Half* half) {
  switch (ToUpper(*letter)) {
    case 'U':
      *half = Half::kUpper;
      return true;
    case 'L':
      *half = Half::kLower;
      return true;
    default:
      return false;
  }
}

// Translates the letters of a call. Returns false for letters that the PBLAS do not define.
bool ReadLetters(const ProductArguments& arguments, MultiplyCall* call) {
  if (!ToTranspose(arguments.op_a, &call->op_a)) return false;
  if (arguments.half == nullptr) return ToTranspose(arguments.op_b, &call->op_b);
  if (!ToHalf(arguments.half, &call->half)) return false;
  const bool is_real = call->element == Element::kFloat || call->element == Element::kDouble;
  if (is_real && call->op_a == Transpose::kConjugate) call->op_a = Transpose::kYes;
  const Transpose turned = arguments.is_hermitian ? Transpose::kConjugate : Transpose::kYes;
  call->op_b = call->op_a == Transpose::kNo ? turned : Transpose::kNo;
  return call->op_a == Transpose::kNo || call->op_a == turned;
}

// Below 0 where it can be no rank's.
int ToRank(int64_t number) {
  return number == static_cast<int>(number) ? static_cast<int>(number) : -1;
}

DistributedMatrix ToMatrix(const Submatrix& given) {
  DistributedMatrix matrix;
  matrix.data = static_cast<std::byte*>(given.data);
  matrix.rows = given.descriptor[kRows];
  matrix.cols = given.descriptor[kCols];
  const int64_t* const first = &given.descriptor[kRestOfDescriptor];
  const int64_t* const rest = given.descriptor[kType] == kBlockCyclic ? first : first + 2;
  matrix.row_block = rest[0];
  matrix.col_block = rest[1];
  matrix.more_rows = first[0] - rest[0];
  matrix.more_cols = first[1] - rest[1];
  matrix.row_source = ToRank(rest[2]);
  matrix.col_source = ToRank(rest[3]);
  matrix.ld = rest[4];
  matrix.row = given.row - 1;
  matrix.col = given.col - 1;
  return matrix;
}

bool IsInBlocks(const Submatrix& matrix) {
  const int64_t type = matrix.descriptor[kType];
  return type == kBlockCyclic || type == kBlockCyclicWithFirstBlock;
}

// Finds the grid of the first matrix whose context includes this process; false: there is none.
bool FindGrid(const char* routine, const ProductArguments& arguments, int64_t* context,
              GridPlace* place) {
  static auto* const grid_info = FindFunction<GridInfo>(find_first, "blacs_gridinfo_", routine);
  for (const Submatrix* const matrix : {&arguments.a, &arguments.b, &arguments.c}) {
    if (!IsInBlocks(*matrix)) continue;
    *context = matrix->descriptor[kContext];
    int64_t rows = 0;
    int64_t cols = 0;
    int64_t row = 0;
    int64_t col = 0;
    grid_info(context, &rows, &cols, &row, &col);
    *place = {LowHalf(rows), LowHalf(cols), LowHalf(row), LowHalf(col)};
    if (place->rows > 0 && place->row >= 0) return true;
  }
  return false;
}

// Returns the reason why these arguments are invalid; null: they are valid.
const char* FindWrong(const ProductArguments& arguments, MultiplyCall* call) {
  if (!ReadLetters(arguments, call)) return "a letter means nothing";
  for (const Submatrix* const matrix : {&arguments.a, &arguments.b, &arguments.c}) {
    if (!IsInBlocks(*matrix)) return "a matrix is not distributed in blocks";
    if (matrix->descriptor[kContext] != arguments.a.descriptor[kContext]) {
      return "matrices are on several grids";
    }
  }
  return nullptr;
}

void Explain(const Runtime& runtime, const Grid& grid, const char* routine,
             const ProductArguments& arguments, const std::string& why_left) {
  if (!runtime.settings().engine.explain || grid.place().row != 0 || grid.place().col != 0) return;
  // As they are called with.
  const char letters[] = {arguments.half == nullptr ? *arguments.op_a : *arguments.half,
                          arguments.half == nullptr ? *arguments.op_b : *arguments.op_a};
  std::fprintf(
      stderr, "brigade: %s %c%c %" PRId64 " x %" PRId64 " x %" PRId64 " on %d x %d ranks: %s%s\n",
      routine, letters[0], letters[1], arguments.m, arguments.n, arguments.k, grid.place().rows,
      grid.place().cols,
      why_left.empty() ? "by one-sided communication" : "left to the PBLAS: ", why_left.c_str());
}

// Fails instead of leaving the product to the PBLAS: the free memory of a machine must not decide
// which library computes, since results differ in the last bits.
[[noreturn]] void FailForWant(const char* routine, const Status& status) {
  Fail(routine, status.ToString() + "; BRIGADE_PBLAS=off leaves all products to the PBLAS");
}

bool TryProduct(const char* routine, Element element, const ProductArguments& arguments,
                LeftProduct* left) {
  int64_t context = 0;
  GridPlace place;
  if (IsTornDown() || !FindGrid(routine, arguments, &context, &place)) return false;
  Runtime* const runtime = Runtime::Start(routine);
  Grid* const grid = runtime->GridOf(routine, context, place);
  const ProductShape shape{arguments.m, arguments.n, arguments.k,
                           place.rows,  place.cols,  arguments.half != nullptr};
  MultiplyCall call;
  call.element = element;
  const auto decide = [&] {
    const char* const wrong = FindWrong(arguments, &call);
    if (wrong != nullptr) return wrong;
    return WhyLeft(runtime->settings().pblas, shape, grid->is_row_by_row());
  };
  const char* decided = decide();
  if (decided != nullptr) {
    grid->LeaveProduct(routine, left);
  } else {
    grid->TakeProduct(routine);
    if (!grid->outcome().ok()) FailForWant(routine, grid->outcome());
    decided = decide();  // anew: the order of the ranks is known now
  }
  std::string why_left = decided != nullptr ? decided : "";
  if (why_left.empty()) {
    call.is_hermitian = arguments.is_hermitian;
    call.m = shape.m;
    call.n = shape.n;
    call.k = shape.k;
    call.alpha = arguments.alpha;
    call.beta = arguments.beta;
    call.a = ToMatrix(arguments.a);
    call.b = ToMatrix(arguments.b);
    call.c = ToMatrix(arguments.c);
    const Status status = grid->multiplier()->Multiply(call);
    // Then C is unspecified, or others are elsewhere.
    if (!status.ok() && grid->multiplier()->is_broken()) Fail(routine, status.ToString());
    switch (status.code()) {
      case StatusCode::kOk:
        break;
      case StatusCode::kMismatch:
        // They do not look for that, and may wait for ever.
        if (place.row == 0 && place.col == 0) {
          std::fprintf(stderr, "brigade: %s is left to the PBLAS: %s\n", routine,
                       status.message().c_str());
        }
        why_left = status.message();
        break;
      case StatusCode::kInvalidArgument:
      case StatusCode::kUnavailable:
        why_left = status.message();
        break;
      case StatusCode::kOutOfMemory:
        FailForWant(routine, status);
      default:
        Fail(routine, status.ToString());
    }
  }
  Explain(*runtime, *grid, routine, arguments, why_left);
  return why_left.empty();
}

}  // namespace

bool ComputeProduct(const char* routine, Element element, const ProductArguments& arguments,
                    LeftProduct* left) {
  bool is_computed = false;
  const Status status = CatchOutOfMemory([&] {
    is_computed = TryProduct(routine, element, arguments, left);
    return Status();
  });
  if (!status.ok()) FailForWant(routine, status);
  return is_computed;
}

}  // namespace pblas
}  // namespace brigade
