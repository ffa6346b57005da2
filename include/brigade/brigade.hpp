/// @file
/// Brigade for C++17 and later. This header includes all other C++ headers.

#ifndef BRIGADE_BRIGADE_HPP_
#define BRIGADE_BRIGADE_HPP_

#include <cstddef>

#include "brigade/engine.hpp"
#include "brigade/group.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"
#include "brigade/window.hpp"

namespace brigade {
/// The namespace of earlier versions. A program that uses a name of this namespace does not
/// compile.
namespace direct {
/// @cond
#define BRIGADE_MOVED(name) \
  struct __attribute__((unavailable("it is now brigade::" #name))) name {};
BRIGADE_MOVED(Engine)
BRIGADE_MOVED(FreeMemory)
BRIGADE_MOVED(Group)
BRIGADE_MOVED(Multiplier)
BRIGADE_MOVED(Operation)
BRIGADE_MOVED(Result)
BRIGADE_MOVED(Window)
#undef BRIGADE_MOVED
template <typename T>
__attribute__((unavailable("it is now brigade::Allocate"))) void Allocate(size_t count);
/// @endcond
}  // namespace direct
}  // namespace brigade

#endif  // BRIGADE_BRIGADE_HPP_
