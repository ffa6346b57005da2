// The table of all elements and operations, with the loop that combines contiguous values for each.

#ifndef BRIGADE_MEMBUF_COMBINE_KERNELS_H_
#define BRIGADE_MEMBUF_COMBINE_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "membuf/combine.h"

namespace brigade {

// Contiguous values. The destination is an operand itself, or apart from both.
struct CombinePiece {
  std::byte* dst;
  const std::byte* left;
  const std::byte* right;
  // Null without locations.
  int32_t* dst_locations = nullptr;
  const int32_t* left_locations = nullptr;
  const int32_t* right_locations = nullptr;
};

using CombineKernel = void (*)(const CombinePiece& piece, size_t elems);

// Both return null if the operation has no arithmetic for the type: in calls, in accumulates.
CombineKernel CombineKernelFor(CombineOp op, Element type, bool with_locations);
CombineKernel AccumulateKernelFor(CombineOp op, Element element);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COMBINE_KERNELS_H_
