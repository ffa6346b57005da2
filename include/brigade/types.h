/// @file
/// Brigade: types of elements, operations of reductions (like MPI_Op), and matrices.

#ifndef BRIGADE_TYPES_H_
#define BRIGADE_TYPES_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The type of an element. Sends, receives and collective calls accept the types from #BRIGADE_BYTE
/// to #BRIGADE_COMPLEX_DOUBLE. Windows (window.h) accept all types except #BRIGADE_FLOAT16 and
/// #BRIGADE_BFLOAT16.
typedef enum {
  BRIGADE_BYTE = 0,  ///< 8 bits, like MPI_BYTE
  BRIGADE_INT8,      ///< int8_t
  BRIGADE_INT16,     ///< int16_t
  BRIGADE_INT32,     ///< int32_t
  BRIGADE_INT64,     ///< int64_t
  BRIGADE_UINT8,     ///< uint8_t
  BRIGADE_UINT16,    ///< uint16_t
  BRIGADE_UINT32,    ///< uint32_t
  BRIGADE_UINT64,    ///< uint64_t
  /// IEEE 754 binary16. Reductions combine two elements in float, and round the result to 16 bits
  /// before they combine it with the next element.
  BRIGADE_FLOAT16,
  /// bfloat16: the upper 16 bits of a float. Reductions compute as for #BRIGADE_FLOAT16.
  BRIGADE_BFLOAT16,
  BRIGADE_FLOAT,                ///< float
  BRIGADE_DOUBLE,               ///< double
  BRIGADE_COMPLEX_FLOAT,        ///< two floats
  BRIGADE_COMPLEX_DOUBLE,       ///< two doubles
  BRIGADE_LONG_DOUBLE,          ///< long double
  BRIGADE_COMPLEX_LONG_DOUBLE,  ///< two long doubles
  BRIGADE_BOOL,                 ///< one byte, 0 or 1
  BRIGADE_LOGICAL,              ///< Fortran's LOGICAL, of 4 bytes; 0 is false
  /// A double, and an int that is the location of the double, like MPI_DOUBLE_INT. The pair has 12
  /// bytes, without padding. For an array of C structures, add the padding with
  /// brigade_layout_resized() (window.h).
  BRIGADE_DOUBLE_AND_INT,
  BRIGADE_FLOAT_AND_INT,        ///< 8 bytes
  BRIGADE_LONG_DOUBLE_AND_INT,  ///< 20 bytes, without padding
  BRIGADE_LONG_AND_INT,         ///< 12 bytes, without padding
  BRIGADE_SHORT_AND_INT,        ///< 6 bytes, without padding
  BRIGADE_INT_AND_INT,          ///< 8 bytes
  BRIGADE_FLOAT_AND_FLOAT,      ///< 8 bytes; the second float is a location
  BRIGADE_DOUBLE_AND_DOUBLE     ///< 16 bytes; the second double is a location
} brigade_type;

/// A reduction operation: combines two elements into one, like MPI_Op. The result of a reduction
/// has equal bits on all ranks that get the result. The result also has equal bits in every run
/// with the same ranks, root and matrix shape, and the same fields `topology`, `parameter` and
/// `decreasing` of brigade_call_options. If only one rank takes part, the call copies the rank's
/// elements unchanged. If the comment of an operation does not allow the type, the call returns
/// #BRIGADE_INVALID_ARGUMENT.
///
/// In reductions and scans, a NaN in the result is the canonical NaN: one fixed bit pattern for
/// each type. If an operand of a maximum or minimum is a NaN, the result is a NaN.
///
/// Accumulates of windows (window.h) follow C's arithmetic instead: a NaN in the result can be any
/// NaN, a maximum or minimum with a NaN operand is unspecified, and -0 equals +0.
typedef enum {
  BRIGADE_SUM = 0,  ///< of numbers; integers wrap on overflow
  BRIGADE_PRODUCT,  ///< of numbers; integers wrap on overflow
  BRIGADE_MAX,      ///< of real numbers; -0 is less than +0
  BRIGADE_MIN,      ///< of real numbers; -0 is less than +0
  /// The number with the larger magnitude. The magnitude of a complex number is |re| + |im|. Of two
  /// numbers with equal magnitudes, the larger number (complex: the larger real part, then the
  /// larger imaginary part), or, in a call with locations, the number with the smaller location.
  /// Not for windows (window.h).
  BRIGADE_ABS_MAX,
  /// Like #BRIGADE_ABS_MAX, but the number with the smaller magnitude. Not for windows (window.h).
  BRIGADE_ABS_MIN,
  BRIGADE_BIT_AND,  ///< bitwise and, of integers and bytes
  BRIGADE_BIT_OR,   ///< bitwise or, of integers and bytes
  BRIGADE_BIT_XOR,  ///< bitwise exclusive or, of integers and bytes
  /// The program's own operation, like an MPI_Op of MPI_Op_create():
  /// brigade_call_options::user_op. Not for windows (window.h).
  BRIGADE_USER,
  BRIGADE_LOGICAL_AND,  ///< only for windows (window.h): of integers, bools and logicals
  BRIGADE_LOGICAL_OR,   ///< only for windows (window.h): of integers, bools and logicals
  BRIGADE_LOGICAL_XOR,  ///< only for windows (window.h): of integers, bools and logicals
  /// Only for windows (window.h), like MPI_MAXLOC: of pairs of a value and a location (the types
  /// from #BRIGADE_DOUBLE_AND_INT to #BRIGADE_DOUBLE_AND_DOUBLE). The result is the pair
  /// with the larger value. If the values are equal, the result is the pair with the smaller
  /// location.
  BRIGADE_MAX_LOCATION,
  /// Like #BRIGADE_MAX_LOCATION, but the result is the pair with the smaller value.
  BRIGADE_MIN_LOCATION,
  /// Only for windows (window.h), like MPI_REPLACE: the result is the origin's element. For all
  /// types.
  BRIGADE_REPLACE,
  /// Only for windows (window.h), like MPI_NO_OP: the result is the target's element. With this
  /// operation, a fetch-and-op or a get-accumulate is an atomic read.
  BRIGADE_NO_OP
} brigade_op;

/// An operation that the program defines, like MPI_Op_create. The operation must be associative. To
/// use the operation in a call, pass #BRIGADE_USER as the brigade_op, and set
/// brigade_call_options::user_op. As the type, pass #BRIGADE_BYTE or a type of `element_bytes`
/// bytes. With #BRIGADE_BYTE, too, an element has `element_bytes` bytes.
typedef struct {
  /// Combines each of the `count` elements of `left` with the element of `right` at the same
  /// position, and writes the `count` combinations to `result`. `result` can be equal to `left` or
  /// to `right`; otherwise it overlaps neither. All three pointers are aligned to the largest power
  /// of two that divides `element_bytes`, but to at most 64 bytes.
  ///
  /// The library can call this function at any time until the call is complete. Each engine
  /// (engine.h) calls the function from only one thread at a time, which can be a thread of the
  /// library. Several engines can call the function at the same time. The function must not call
  /// Brigade, and must not throw exceptions.
  void (*combine)(void* result, const void* left, const void* right, int64_t count, void* context);
  void* context;  ///< passed to `combine`
  /// The size of an element, 1 to 65535 bytes; equal on all ranks. If an element has more than
  /// brigade_options::chunk_bytes - 64 bytes, or more than half of that in a reduce-scatter, the
  /// call can return #BRIGADE_INVALID_ARGUMENT; the error text has the longest valid size.
  size_t element_bytes;
  /// Any value except 0: the operation is commutative. 0: the library combines the contributions in
  /// the order of ranks 0, 1, ..., whatever the root and the topology. Equal on all ranks.
  int commutative;
} brigade_user_op;

/// A column-major matrix in the caller's memory. A vector of n elements is `{data, n, 1, 0}`.
/// Element i of a sent matrix, counted column by column, becomes element i of the received matrix.
/// A call never writes to a matrix that it only sends.
typedef struct {
  void* data;    ///< the first element; NULL only if the matrix is empty
  int64_t rows;  ///< the number of rows, 0 or more
  int64_t cols;  ///< the number of columns, 0 or more
  int64_t ld;    ///< leading dimension, in elements; at least `rows`; 0 means `rows`
} brigade_matrix;

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_TYPES_H_ */
