/// @file
/// Brigade: elements, operations and matrices.

#ifndef BRIGADE_TYPES_H_
#define BRIGADE_TYPES_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The type of an element. Collective calls transfer all types up to #BRIGADE_COMPLEX_DOUBLE; the
/// types behind it are for windows (window.h).
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
  BRIGADE_BFLOAT16,        ///< the upper half of a float; combined as #BRIGADE_FLOAT16 is
  BRIGADE_FLOAT,           ///< float
  BRIGADE_DOUBLE,          ///< double
  BRIGADE_COMPLEX_FLOAT,   ///< two floats
  BRIGADE_COMPLEX_DOUBLE,  ///< two doubles
  BRIGADE_LONG_DOUBLE,     ///< long double
  BRIGADE_COMPLEX_LONG_DOUBLE,  ///< two long doubles
  BRIGADE_BOOL,                 ///< a byte, 0 or 1
  BRIGADE_LOGICAL,              ///< Fortran's, of 4 bytes; 0 is false
  /// A value and its location. Elements with locations are packed without a gap: this one has
  /// 12 bytes, where a structure has 16. brigade_layout_resized() adds the gap.
  BRIGADE_DOUBLE_AND_INT,
  BRIGADE_FLOAT_AND_INT,        ///< of 8 bytes
  BRIGADE_LONG_DOUBLE_AND_INT,  ///< of 20 bytes
  BRIGADE_LONG_AND_INT,         ///< of 12 bytes
  BRIGADE_SHORT_AND_INT,        ///< of 6 bytes
  BRIGADE_INT_AND_INT,          ///< of 8 bytes
  BRIGADE_FLOAT_AND_FLOAT,      ///< of 8 bytes
  BRIGADE_DOUBLE_AND_DOUBLE     ///< of 16 bytes
} brigade_type;

/// An operation that combines two elements. A reduction has equal bits on all ranks that receive
/// its result, and in every run with the same ranks, root, shape and topology. A single
/// contribution is copied unchanged. A pair of operation and type that does not exist is an invalid
/// argument.
typedef enum {
  BRIGADE_SUM = 0,  ///< of numbers; integers wrap; a NaN result is the canonical NaN
  BRIGADE_PRODUCT,  ///< of numbers; otherwise as the sum
  BRIGADE_MAX,      ///< of real numbers; NaN wins, and -0 is less than +0
  BRIGADE_MIN,      ///< of real numbers; NaN wins, and -0 is less than +0
  BRIGADE_ABS_MAX,  ///< largest magnitude; complex: |re| + |im|; NaN wins; not in windows
  BRIGADE_ABS_MIN,  ///< smallest magnitude; complex: |re| + |im|; NaN wins; not in windows
  BRIGADE_BIT_AND,  ///< of integers and bytes
  BRIGADE_BIT_OR,   ///< of integers and bytes
  BRIGADE_BIT_XOR,  ///< of integers and bytes
  BRIGADE_USER,     ///< a function of the program: brigade_call_options::user_op; not in windows
  BRIGADE_LOGICAL_AND,   ///< windows only: of integers, bools and logicals
  BRIGADE_LOGICAL_OR,    ///< windows only: of integers, bools and logicals
  BRIGADE_LOGICAL_XOR,   ///< windows only: of integers, bools and logicals
  BRIGADE_MAX_LOCATION,  ///< windows only: the larger value; of equal values the smaller location
  BRIGADE_MIN_LOCATION,  ///< windows only: the smaller value, then the smaller location
  BRIGADE_REPLACE,       ///< windows only: the origin's value; for every element
  BRIGADE_NO_OP          ///< windows only: the target's value: an atomic read, if fetched
} brigade_op;

/// An operation of the program, which must be associative. Pass it with #BRIGADE_BYTE, or with a
/// type of `element_bytes` bytes; `rows` and `ld` of matrices count elements of `element_bytes`.
typedef struct {
  /// Writes the combination of `count` elements of `left` and `right` to `result`, which is one of
  /// the two, or apart from both. All three are aligned to the largest power of two that divides
  /// `element_bytes`, up to 64. May be called by a progress thread of the library, at most by one
  /// thread at a time, and only between the start and the end of the call. Must not call Brigade.
  void (*combine)(void* result, const void* left, const void* right, int64_t count, void* context);
  void* context;         ///< passed to `combine`
  size_t element_bytes;  ///< the size of an element, 1 to 65535 bytes; equal on all ranks
  /// Not 0: the operation is commutative. 0: ranks are combined in the order 0, 1, ... whatever the
  /// root and the topology. Equal on all ranks.
  int commutative;
} brigade_user_op;

/// A matrix in the caller's memory, column by column; a vector of n elements is `{data, n, 1, 0}`.
/// Element i of a message, counted column by column, becomes element i of the receiver's matrix. No
/// call writes to the matrix that it sends.
typedef struct {
  void* data;    ///< its first element; NULL only if it has none
  int64_t rows;  ///< in elements, 0 or more
  int64_t cols;  ///< in elements, 0 or more
  int64_t ld;    ///< elements from one column to the next, at least `rows`; 0 means `rows`
} brigade_matrix;

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_TYPES_H_ */
