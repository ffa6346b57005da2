/// @file
/// Brigade: names of the interface before version 1.0. A program that uses one of these names does
/// not compile, and the message of the compiler has the new name.

#ifndef BRIGADE_RENAMED_H_
#define BRIGADE_RENAMED_H_

/// @cond

// GCC has the attribute since version 12. Front ends of EDG pass over it with a warning.
#if defined(__has_attribute) && !defined(__EDG__)
#if __has_attribute(__unavailable__)

#define BRIGADE_IS_NOW(now) __attribute__((__unavailable__("the name is now " now)))

#ifdef __cplusplus
extern "C" {
#endif

typedef int brigade_call BRIGADE_IS_NOW("brigade_call_options and arguments");
typedef int brigade_pattern BRIGADE_IS_NOW("part of each function's name, such as brigade_bcast");
typedef int brigade_shape BRIGADE_IS_NOW("brigade_topology");
typedef int brigade_element BRIGADE_IS_NOW("brigade_type");
typedef int brigade_accumulate_op BRIGADE_IS_NOW("brigade_op");

BRIGADE_IS_NOW("brigade_bcast, brigade_reduce, ...") void brigade_run(const void*, ...);
BRIGADE_IS_NOW("brigade_bcast_start, brigade_reduce_start, ...")
void brigade_start(const void*, ...);
BRIGADE_IS_NOW("brigade_group_from_mpi") void brigade_group_create(const void*, ...);
BRIGADE_IS_NOW("brigade_local_count") void brigade_dealt_count(long, ...);

#define BRIGADE_OLD_ELEMENT(name) BRIGADE_ELEMENT_##name BRIGADE_IS_NOW("BRIGADE_" #name)
#define BRIGADE_OLD_ACCUMULATE(name) BRIGADE_ACCUMULATE_##name BRIGADE_IS_NOW("BRIGADE_" #name)

enum {
  BRIGADE_SEND BRIGADE_IS_NOW("brigade_send"),
  BRIGADE_RECEIVE BRIGADE_IS_NOW("brigade_recv"),
  BRIGADE_BROADCAST BRIGADE_IS_NOW("brigade_bcast"),
  BRIGADE_REDUCE BRIGADE_IS_NOW("brigade_reduce"),
  BRIGADE_ALL_REDUCE BRIGADE_IS_NOW("brigade_allreduce"),
  BRIGADE_MULTI_BROADCAST BRIGADE_IS_NOW("brigade_allgatherv"),
  BRIGADE_MULTI_REDUCE BRIGADE_IS_NOW("brigade_reduce_scatterv"),
  BRIGADE_BARRIER BRIGADE_IS_NOW("brigade_barrier"),
  BRIGADE_FREE BRIGADE_IS_NOW("BRIGADE_AUTO"),
  BRIGADE_DEALT BRIGADE_IS_NOW("BRIGADE_RING_ALLREDUCE"),
  BRIGADE_MULTIPLY_OWN_FIRST BRIGADE_IS_NOW("BRIGADE_MULTIPLY_DIAGONAL"),
  BRIGADE_OLD_ELEMENT(BYTE),
  BRIGADE_OLD_ELEMENT(INT8),
  BRIGADE_OLD_ELEMENT(INT16),
  BRIGADE_OLD_ELEMENT(INT32),
  BRIGADE_OLD_ELEMENT(INT64),
  BRIGADE_OLD_ELEMENT(UINT8),
  BRIGADE_OLD_ELEMENT(UINT16),
  BRIGADE_OLD_ELEMENT(UINT32),
  BRIGADE_OLD_ELEMENT(UINT64),
  BRIGADE_OLD_ELEMENT(FLOAT),
  BRIGADE_OLD_ELEMENT(DOUBLE),
  BRIGADE_OLD_ELEMENT(LONG_DOUBLE),
  BRIGADE_OLD_ELEMENT(COMPLEX_FLOAT),
  BRIGADE_OLD_ELEMENT(COMPLEX_DOUBLE),
  BRIGADE_OLD_ELEMENT(COMPLEX_LONG_DOUBLE),
  BRIGADE_OLD_ELEMENT(BOOL),
  BRIGADE_OLD_ELEMENT(LOGICAL),
  BRIGADE_OLD_ELEMENT(FLOAT_AND_INT),
  BRIGADE_OLD_ELEMENT(DOUBLE_AND_INT),
  BRIGADE_OLD_ELEMENT(LONG_DOUBLE_AND_INT),
  BRIGADE_OLD_ELEMENT(LONG_AND_INT),
  BRIGADE_OLD_ELEMENT(SHORT_AND_INT),
  BRIGADE_OLD_ELEMENT(INT_AND_INT),
  BRIGADE_OLD_ELEMENT(FLOAT_AND_FLOAT),
  BRIGADE_OLD_ELEMENT(DOUBLE_AND_DOUBLE),
  BRIGADE_OLD_ACCUMULATE(REPLACE),
  BRIGADE_OLD_ACCUMULATE(NO_OP),
  BRIGADE_OLD_ACCUMULATE(SUM),
  BRIGADE_OLD_ACCUMULATE(PRODUCT),
  BRIGADE_OLD_ACCUMULATE(MAX),
  BRIGADE_OLD_ACCUMULATE(MIN),
  BRIGADE_OLD_ACCUMULATE(LOGICAL_AND),
  BRIGADE_OLD_ACCUMULATE(LOGICAL_OR),
  BRIGADE_OLD_ACCUMULATE(LOGICAL_XOR),
  BRIGADE_OLD_ACCUMULATE(BIT_AND),
  BRIGADE_OLD_ACCUMULATE(BIT_OR),
  BRIGADE_OLD_ACCUMULATE(BIT_XOR),
  BRIGADE_OLD_ACCUMULATE(MAX_LOCATION),
  BRIGADE_OLD_ACCUMULATE(MIN_LOCATION)
};

#undef BRIGADE_OLD_ACCUMULATE
#undef BRIGADE_OLD_ELEMENT

#ifdef __cplusplus
}  // extern "C"

namespace brigade {
namespace direct {
struct BRIGADE_IS_NOW("brigade::Engine") Engine {};
struct BRIGADE_IS_NOW("brigade::Group") Group {};
struct BRIGADE_IS_NOW("brigade::Multiplier") Multiplier {};
struct BRIGADE_IS_NOW("brigade::Operation") Operation {};
struct BRIGADE_IS_NOW("brigade::Result") Result {};
struct BRIGADE_IS_NOW("brigade::Window") Window {};
template <typename T>
BRIGADE_IS_NOW("brigade::Allocate")
void Allocate(unsigned long);
}  // namespace direct
}  // namespace brigade
#endif

#undef BRIGADE_IS_NOW

#endif
#endif

/// @endcond

#endif /* BRIGADE_RENAMED_H_ */
