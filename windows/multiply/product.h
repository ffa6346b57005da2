// Product: one product on one rank, from when all ranks know where its operands are.
//
// Step by step a panel of A and one of B are multiplied, while those of the steps that follow are
// on their way. Where a rank's part of C does not fit, it is computed tile by tile; where half of C
// is wanted, area by area.

#ifndef BRIGADE_WINDOWS_MULTIPLY_PRODUCT_H_
#define BRIGADE_WINDOWS_MULTIPLY_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "windows/core/window.h"
#include "windows/multiply/areas.h"
#include "windows/multiply/blas.h"
#include "windows/multiply/cutting.h"
#include "windows/multiply/distribution.h"
#include "windows/multiply/multiply_call.h"
#include "windows/multiply/operand.h"
#include "windows/multiply/panels.h"

namespace brigade {

// Memory that a rank needs for its products, kept from one to the next. Part of what is to arrive
// in it may still be on its way when a product has failed.
class ProductMemory {
 public:
  struct Set {
    FetchedBlock a;
    FetchedBlock b;
    std::byte* a_buffer = nullptr;
    std::byte* b_buffer = nullptr;
  };

  // kOutOfMemory.
  Status Reserve(int sets, size_t buffer_bytes, size_t sum_bytes);
  Set* set(size_t i) { return &sets_[i]; }
  std::byte* sum() { return sum_.data.get(); }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  struct Buffer {
    std::unique_ptr<std::byte, Free> data;
    size_t bytes = 0;
  };
  static Status Grow(Buffer* buffer, size_t bytes);

  std::vector<Buffer> buffers_;
  Buffer sum_;
  std::deque<Set> sets_;
};

class Product {
 public:
  // Plans this rank's part, from this rank's arguments alone. REQUIRES: the arguments were checked.
  Product(const MultiplyCall& call, const MultiplyOptions& options, const MultiplierOptions& grid,
          int rank);

  // kOutOfMemory, kUnavailable: no BLAS.
  Status Prepare(ProductMemory* memory);
  // `window`: of all memory of each process. Fails as that does.
  Status Run(Window* window, const std::vector<PartPlace>& a_places,
             const std::vector<PartPlace>& b_places, ProductMemory* memory,
             MultiplyStatistics* statistics);

 private:
  struct Tile {
    Area all;
    std::vector<Area> areas;  // what is wanted of it: some
  };

  // The rows of A and the columns of B that a tile needs.
  struct Needs {
    int64_t tile = -1;
    std::vector<IndexPiece> a_rows;
    std::vector<IndexPiece> b_cols;
  };

  Status AddProduct(Window* window, const std::vector<PartPlace>& a_places,
                    const std::vector<PartPlace>& b_places, ProductMemory* memory,
                    MultiplyStatistics* statistics);
  // Cuts what is wanted of this rank's part of C, so long and so wide at most.
  void CutIntoTiles(int64_t rows, int64_t cols);
  const Tile& TileOf(int64_t step) const;
  const Panel& PanelOf(int64_t step) const;
  Status Begin(int64_t step, Operand* a, Operand* b, Needs* needs, ProductMemory::Set* set) const;
  void Multiply(int64_t step, const ProductMemory::Set& set, ProductMemory* memory,
                MultiplyStatistics* statistics);
  // Adds sum 1 to C, after the last panel of a tile.
  void EndTile(const Tile& tile, ProductMemory* memory);
  std::byte* PlaceOf(int64_t row, int64_t col) const;
  // The rows of an area that are wanted of one of its columns.
  IndexRange WantedOf(const Area& area, int64_t col) const;
  // Calls compute(where, ld), which updates an area of C. Elements that are not wanted stay as they
  // are.
  template <typename Compute>
  void InC(const Area& area, const Compute& compute);
  void Scale();
  // By a beta that is real: as a complex number it would make NaN of infinities. `Real`: of what
  // elements have two.
  template <typename Real>
  void ScaleWanted();
  void MakeDiagonalReal() const;

  const MultiplyCall call_;
  const MultiplyOptions options_;
  const MultiplierOptions grid_;
  const int rank_;
  const size_t element_bytes_;
  Gemm gemm_;
  // This rank's part of C.
  std::vector<IndexRange> rows_;
  std::vector<IndexRange> cols_;
  int64_t m_ = 0;
  int64_t n_ = 0;
  int64_t first_row_ = 0;  // where it begins in its memory
  int64_t first_col_ = 0;
  std::vector<IndexRange> wanted_;  // of these rows, by column

  bool is_sum_ = false;  // there is something to add to beta C
  Cutting cutting_;
  std::vector<Tile> tiles_;
  std::vector<Panel> panels_;
  int first_class_ = 0;  // sum 0 is in C; sum 1, which is empty if this is 0, is in a buffer
  std::vector<int> visits_;
  int64_t steps_ = 0;
  bool has_begun_[kSums] = {};      // in the current tile
  bool is_scaled_ = false;          // C is multiplied by beta already
  std::vector<std::byte> crossed_;  // a copy of an area
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_PRODUCT_H_
