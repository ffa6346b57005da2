// The table of all types and operations, with the loop that combines contiguous values for each.

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
  int32_t* dst_locations;
  const int32_t* left_locations;
  const int32_t* right_locations;
};

using CombineKernel = void (*)(const CombinePiece& piece, size_t elems);

// Returns null if the type has no such operation.
CombineKernel CombineKernelFor(CombineOp op, ElementType type, bool with_locations);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COMBINE_KERNELS_H_
