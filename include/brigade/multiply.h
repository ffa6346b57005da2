/// @file
/// Brigade: products of matrices that are spread over a grid of ranks, C = alpha op(A) op(B) +
/// beta C, for C99 and what can call it. Matrices are dealt in blocks to the rows and columns of
/// the grid, as ScaLAPACK deals them. Each rank gets what it needs of A and B by itself, while it
/// multiplies, and reads in place what its host lets it see. Nobody makes a copy of a whole
/// operand.
///
/// The conventions of brigade.h hold, and these:
///
/// 1. The grid's ranks are numbered row by row: rank r is in row r / cols and column r % cols.
/// 2. Indices count from 0. Sizes are in elements.
/// 3. The same call on the same grid gives the same bits, whatever the options, whatever arrives
///    first, and whichever ranks share a host, as long as the BLAS does so. Another grid, other
///    blocks or another size of buffers give other last bits.
/// 4. The products of pieces are made by sgemm_, dgemm_, cgemm_ and zgemm_ of the BLAS that the
///    process has: link one, or preload it. How many threads that uses is its own affair.
/// 5. Not thread-safe, as an engine is not.
///
/// A rank need not call while others get what they want of its A and B where windows do without
/// that too; window.h says where. Within brigade_multiply() every rank serves the others.
///
/// Source: SRUMMA (Krishnan, Nieplocha), section 3; the order of sums is this library's own.

#ifndef BRIGADE_MULTIPLY_H_
#define BRIGADE_MULTIPLY_H_

#include <stddef.h>
#include <stdint.h>

#include "brigade/brigade.h"
#include "brigade/window.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Multipliers
/// What a grid needs for products, made once.
/// @{

/// A multiplier; opaque.
typedef struct brigade_multiplier brigade_multiplier;

/// Makes the ranks of a communicator a grid that multiplies. Collective over that communicator, and
/// nobody else.
///
/// @param engine        the calling process's; must outlive the multiplier
/// @param mpi_comm      as of brigade_group_create(): used during this call only
/// @param rows          rows of the grid; equal on all ranks
/// @param cols          its columns, likewise; rows * cols must be the communicator's size
/// @param buffer_bytes  of the buffer of one piece; equal on all ranks, 4096 at least; 0: 8 MiB. A
///                      rank takes 2 * (depth + 1) of them at most, and as much as 8 for sums. It
///                      decides how much is summed at once, and so the last bits of results. Larger
///                      ones make longer messages, and have less fetched twice.
/// @param multiplier    the new multiplier
/// @return the same on all ranks: #BRIGADE_INVALID_ARGUMENT: a bad shape or size on a rank;
///         #BRIGADE_MISMATCH: ranks differ in them; and as of brigade_window_create(). There is no
///         multiplier then.
///
/// Cost: that of a window. It takes no memory yet.
BRIGADE_EXPORT brigade_status brigade_multiplier_create(brigade_engine* engine, int mpi_comm,
                                                        int rows, int cols, size_t buffer_bytes,
                                                        brigade_multiplier** multiplier);
/// Frees a multiplier. Collective over its ranks.
///
/// @param multiplier  gone afterwards, whatever the outcome; NULL is ignored
/// @return the first failure of the multiplier, if it had one that broke it
///
/// Cost: a fence.
BRIGADE_EXPORT brigade_status brigade_multiplier_free(brigade_multiplier* multiplier);
/// Gives a multiplier up that is not to be freed together. Local. The others' calls on it end with
/// #BRIGADE_ABORTED.
///
/// @param multiplier  NULL is ignored
BRIGADE_EXPORT void brigade_multiplier_destroy(brigade_multiplier* multiplier);

/// @}
/// @name Products
/// @{

/// A submatrix of a matrix that is dealt in blocks. `data` and `ld` are each rank's own; all else
/// is equal on all ranks. It begins at (row, col); how long it is the product says. In terms of a
/// descriptor of ScaLAPACK: rows and cols are M and N, then come MB, NB, RSRC, CSRC, LLD, IA - 1
/// and JA - 1.
typedef struct {
  void* data;         ///< this rank's part, column-major; NULL only if it has no element
  int64_t rows;       ///< of the whole matrix, 2^48 at most
  int64_t cols;       ///< likewise
  int64_t row_block;  ///< rows of a block, 1 at least
  int64_t col_block;  ///< its columns, likewise
  int row_source;     ///< the row of the grid that has the first block
  int col_source;     ///< its column, likewise
  /// From one column of `data` to the next, in elements: at least as many as this rank has rows,
  /// and 1; below 2^31.
  int64_t ld;
  int64_t row;  ///< where the submatrix begins
  int64_t col;  ///< likewise
  /// The window that `data` lies in, whose ranks are the multiplier's; NULL: none. On all ranks or
  /// on none. It lets ranks of one host read each other's part in place, if the library made its
  /// memory. No epoch is needed.
  const brigade_window* window;
} brigade_distributed_matrix;

/// What is multiplied instead of a matrix.
typedef enum {
  BRIGADE_NOT_TRANSPOSED = 0,   ///< itself
  BRIGADE_TRANSPOSED,           ///< its transpose
  BRIGADE_CONJUGATE_TRANSPOSED  ///< the conjugate of that
} brigade_transpose;

/// A product; equal on all ranks, but for what brigade_distributed_matrix says.
typedef struct {
  /// #BRIGADE_ELEMENT_FLOAT, #BRIGADE_ELEMENT_DOUBLE, #BRIGADE_ELEMENT_COMPLEX_FLOAT or
  /// #BRIGADE_ELEMENT_COMPLEX_DOUBLE: of all matrices and scalars.
  brigade_element element;
  brigade_transpose op_a;        ///< op(A) is m x k
  brigade_transpose op_b;        ///< op(B) is k x n
  int64_t m;                     ///< 0 or more, likewise n and k
  int64_t n;                     ///< columns of op(B) and C
  int64_t k;                     ///< what is summed over
  const void* alpha;             ///< one element; if it is 0, A and B are not read
  const void* beta;              ///< one element; if it is 0, C is not read
  brigade_distributed_matrix a;  ///< A, as it lies
  brigade_distributed_matrix b;  ///< B, as it lies
  /// m x n. No element of it takes part in A or B: where a rank's part has its memory in common
  /// with theirs, that is an invalid argument.
  brigade_distributed_matrix c;
} brigade_product;

/// In which order a rank takes what it sums over.
typedef enum {
  BRIGADE_MULTIPLY_DIAGONAL = 0,  ///< ranks begin elsewhere, so that few ask one at a time
  BRIGADE_MULTIPLY_NATURAL,       ///< as it lies
  BRIGADE_MULTIPLY_OWN_FIRST      ///< what is the rank's own, then as the first
} brigade_multiply_order;

/// How a product is computed. Changes times and never results; may differ by rank. Fill in the
/// defaults with brigade_multiply_options_init() first.
typedef struct {
  brigade_multiply_order order;  ///< of the pieces
  int depth;     ///< pieces of A and B on their way while one is multiplied; 0 to 16
  int in_place;  ///< 1: what a rank sees of others' parts is read in place; 0: it is fetched
} brigade_multiply_options;

/// What a product did on this rank.
typedef struct {
  int64_t products;   ///< calls of the BLAS
  int64_t in_place;   ///< operands of these that were read where they are
  int64_t gets;       ///< of others' memory
  int64_t bytes_got;  ///< by these
} brigade_multiply_statistics;

/// The defaults: #BRIGADE_MULTIPLY_DIAGONAL, a depth of 1, in place.
BRIGADE_EXPORT void brigade_multiply_options_init(brigade_multiply_options* options);

/// Computes C = alpha op(A) op(B) + beta C. Collective over the multiplier. When it returns this
/// rank's part of C is there, and nobody reads its parts of A and B any more; meanwhile they must
/// not change.
///
/// @param multiplier  the grid's
/// @param product     what is computed; need not live longer than the call
/// @param options     how; NULL: the defaults
/// @param statistics  what it took; NULL: not wanted
/// @return the same on all ranks: #BRIGADE_INVALID_ARGUMENT: an argument, which the text names, on
///         this rank or another; #BRIGADE_MISMATCH: ranks differ in what must be equal;
///         #BRIGADE_UNAVAILABLE: a process has no BLAS; #BRIGADE_OUT_OF_MEMORY: no memory for
///         buffers. After these nothing happened, and the multiplier can be used. After any other
///         failure the multiplier is broken, on all ranks, and C is unspecified.
///
/// Cost: an exchange of 600 bytes per rank, and a barrier, beside the work. Each rank fetches what
/// it needs of others' A and B once if its part of C fits into four buffers.
BRIGADE_EXPORT brigade_status brigade_multiply(brigade_multiplier* multiplier,
                                               const brigade_product* product,
                                               const brigade_multiply_options* options,
                                               brigade_multiply_statistics* statistics);

/// How many of `n` indices, dealt in blocks, a row or column of a grid has: the size of its part.
/// Local; any thread may call.
///
/// @param n       0 or more
/// @param block   of each block, 1 or more
/// @param source  who has the first block
/// @param procs   rows, or columns, of the grid
/// @param proc    which of them
/// @return -1 if an argument makes no sense
BRIGADE_EXPORT int64_t brigade_dealt_count(int64_t n, int64_t block, int source, int procs,
                                           int proc);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MULTIPLY_H_ */
