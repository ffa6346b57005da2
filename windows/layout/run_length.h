// WithRunLength: loops over short runs that know how long a run is.

#ifndef BRIGADE_WINDOWS_LAYOUT_RUN_LENGTH_H_
#define BRIGADE_WINDOWS_LAYOUT_RUN_LENGTH_H_

#include <cstddef>
#include <type_traits>

namespace brigade {

// Calls `visit` with a number of bytes. Up to four words it is a constant, so that a copy is a few
// instructions, and no call.
template <typename Visit>
void WithRunLength(size_t bytes, const Visit& visit) {
  switch (bytes) {
    case 4:
      return visit(std::integral_constant<size_t, 4>());
    case 8:
      return visit(std::integral_constant<size_t, 8>());
    case 12:
      return visit(std::integral_constant<size_t, 12>());
    case 16:
      return visit(std::integral_constant<size_t, 16>());
    case 24:
      return visit(std::integral_constant<size_t, 24>());
    case 32:
      return visit(std::integral_constant<size_t, 32>());
    default:
      return visit(bytes);
  }
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_RUN_LENGTH_H_
