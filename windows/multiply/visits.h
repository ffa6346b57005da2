// In which order a rank computes its panels.

#ifndef BRIGADE_WINDOWS_MULTIPLY_VISITS_H_
#define BRIGADE_WINDOWS_MULTIPLY_VISITS_H_

#include <vector>

#include "windows/multiply/multiply_call.h"
#include "windows/multiply/panels.h"

namespace brigade {

// Numbers of panels. Whatever the order, those of one sum come as they are listed. `first_class`:
// see FirstClassOf.
std::vector<int> VisitsOf(MultiplyOrder order, const std::vector<Panel>& panels, int first_class);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_VISITS_H_
