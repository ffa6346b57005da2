// Operand: A or B of a product, and how a rank comes by blocks of it: it reads them where they are,
// or fetches them into a buffer.

#ifndef BRIGADE_WINDOWS_MULTIPLY_OPERAND_H_
#define BRIGADE_WINDOWS_MULTIPLY_OPERAND_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "membuf/element.h"
#include "membuf/status.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/multiply/distribution.h"
#include "windows/multiply/multiply_call.h"

namespace brigade {

inline Distribution RowsOf(const DistributedMatrix& matrix, int grid_rows) {
  return {matrix.row_block, matrix.row_source, grid_rows, matrix.row, matrix.more_rows};
}
inline Distribution ColsOf(const DistributedMatrix& matrix, int grid_cols) {
  return {matrix.col_block, matrix.col_source, grid_cols, matrix.col, matrix.more_cols};
}

// Where a rank has its part of a matrix.
struct PartPlace {
  uint64_t address = 0;  // in its process
  int64_t offset = 0;    // in the caller's window, if there is one
  int64_t ld = 1;
};

// A block in the form that the BLAS takes. Its data is complete once all of `arrived` are set.
struct FetchedBlock {
  const std::byte* data = nullptr;
  int64_t ld = 1;
  std::deque<std::atomic<bool>> arrived;
};

class Operand {
 public:
  struct Options {
    Element element = Element::kDouble;
    bool is_transposed = false;
    int grid_rows = 1;
    int grid_cols = 1;
    bool in_place = true;
  };
  // `window`: of all memory of each process. `places`: by rank. Counts what it does in
  // `*statistics`. All must outlive it.
  Operand(const DistributedMatrix& matrix, const Options& options, Window* window,
          std::vector<PartPlace> places, MultiplyStatistics* statistics);

  // How op(matrix)'s rows and columns are distributed.
  const Distribution& op_rows() const { return options_.is_transposed ? cols_ : rows_; }
  const Distribution& op_cols() const { return options_.is_transposed ? rows_ : cols_; }

  // A block of op(matrix), not yet transposed: `*block` says where it is, or, in `buffer`, will be.
  // REQUIRES: the buffer holds it; no fetch into the buffer or the block is under way.
  Status Begin(const std::vector<IndexPiece>& op_rows, const std::vector<IndexPiece>& op_cols,
               std::byte* buffer, FetchedBlock* block);

 private:
  using Pieces = std::vector<IndexPiece>;

  const PartPlace& PlaceOf(int rank) const { return places_[static_cast<size_t>(rank)]; }
  // Where this process sees a rank's part; null: it does not.
  const std::byte* Seen(int rank) const;
  Status Fetch(int rank, const Pieces& rows, const Pieces& cols, std::byte* buffer,
               FetchedBlock* block);
  Status LayoutOf(const Pieces& rows, const Pieces& cols, int64_t IndexPiece::*at, int64_t ld,
                  TypedLayout* layout);

  const Options options_;
  const Window* const given_;  // the caller's
  const Distribution rows_;
  const Distribution cols_;
  const int64_t element_bytes_;
  Window* const window_;
  const std::vector<PartPlace> places_;
  MultiplyStatistics* const statistics_;
  // Blocks have few layouts, and a layout is sent to an owner once.
  std::map<std::vector<int64_t>, TypedLayout> layouts_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_OPERAND_H_
