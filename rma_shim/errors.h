// Errors: error handlers and error classes for callers, as in MPI, and the only abort of this
// library.

#ifndef BRIGADE_RMA_SHIM_ERRORS_H_
#define BRIGADE_RMA_SHIM_ERRORS_H_

#include <mpi.h>

#include <string>

#include "membuf/status.h"

namespace brigade {
namespace rma {

// Calls the error handler of `window` and returns `error`, a class of MPI. Where the handler is
// MPI_ERRORS_ARE_FATAL or MPI_ERRORS_ABORT the job ends with `text`; otherwise `prints` has it on
// stderr.
int Raise(MPI_Win window, const char* routine, int error, const std::string& text, bool prints);

// The class of a failure that is not the caller's.
int ErrorClassOf(const Status& status);

// Says why and ends the job; where MPI cannot be called, the process.
[[noreturn]] void Fail(const char* routine, const std::string& text);

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_ERRORS_H_
