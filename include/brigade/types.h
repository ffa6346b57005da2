/// @file
/// Brigade: elements, operations and matrices.

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
  BRIGADE_BYTE = 0,        ///< 8 bits without a meaning
  BRIGADE_INT8,            ///< int8_t
  BRIGADE_INT16,           ///< int16_t
  BRIGADE_INT32,           ///< int32_t
  BRIGADE_INT64,           ///< int64_t
  BRIGADE_UINT8,           ///< uint8_t
  BRIGADE_UINT16,          ///< uint16_t
  BRIGADE_UINT32,          ///< uint32_t
  BRIGADE_UINT64,          ///< uint64_t
  BRIGADE_FLOAT16,         ///< IEEE 754 binary16; combined as float, rounded after each combine
  BRIGADE_BFLOAT16,        ///< the upper half of a float; combined like #BRIGADE_FLOAT16
  BRIGADE_FLOAT,           ///< float
  BRIGADE_DOUBLE,          ///< double
  BRIGADE_COMPLEX_FLOAT,   ///< two floats
  BRIGADE_COMPLEX_DOUBLE,  ///< two doubles
  BRIGADE_LONG_DOUBLE,     ///< long double
  BRIGADE_COMPLEX_LONG_DOUBLE,  ///< two long doubles
  BRIGADE_BOOL,                 ///< one byte, 0 or 1
  BRIGADE_LOGICAL,              ///< Fortran's LOGICAL, of 4 bytes; 0 is false
  /// A double, and an int that is the location of the double. The elements of this and the
  /// following types have no padding: this type has 12 bytes, but a C structure of a double and an
  /// int has 16. For an array of C structures, add the padding with brigade_layout_resized().
  BRIGADE_DOUBLE_AND_INT,
  BRIGADE_FLOAT_AND_INT,        ///< of 8 bytes
  BRIGADE_LONG_DOUBLE_AND_INT,  ///< of 20 bytes
  BRIGADE_LONG_AND_INT,         ///< of 12 bytes
  BRIGADE_SHORT_AND_INT,        ///< of 6 bytes
  BRIGADE_INT_AND_INT,          ///< of 8 bytes
  BRIGADE_FLOAT_AND_FLOAT,      ///< of 8 bytes
  BRIGADE_DOUBLE_AND_DOUBLE     ///< of 16 bytes
} brigade_type;

/// An operation that combines two elements. The result of a reduction has equal bits on all ranks
/// that get the result. The result also has equal bits in every run with the same ranks, root,
/// matrix shape, topology, parameter and direction (brigade_call_options::decreasing). On a scope
/// of one rank, the contribution is copied unchanged. If the comment of an operation does not allow
/// the type, the call returns #BRIGADE_INVALID_ARGUMENT. Accumulates of windows follow C's
/// arithmetic: a NaN result is not always the canonical NaN, a maximum or minimum of a NaN is
/// unspecified, and -0 equals +0.
typedef enum {
  BRIGADE_SUM = 0,  ///< of numbers; integers wrap; a NaN result is the canonical NaN
  BRIGADE_PRODUCT,  ///< of numbers; integers wrap; a NaN result is the canonical NaN
  BRIGADE_MAX,      ///< of real numbers; NaN wins, and -0 is less than +0
  BRIGADE_MIN,      ///< of real numbers; NaN wins, and -0 is less than +0
  BRIGADE_ABS_MAX,  ///< largest magnitude; complex: |re| + |im|; NaN wins; not in windows
  BRIGADE_ABS_MIN,  ///< smallest magnitude; complex: |re| + |im|; NaN wins; not in windows
  BRIGADE_BIT_AND,  ///< of integers and bytes
  BRIGADE_BIT_OR,   ///< of integers and bytes
  BRIGADE_BIT_XOR,  ///< of integers and bytes
  BRIGADE_USER,     ///< a function of the program: brigade_call_options::user_op; not in windows
  BRIGADE_LOGICAL_AND,  ///< windows only: of integers, bools and logicals
  BRIGADE_LOGICAL_OR,   ///< windows only: of integers, bools and logicals
  BRIGADE_LOGICAL_XOR,  ///< windows only: of integers, bools and logicals
  /// Windows only: of pairs of a value and a location, from #BRIGADE_DOUBLE_AND_INT on. The pair
  /// with the larger value; of equal values, the pair with the smaller location.
  BRIGADE_MAX_LOCATION,
  /// Like #BRIGADE_MAX_LOCATION, but the pair with the smaller value.
  BRIGADE_MIN_LOCATION,
  BRIGADE_REPLACE,  ///< windows only: the origin's value; for elements of every type
  BRIGADE_NO_OP     ///< windows only: the target's value; with a fetch, an atomic read
} brigade_op;

/// An operation that the program defines. The operation must be associative. In a call with this
/// operation, pass #BRIGADE_USER as the operation, and #BRIGADE_BYTE or a type of `element_bytes`
/// bytes as the type. In the matrices of the call, one element has `element_bytes` bytes.
typedef struct {
  /// Combines each of the `count` elements of `left` with the element of `right` at the same
  /// position, and writes the `count` combinations to `result`. `result` is `left`, or is `right`,
  /// or overlaps neither. All three pointers are aligned to the largest power of two that divides
  /// `element_bytes`, up to 64. The library can call this function from the beginning of a call
  /// with this operation until the call is complete; for a started call, until brigade_wait()
  /// returns. One engine calls the function from one thread at a time, which can be a progress
  /// thread of the library. The function must not call Brigade, and no exception may leave the
  /// function.
  void (*combine)(void* result, const void* left, const void* right, int64_t count, void* context);
  void* context;         ///< passed to `combine`
  size_t element_bytes;  ///< the size of an element, 1 to 65535 bytes; equal on all ranks
  /// Not 0: the operation is commutative. 0: the contributions are combined in the order of ranks
  /// 0, 1, ..., whatever the root and the topology. Equal on all ranks.
  int commutative;
} brigade_user_op;

/// A column-major matrix in the caller's memory. A vector of n elements is `{data, n, 1, 0}`.
/// Element i of a sent matrix, counted column by column, becomes element i of the received matrix.
/// No call writes to a matrix that the call only sends.
typedef struct {
  void* data;    ///< the first element; NULL only if the matrix is empty
  int64_t rows;  ///< the number of rows, 0 or more
  int64_t cols;  ///< the number of columns, 0 or more
  int64_t ld;    ///< elements from one column to the next, at least `rows`; 0 means `rows`
} brigade_matrix;

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_TYPES_H_ */
