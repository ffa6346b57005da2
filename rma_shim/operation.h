// One-sided operations with MPI's arguments: their translation to operations of a window, and the
// error class of each invalid argument.

#ifndef BRIGADE_RMA_SHIM_OPERATION_H_
#define BRIGADE_RMA_SHIM_OPERATION_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "rma_shim/datatype/datatype_cache.h"
#include "windows/core/window.h"

namespace brigade {
namespace rma {

// Values in the caller's memory; those of a target have a displacement instead.
struct Side {
  const void* memory = nullptr;
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

struct Operation {
  enum class Kind { kPut, kGet, kAccumulate, kGetAccumulate, kCompareAndSwap };
  Kind kind = Kind::kPut;
  Side origin;
  Side result;                     // of fetching ones
  const void* expected = nullptr;  // of swaps
  int rank = 0;
  MPI_Aint displacement = 0;
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_REPLACE;
  bool is_of_one = false;  // MPI_Fetch_and_op: derived datatypes are refused
};

// What MPI's caller is told.
struct Outcome {
  int error = MPI_SUCCESS;  // a class
  std::string text;
};

// Starts it; `*over`, if given, is set once the caller's memory is its own again.
Outcome Run(Window* window, DatatypeCache* datatypes, const Operation& operation,
            std::atomic<bool>* over);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_OPERATION_H_
