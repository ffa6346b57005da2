// A datatype of MPI as a typed layout.

#ifndef BRIGADE_RMA_SHIM_DATATYPE_TRANSLATE_H_
#define BRIGADE_RMA_SHIM_DATATYPE_TRANSLATE_H_

#include <mpi.h>

#include <string>

#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {

// MPI returns how `type` was made, down to predefined datatypes. kInvalidArgument: as
// TypedLayout says, or it was made in a way that is unknown here. REQUIRES: not MPI_DATATYPE_NULL.
Status TranslateDatatype(MPI_Datatype type, TypedLayout* layout);

// Its name, MPI's or the program's; of one without a name those of its parts. REQUIRES: as
// TranslateDatatype.
std::string DescribeDatatype(MPI_Datatype type);

// Whether MPI defines it: such a one is never freed.
bool IsPredefined(MPI_Datatype type);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_DATATYPE_TRANSLATE_H_
