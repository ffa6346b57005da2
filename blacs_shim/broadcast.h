// Broadcasts and barriers over a scope (brigade/blacs.h, "Broadcast").

#ifndef BRIGADE_BLACS_SHIM_BROADCAST_H_
#define BRIGADE_BLACS_SHIM_BROADCAST_H_

#include "blacs_shim/call.h"
#include "blacs_shim/routine.h"

namespace brigade {
namespace blacs {

void BroadcastSend(const Routine& routine, int context, const char* scope, const char* top,
                   const MatrixArguments& matrix);
void BroadcastReceive(const Routine& routine, int context, const char* scope, const char* top,
                      const MatrixArguments& matrix, int row, int col);

// An unknown scope does nothing, as in the reference.
void Barrier(int context, const char* scope);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_BROADCAST_H_
