// StridedLayout: the bytes of user memory that form a message, and their order.
//
// A layout is the shape of a column-major matrix without its address: rows, columns, leading
// dimension, and the part of the rectangle that belongs to the message (all of it, or one of the
// four trapezoids of BLACS). Packed order is column by column, top to bottom; "packed offset" k is
// the k-th byte in that order. Of a row-major matrix, give the transposed. All sizes are 64-bit;
// nothing here overflows below 2^63 bytes.

#ifndef BRIGADE_MEMBUF_STRIDED_LAYOUT_H_
#define BRIGADE_MEMBUF_STRIDED_LAYOUT_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"

namespace brigade {

class StridedLayout {
 public:
  enum class Part : uint8_t {
    kGeneral,
    // BLACS: 1-based (i,j), d = 1 if the diagonal is left out.
    kUpper,  // rows <= cols: i <= j - d;  rows > cols: i <= j + (rows - cols) - d
    kLower,  // rows > cols: i >= j + d;   rows <= cols: j <= i + (cols - rows) - d
  };
  enum class Diagonal : uint8_t { kIncluded, kLeftOut };

  // An empty layout: no bytes.
  StridedLayout() = default;

  // `ld`: elements from one column's start to the next, at least `rows`. `elem_bytes`: at least 1.
  // kInvalidArgument (naming the value) if a size is negative, ld < rows, elem_bytes is 0, or the
  // extent exceeds 2^62 bytes; *layout is untouched then.
  static Status General(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes,
                        StridedLayout* layout);
  static Status Trapezoid(Part part, Diagonal diagonal, int64_t rows, int64_t cols, int64_t ld,
                          size_t elem_bytes, StridedLayout* layout);

  // `bytes` adjacent bytes.
  static StridedLayout Contiguous(size_t bytes);

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t ld() const { return ld_; }
  size_t elem_bytes() const { return elem_bytes_; }
  Part part() const { return part_; }

  // Returns the bytes of the message.
  size_t bytes() const { return bytes_; }
  // Returns whether all bytes of the message are adjacent in memory.
  bool contiguous() const { return contiguous_; }
  // Returns whether packed offsets are memory offsets.
  bool plain() const { return contiguous_ && part_ == Part::kGeneral; }
  // Returns the length of the longest contiguous run, which decides how to copy.
  size_t run_bytes() const { return run_bytes_; }

  // A maximal stretch of packed bytes that is also contiguous in memory.
  struct Run {
    size_t memory_offset;  // from the matrix' first element
    size_t bytes;
  };

  // Equally long stretches at equal distances in memory, packed one after the other.
  struct RunBlock {
    size_t memory_offset;  // of the first stretch, from the matrix' first element
    size_t run_bytes;
    size_t stride_bytes;  // from one stretch's start to the next
    size_t runs;
  };

  // Iterates over the runs from any packed offset. O(1) to advance; O(log cols) to construct
  // (general layouts: O(1)).
  class Cursor {
   public:
    // REQUIRES: packed_offset <= layout.bytes(). The layout must outlive the cursor.
    Cursor(const StridedLayout& layout, size_t packed_offset);
    // Returns the rest of the run at the cursor; bytes == 0 at the end.
    Run Next() const { return Run{memory_offset_, run_left_}; }
    // Moves on by `bytes`. REQUIRES: bytes <= Next().bytes.
    void Advance(size_t bytes);
    // Takes as many of the next `max_bytes` as one block can describe, and moves past them: whole
    // columns together, any other range as a block of one run. REQUIRES: 0 < max_bytes <= the bytes
    // that are left.
    RunBlock TakeBlock(size_t max_bytes);

   private:
    // Moves to the run that starts at `column`; to the end, if that is past the last one or empty.
    void StartRun(int64_t column);

    const StridedLayout* layout_;
    int64_t column_ = 0;  // where the current run starts
    size_t memory_offset_ = 0;
    size_t run_left_ = 0;
  };

  // Returns the number of columns with bytes in the packed range [offset, offset + bytes), which
  // has no more runs. REQUIRES: offset + bytes <= bytes(). Cost: as to construct a cursor.
  size_t ColumnsOf(size_t offset, size_t bytes) const;

  // Returns whether the packed range [offset, offset + bytes) is contiguous in memory, with its
  // memory offset.
  bool ContiguousRange(size_t offset, size_t bytes, size_t* memory_offset) const;

 private:
  // First row and number of rows of column j in the message.
  int64_t ColumnFirst(int64_t j) const;
  int64_t ColumnRows(int64_t j) const;
  // Elements in columns [0, j).
  int64_t ElemsBefore(int64_t j) const;
  // Whole columns j, j + 1, ... are one run, without gaps.
  bool columns_touch() const { return ld_ == rows_; }
  // Column j is in the message from its first row to its last.
  bool IsWhole(int64_t j) const { return whole_begin_ <= j && j < whole_end_; }
  size_t ColumnBytes() const { return static_cast<size_t>(rows_) * elem_bytes_; }
  // The column that holds packed byte `packed_offset`. REQUIRES: packed_offset < bytes().
  int64_t ColumnAt(size_t packed_offset) const;
  void SetGeneral(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes);
  void Finish();

  int64_t rows_ = 0;
  int64_t cols_ = 0;
  int64_t ld_ = 0;
  // The columns that are wholly in the message: all of a general layout, the rectangle beside a
  // trapezoid's slope.
  int64_t whole_begin_ = 0;
  int64_t whole_end_ = 0;
  size_t elem_bytes_ = 1;
  size_t bytes_ = 0;
  size_t run_bytes_ = 0;
  Part part_ = Part::kGeneral;
  bool diagonal_left_out_ = false;
  bool contiguous_ = true;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_STRIDED_LAYOUT_H_
