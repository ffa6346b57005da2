/// @file
/// Brigade: products of distributed matrices, C = alpha op(A) op(B) + beta C, for C99 and for
/// languages that can call C. Matrices are distributed over a grid of ranks in blocks, as in
/// ScaLAPACK. While a rank multiplies, it reads those parts of A and B in place that lie in memory
/// which it maps, such as shared memory of its host. It fetches the other parts. No rank makes a
/// copy of a whole operand.
///
/// The conventions of brigade.h hold. In addition:
///
/// 1. The grid's ranks are numbered row by row: rank r is in row r / cols and column r % cols.
/// 2. Indices count from 0. Sizes are in elements.
/// 3. The result of a call has equal bits in every run on the same grid, for all options and all
///    placements of ranks on hosts, if the results of the BLAS do. Another grid, other blocks or
///    another buffer size may change the last bits.
/// 4. Pieces are multiplied by sgemm_, dgemm_, cgemm_ and zgemm_ of the BLAS in the process: link
///    or preload a BLAS. The BLAS decides how many threads it uses.
/// 5. Not thread-safe: see brigade.h.
///
/// A rank need not call while other ranks read its parts of A and B, under the conditions of
/// window.h. Within brigade_multiply() every rank answers the other ranks.
///
/// Source: SRUMMA (Krishnan, Nieplocha), section 3. The order of sums is not SRUMMA's.

#ifndef BRIGADE_MULTIPLY_H_
#define BRIGADE_MULTIPLY_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "brigade/brigade.h"
#include "brigade/window.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Multipliers
/// A multiplier holds the window and the buffers of a grid of ranks.
/// @{

/// A multiplier; opaque.
typedef struct brigade_multiplier brigade_multiplier;

/// Makes a multiplier of a group, whose grid is the grid of the products. Collective over the
/// group.
///
/// @param group         may be destroyed afterwards; its engine must outlive the multiplier
/// @param buffer_bytes  bytes of the buffer of one piece; equal on all ranks, at least 4096; 0: 8
///                      MiB. A rank allocates at most 2 * (depth + 1) buffers for pieces, and at
///                      most the memory of 8 buffers for sums. The buffer size decides how much is
///                      summed at once, and so the last bits of results. Larger buffers make longer
///                      messages, and fewer parts are fetched twice.
/// @param multiplier    the new multiplier
/// @return equal on all ranks: #BRIGADE_INVALID_ARGUMENT: a bad size on a rank;
///         #BRIGADE_MISMATCH: ranks differ in size; otherwise as brigade_window_create().
///         On failure no multiplier is made.
///
/// Cost: making a window. Buffers are allocated later.
BRIGADE_EXPORT brigade_status brigade_multiplier_create(brigade_group* group, size_t buffer_bytes,
                                                        brigade_multiplier** multiplier);
/// Frees a multiplier. Collective over its ranks.
///
/// @param multiplier  invalid afterwards, also on failure; NULL is ignored
/// @return the first failure that broke the multiplier, or #BRIGADE_OK
///
/// Cost: a fence.
BRIGADE_EXPORT brigade_status brigade_multiplier_free(brigade_multiplier* multiplier);
/// Destroys a multiplier that its ranks cannot free together. Local. Calls of other ranks on the
/// multiplier fail with #BRIGADE_ABORTED.
///
/// @param multiplier  NULL is ignored
BRIGADE_EXPORT void brigade_multiplier_destroy(brigade_multiplier* multiplier);

/// @}
/// @name Products
/// @{

/// A submatrix of a distributed matrix. The submatrix begins at (row, col) of the whole matrix; its
/// size follows from m, n and k of the product. `data` and `ld` may differ by rank; all other
/// fields are equal on all ranks. The fields correspond to a descriptor of ScaLAPACK: rows and cols
/// are M and N, then follow MB, NB, RSRC, CSRC, LLD, IA - 1 and JA - 1.
typedef struct {
  void* data;         ///< this rank's part, column-major; NULL only if it has no element
  int64_t rows;       ///< rows of the whole matrix, 2^48 at most
  int64_t cols;       ///< columns of the whole matrix, 2^48 at most
  int64_t row_block;  ///< rows of a block, 1 at least
  int64_t col_block;  ///< columns of a block, 1 at least
  int row_source;     ///< the row of the grid that has the first block
  int col_source;     ///< the column of the grid that has the first block
  /// Leading dimension of `data`, in elements: at least 1, and at least the number of rows that
  /// this rank has; below 2^31.
  int64_t ld;
  int64_t row;  ///< first row of the submatrix
  int64_t col;  ///< first column of the submatrix
  /// A window that contains `data`, with the ranks of the multiplier; NULL: none. NULL on all ranks
  /// or on none. If the library allocated the window's memory, ranks of one host read each other's
  /// part in place. No epoch is needed.
  const brigade_window* window;
} brigade_distributed_matrix;

/// The operand in place of a matrix.
typedef enum {
  BRIGADE_NOT_TRANSPOSED = 0,   ///< the matrix
  BRIGADE_TRANSPOSED,           ///< the transpose
  BRIGADE_CONJUGATE_TRANSPOSED  ///< the conjugate transpose
} brigade_transpose;

/// The arguments of a product, made by brigade_product_init(); equal on all ranks, except where
/// brigade_distributed_matrix permits otherwise.
typedef struct {
  size_t size;  ///< set by brigade_product_init()
  /// The type of all matrices and scalars: #BRIGADE_FLOAT, #BRIGADE_DOUBLE,
  /// #BRIGADE_COMPLEX_FLOAT or #BRIGADE_COMPLEX_DOUBLE.
  brigade_type type;
  brigade_transpose op_a;        ///< op(A) is m x k
  brigade_transpose op_b;        ///< op(B) is k x n
  int64_t m;                     ///< rows of op(A) and C; 0 or more
  int64_t n;                     ///< columns of op(B) and C; 0 or more
  int64_t k;                     ///< columns of op(A), rows of op(B); 0 or more
  const void* alpha;             ///< one element; if it is 0, A and B are not read
  const void* beta;              ///< one element; if it is 0, C is not read
  brigade_distributed_matrix a;  ///< A, not transposed
  brigade_distributed_matrix b;  ///< B, not transposed
  /// C, m x n. It is an invalid argument if a rank's part of C shares memory with its parts of A or
  /// B.
  brigade_distributed_matrix c;
} brigade_product;

/// Returns a product with all fields zero, except `size`.
static inline brigade_product brigade_product_init(void) {
  brigade_product product;
  memset(&product, 0, sizeof(product));
  product.size = sizeof(product);
  return product;
}

/// The order in which a rank takes the pieces that it multiplies.
typedef enum {
  BRIGADE_MULTIPLY_DIAGONAL = 0,  ///< each rank begins at another piece, to spread requests
  BRIGADE_MULTIPLY_NATURAL,       ///< by index
  BRIGADE_MULTIPLY_OWN_FIRST      ///< the rank's own pieces first, then diagonal
} brigade_multiply_order;

/// Options of a product, made by brigade_multiply_options_init(). Options change times and never
/// results, and may differ by rank.
typedef struct {
  size_t size;                   ///< set by brigade_multiply_options_init()
  brigade_multiply_order order;  ///< order of the pieces
  /// Pieces of A and B on their way while one is multiplied, 1 to 16; 0 means 1, and -1 means none.
  int depth;
  /// On: mapped parts of other ranks are read in place. Off: they are fetched. Default: on.
  brigade_switch in_place;
  int reserved;  ///< 0
} brigade_multiply_options;

/// Returns the default options.
static inline brigade_multiply_options brigade_multiply_options_init(void) {
  brigade_multiply_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// Counters of a product on this rank; made by brigade_multiply_statistics_init().
typedef struct {
  size_t size;        ///< set by brigade_multiply_statistics_init()
  int64_t products;   ///< calls of the BLAS
  int64_t in_place;   ///< operands of these calls that were read in place
  int64_t gets;       ///< gets from other ranks
  int64_t bytes_got;  ///< bytes of these gets
} brigade_multiply_statistics;

/// Returns counters of 0.
static inline brigade_multiply_statistics brigade_multiply_statistics_init(void) {
  brigade_multiply_statistics statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.size = sizeof(statistics);
  return statistics;
}

/// Computes C = alpha op(A) op(B) + beta C. Collective over the multiplier. When it returns, this
/// rank's part of C is complete, and no rank reads this rank's parts of A and B any more. The parts
/// must not change before the call returns.
///
/// @param multiplier  the grid's
/// @param product     the arguments; may be freed afterwards
/// @param options     NULL: the defaults
/// @param statistics  counters of the product on this rank; NULL: not wanted
/// @return equal on all ranks: #BRIGADE_INVALID_ARGUMENT: an argument of this rank or another,
///         which the text names; #BRIGADE_MISMATCH: ranks differ in an argument that must be equal;
///         #BRIGADE_UNAVAILABLE: a process has no BLAS; #BRIGADE_OUT_OF_MEMORY: no memory for
///         buffers. After these failures C is unchanged, and the multiplier remains usable.
///         After any other failure the multiplier is broken on all ranks, and C is
///         unspecified.
///
/// Cost: an exchange of 600 bytes per rank, and a barrier, beside the gets and the calls of the
/// BLAS. If a rank's part of C fits into four buffers, the rank fetches each part of A and B that
/// it needs only once.
BRIGADE_EXPORT brigade_status brigade_multiply(brigade_multiplier* multiplier,
                                               const brigade_product* product,
                                               const brigade_multiply_options* options,
                                               brigade_multiply_statistics* statistics);

/// Returns how many of `n` indices, distributed in blocks, a row or column of a grid has, like
/// ScaLAPACK's numroc. Local; any thread may call.
///
/// @param n       0 or more
/// @param block   indices of a block, 1 or more
/// @param source  the row, or column, of the grid that has the first block
/// @param procs   number of rows, or columns, of the grid
/// @param proc    the row, or column, whose part is counted
/// @return the count; -1 if an argument is out of range
BRIGADE_EXPORT int64_t brigade_dealt_count(int64_t n, int64_t block, int source, int procs,
                                           int proc);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MULTIPLY_H_ */
