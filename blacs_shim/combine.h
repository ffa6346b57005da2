// Sums, absolute maxima and minima over a scope (brigade/blacs.h, "Combine").

#ifndef BRIGADE_BLACS_SHIM_COMBINE_H_
#define BRIGADE_BLACS_SHIM_COMBINE_H_

#include "blacs_shim/call.h"
#include "blacs_shim/routine.h"

namespace brigade {
namespace blacs {

// Where a maximum or minimum says who won.
struct WinnerArguments {
  int* rows;
  int* cols;
  int ldia;  // -1: nowhere, and ties go by value instead of by process
};

void Sum(const Routine& routine, int context, const char* scope, const char* top,
         const MatrixArguments& matrix, int row, int col);

// The maximum or the minimum, as `routine` says.
void Extreme(const Routine& routine, int context, const char* scope, const char* top,
             const MatrixArguments& matrix, const WinnerArguments& winners, int row, int col);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_COMBINE_H_
