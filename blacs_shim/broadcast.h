// Broadcasts and barriers over a scope (brigade/blacs.h, "Broadcast").

#ifndef BRIGADE_BLACS_SHIM_BROADCAST_H_
#define BRIGADE_BLACS_SHIM_BROADCAST_H_

#include "blacs_shim/call.h"
#include "blacs_shim/routine.h"

namespace brigade {
namespace blacs {

void BroadcastSend(const Routine& routine, int64_t context, const char* scope, const char* top,
                   const MatrixArguments& matrix);
void BroadcastReceive(const Routine& routine, int64_t context, const char* scope, const char* top,
                      const MatrixArguments& matrix, int64_t row, int64_t col);

// An unknown scope does nothing, as in the reference.
void Barrier(int64_t context, const char* scope);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_BROADCAST_H_
