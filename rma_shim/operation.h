// One-sided operations with MPI's arguments: the request that a window carries out, and the error
// class of one that it refuses.

#ifndef BRIGADE_RMA_SHIM_OPERATION_H_
#define BRIGADE_RMA_SHIM_OPERATION_H_

#include <mpi.h>

#include <string>

#include "rma_shim/datatype/datatype_cache.h"
#include "windows/core/window.h"
#include "windows/message/rma_request.h"

namespace brigade {
namespace rma {

// A request of which the layouts are missing: the datatypes stand for them.
struct Operation {
  RmaRequest request;
  MPI_Datatype origin_type = MPI_DATATYPE_NULL;
  MPI_Datatype result_type = MPI_DATATYPE_NULL;
  MPI_Datatype target_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_REPLACE;  // of accumulates
  bool is_of_one = false;   // MPI_Fetch_and_op: derived datatypes are refused
};

// The outcome of a call for its caller in MPI.
struct Outcome {
  int error = MPI_SUCCESS;  // a class
  std::string text;
};

// Finds the layouts of an operation and begins it.
Outcome Run(Window* window, DatatypeCache* datatypes, Operation* operation);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_OPERATION_H_
