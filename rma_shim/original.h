// The MPI's own functions, which this library's functions hide.

#ifndef BRIGADE_RMA_SHIM_ORIGINAL_H_
#define BRIGADE_RMA_SHIM_ORIGINAL_H_

#include <mpi.h>

#include "membuf/check.h"

namespace brigade {
namespace rma {

// Finds a function behind the library that has opened this part (transport/family).
inline void* (*find_next)(const char* name) = nullptr;

// Returns the MPI's function, or null if the MPI is older than the function.
template <typename Function>
Function* FindIfThere(const char* name) {
  return reinterpret_cast<Function*>(find_next(name));
}

// Profiling tools replace MPI_* and call PMPI_*, so what lies behind them is PMPI_*.
template <typename Function>
Function* FindOriginal(const char* name) {
  auto* const found = FindIfThere<Function>(name);
  BRIGADE_CHECK(found != nullptr);
  return found;
}

}  // namespace rma
}  // namespace brigade

// ORIGINAL(Put)(...) calls the MPI's PMPI_Put.
#define ORIGINAL(name)                                                                             \
  ([] {                                                                                            \
    static auto* const found = ::brigade::rma::FindOriginal<decltype(PMPI_##name)>("PMPI_" #name); \
    return found;                                                                                  \
  }())

// ORIGINAL_IF_THERE(Put) is the MPI's PMPI_Put, or null.
#define ORIGINAL_IF_THERE(name)                                                                   \
  ([] {                                                                                           \
    static auto* const found = ::brigade::rma::FindIfThere<decltype(PMPI_##name)>("PMPI_" #name); \
    return found;                                                                                 \
  }())

#endif  // BRIGADE_RMA_SHIM_ORIGINAL_H_
