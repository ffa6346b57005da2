/// @file
/// Brigade: products of distributed matrices, C = alpha op(A) op(B) + beta C, for C99 and for
/// languages that can call C. Matrices are distributed over a grid of ranks in blocks, as in
/// ScaLAPACK. Each rank computes its own part of C. If a rank maps the memory of a part of A or B,
/// for example shared memory of its host, the rank reads the part in place. A rank fetches all
/// other parts that it needs by one-sided gets. No rank copies the whole of A or the whole of B.
///
/// The conventions of brigade.h hold. In addition:
///
/// 1. The ranks of the grid are numbered row by row. In a grid of `cols` columns, rank r is in row
///    r / cols and column r % cols.
/// 2. Indices count from 0. Sizes are in elements.
/// 3. If the BLAS gives equal bits in every run, the result of a call has equal bits in every run
///    on the same grid. Options and the placement of ranks on hosts do not change these bits.
///    Another grid, other block sizes or another buffer size (brigade_multiplier_create()) can
///    change the last bits.
/// 4. op(A) is A, its transpose or its conjugate transpose. The same holds for op(B). A *panel* of
///    A has some columns of op(A). A panel of B has the rows of op(B) with the same indices.
/// 5. The program must link or preload a BLAS: sgemm_, dgemm_, cgemm_ or zgemm_ multiplies panels.
///
/// While the BLAS of a rank P computes, another rank can fetch parts of A and B from P only if one
/// of two conditions holds:
///
/// 1. The system permits process_vm_readv() and process_vm_writev() between the processes of the
///    two ranks.
/// 2. The process of P has a progress thread (window.h). The process has one if no group in the
///    process has ever used the transport `mpi`.
///
/// Otherwise the other rank waits until P calls Brigade.
///
/// Source: SRUMMA (Krishnan, Nieplocha), section 3; docs/design/multiply.md has the differences.

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
/// A multiplier holds the buffers and the window (window.h) with which a grid of ranks computes
/// products.
/// @{

/// A multiplier; opaque.
typedef struct brigade_multiplier brigade_multiplier;

/// Makes a multiplier for matrices that are distributed over the grid of a group. Collective over
/// the group.
///
/// @param group         the caller may destroy the group after this call; the group's engine
///                      (engine.h) must outlive the multiplier
/// @param buffer_bytes  length of the buffer of one panel (convention 4), in bytes; equal on all
///                      ranks, at least 4096; 0 means 8 MiB. A rank allocates at most
///                      2 * (brigade_multiply_options::depth + 1) buffers for panels, and four
///                      buffers for partial sums of C. Larger buffers mean fewer, longer fetches.
/// @param multiplier    the new multiplier
/// @return a status that is equal on all ranks. #BRIGADE_INVALID_ARGUMENT: `buffer_bytes` is 1 to
///         4095 on a rank. #BRIGADE_MISMATCH: ranks differ in `buffer_bytes`. All other failures:
///         see brigade_window_create() (window.h).
///
/// Cost: the cost of brigade_window_create(). The first product that needs a buffer allocates it.
BRIGADE_EXPORT brigade_status brigade_multiplier_create(brigade_group* group, size_t buffer_bytes,
                                                        brigade_multiplier** multiplier);
/// Frees a multiplier. Collective over the multiplier's ranks.
///
/// @param multiplier  invalid afterwards, also on failure; NULL is ignored
/// @return the failure that broke the multiplier (brigade_multiply()), or #BRIGADE_OK
///
/// Cost: the cost of brigade_window_fence().
BRIGADE_EXPORT brigade_status brigade_multiplier_free(brigade_multiplier* multiplier);
/// Destroys a multiplier without waiting for the other ranks, for example after an error. Local.
/// Pending and later calls of other ranks on the multiplier fail with #BRIGADE_ABORTED.
///
/// @param multiplier  NULL is ignored
BRIGADE_EXPORT void brigade_multiplier_destroy(brigade_multiplier* multiplier);

/// @}
/// @name Products
/// @{

/// A submatrix of a distributed matrix. The size of the submatrix follows from m, n and k of
/// brigade_product. `data`, `ld` and `window` may differ by rank; all other fields must be equal on
/// all ranks. The fields from `rows` to `ld` correspond, in this order, to M, N, MB, NB, RSRC, CSRC
/// and LLD of a ScaLAPACK descriptor. `row` is ScaLAPACK's IA - 1, and `col` is JA - 1.
typedef struct {
  void* data;         ///< this rank's part, column-major; NULL only if the part is empty
  int64_t rows;       ///< rows of the whole matrix, at most 2^48
  int64_t cols;       ///< columns of the whole matrix, at most 2^48
  int64_t row_block;  ///< rows of a block, at least 1
  int64_t col_block;  ///< columns of a block, at least 1
  int row_source;     ///< the row of the grid that owns the first block of the whole matrix
  int col_source;     ///< the column of the grid that owns the first block of the whole matrix
  /// Leading dimension of `data`, in elements: at least 1, at least the number of the matrix's rows
  /// that this rank owns, and below 2^31.
  int64_t ld;
  int64_t row;  ///< index, in the whole matrix, of the first row of the submatrix
  int64_t col;  ///< index, in the whole matrix, of the first column of the submatrix
  /// NULL on all ranks, or a window (window.h) of the multiplier's ranks. The memory of each rank
  /// in the window must contain that rank's part. If the memory comes from
  /// brigade_window_allocate() or brigade_alloc(), ranks of one host read each other's parts in
  /// place. The program need not open an epoch on the window.
  const brigade_window* window;
} brigade_distributed_matrix;

/// The operand op(X) for a matrix X.
typedef enum {
  BRIGADE_NOT_TRANSPOSED = 0,   ///< X itself
  BRIGADE_TRANSPOSED,           ///< the transpose of X
  BRIGADE_CONJUGATE_TRANSPOSED  ///< the conjugate transpose of X
} brigade_transpose;

/// The arguments of a product. All arguments must be equal on all ranks, except some fields of
/// brigade_distributed_matrix.
typedef struct {
  size_t size;  ///< set by brigade_product_init()
  /// The type of all matrices and scalars: #BRIGADE_FLOAT, #BRIGADE_DOUBLE, #BRIGADE_COMPLEX_FLOAT
  /// or #BRIGADE_COMPLEX_DOUBLE.
  brigade_type type;
  brigade_transpose op_a;        ///< op(A) is m x k
  brigade_transpose op_b;        ///< op(B) is k x n
  int64_t m;                     ///< rows of op(A) and C; 0 or more
  int64_t n;                     ///< columns of op(B) and C; 0 or more
  int64_t k;                     ///< columns of op(A), rows of op(B); 0 or more
  const void* alpha;             ///< one element of `type`; if it is 0, A and B are not read
  const void* beta;              ///< one element of `type`; if it is 0, C is not read
  brigade_distributed_matrix a;  ///< A itself, not op(A)
  brigade_distributed_matrix b;  ///< B itself, not op(B)
  /// C, m x n. If a rank's part of C shares memory with the same rank's part of A or B, the call
  /// returns #BRIGADE_INVALID_ARGUMENT.
  brigade_distributed_matrix c;
} brigade_product;

/// Returns a product with all fields zero, except `size`.
static inline brigade_product brigade_product_init(void) {
  brigade_product product;
  memset(&product, 0, sizeof(product));
  product.size = sizeof(product);
  return product;
}

/// The order in which a rank multiplies panels (some columns of op(A), some rows of op(B)).
typedef enum {
  /// Ranks begin with panels from different ranks, so that few ranks access the memory of one rank
  /// at a time.
  BRIGADE_MULTIPLY_DIAGONAL = 0,
  /// Every rank multiplies panels in one fixed order, from the first panel to the last.
  BRIGADE_MULTIPLY_NATURAL
} brigade_multiply_order;

/// Options of a product, which never change its result, and may differ by rank.
typedef struct {
  size_t size;                   ///< set by brigade_multiply_options_init()
  brigade_multiply_order order;  ///< the order in which this rank multiplies panels
  /// While a rank multiplies two panels, it fetches up to `depth` further panels of A and `depth`
  /// further panels of B: 1 to 16. 0 means 1; -1 means none.
  int depth;
  /// BRIGADE_ON (the default): this rank reads parts of other ranks in place if it maps the memory
  /// of these parts. BRIGADE_OFF: this rank fetches every part of other ranks.
  brigade_switch in_place;
  int reserved;  ///< must be 0
} brigade_multiply_options;

/// Returns the default options.
static inline brigade_multiply_options brigade_multiply_options_init(void) {
  brigade_multiply_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// Counters of a product on this rank.
typedef struct {
  size_t size;        ///< set by brigade_multiply_statistics_init()
  int64_t products;   ///< calls of the BLAS
  int64_t in_place;   ///< operands that these calls of the BLAS read in place
  int64_t gets;       ///< gets from other ranks
  int64_t bytes_got;  ///< bytes of these gets
} brigade_multiply_statistics;

/// Returns counters that are all 0.
static inline brigade_multiply_statistics brigade_multiply_statistics_init(void) {
  brigade_multiply_statistics statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.size = sizeof(statistics);
  return statistics;
}

/// Computes C = alpha op(A) op(B) + beta C. Collective over the multiplier's ranks. When the call
/// returns, this rank's part of C is complete, and no rank reads this rank's parts of A and B any
/// more.
///
/// @param multiplier  a multiplier of the group over whose grid the matrices are distributed
/// @param product     the arguments; the caller may free them after this call
/// @param options     NULL: the default options
/// @param statistics  receives the counters; may be NULL
/// @return a status that is equal on all ranks. #BRIGADE_INVALID_ARGUMENT: an argument of a rank is
///         invalid; the error text names the rank and the argument. #BRIGADE_MISMATCH: ranks differ
///         in an argument that must be equal. #BRIGADE_UNAVAILABLE: a process has no BLAS.
///         #BRIGADE_OUT_OF_MEMORY: no memory for buffers. After each of these four failures C is
///         unchanged, and the multiplier remains usable. Any other failure breaks the multiplier on
///         all ranks: C has unspecified contents, and the multiplier can only be freed or
///         destroyed. If a rank runs out of memory after the ranks have exchanged their arguments,
///         the status is also #BRIGADE_OUT_OF_MEMORY, but the multiplier is broken:
///         brigade_multiplier_free() returns that status again.
///
/// Cost: gets, calls of the BLAS, an all-gather of about 600 bytes per rank, and a barrier. If a
/// rank's part of C fits into four buffers (brigade_multiplier_create()), the rank fetches no part
/// of A or B more than once.
BRIGADE_EXPORT brigade_status brigade_multiply(brigade_multiplier* multiplier,
                                               const brigade_product* product,
                                               const brigade_multiply_options* options,
                                               brigade_multiply_statistics* statistics);

/// Returns how many rows of a distributed matrix one row of the grid owns, or how many columns of
/// the matrix one column of the grid owns, like ScaLAPACK's numroc. Local. Any thread may call this
/// function.
///
/// @param n       number of rows (columns) of the whole matrix, 0 or more
/// @param block   number of rows (columns) of a block, 1 or more
/// @param source  the row (column) of the grid that owns the first block
/// @param procs   number of rows (columns) of the grid
/// @param proc    the row (column) of the grid whose rows (columns) are counted
/// @return the count; -1 if an argument is out of range
BRIGADE_EXPORT int64_t brigade_local_count(int64_t n, int64_t block, int source, int procs,
                                           int proc);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MULTIPLY_H_ */
