// Sends and receives between two processes of a grid (brigade/blacs.h, "Point to point").

#ifndef BRIGADE_BLACS_SHIM_POINT_TO_POINT_H_
#define BRIGADE_BLACS_SHIM_POINT_TO_POINT_H_

#include "blacs_shim/call.h"
#include "blacs_shim/routine.h"

namespace brigade {
namespace blacs {

void Send(const Routine& routine, int64_t context, const MatrixArguments& matrix, int64_t row,
          int64_t col);
void Receive(const Routine& routine, int64_t context, const MatrixArguments& matrix, int64_t row,
             int64_t col);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_POINT_TO_POINT_H_
