/// @file
/// Brigade for C++17 and later. This header includes all other C++ headers.

#ifndef BRIGADE_BRIGADE_HPP_
#define BRIGADE_BRIGADE_HPP_

#include "brigade/engine.hpp"
#include "brigade/group.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"
#include "brigade/window.hpp"

#endif  // BRIGADE_BRIGADE_HPP_
