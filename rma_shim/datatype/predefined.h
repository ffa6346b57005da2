// The datatypes and operations that MPI defines, as windows know them.

#ifndef BRIGADE_RMA_SHIM_DATATYPE_PREDEFINED_H_
#define BRIGADE_RMA_SHIM_DATATYPE_PREDEFINED_H_

#include <mpi.h>

#include "membuf/element.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {

// Returns the layout of one value of a predefined datatype, without its extent. Datatypes without
// arithmetic in any MPI are bytes.
TypedLayout PredefinedLayout(MPI_Datatype type);

// False: the operation is a user's.
bool FindAccumulateOp(MPI_Op op, CombineOp* found);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_DATATYPE_PREDEFINED_H_
