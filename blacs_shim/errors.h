// Errors: how this library reports failures to its caller.
//
// BLACS routines return nothing, so an error is a text on stderr and MPI_Abort, as in the reference
// BLACS. This is the only place of the library that ends the job.

#ifndef BRIGADE_BLACS_SHIM_ERRORS_H_
#define BRIGADE_BLACS_SHIM_ERRORS_H_

#include "membuf/status.h"

namespace brigade {
namespace blacs {

// The call that an error text names. -1: not known (no such context, or not started).
struct Origin {
  const char* routine;
  int context = -1;
  int row = -1;
  int col = -1;
  int pnum = -1;  // rank in MPI_COMM_WORLD
};

// Prints "BLACS ERROR '<routine>: <text>'" with its origin and ends the job.
[[noreturn]] void Fail(const Origin& origin, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
[[noreturn]] inline void Fail(const Origin& origin, const Status& status) {
  Fail(origin, "%s: %s", StatusCodeName(status.code()), status.message().c_str());
}
inline void FailIfNotOk(const Origin& origin, const Status& status) {
  if (!status.ok()) Fail(origin, status);
}

// Prints "BLACS WARNING ..." with its origin and returns.
void Warn(const Origin& origin, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Sets a function that is called once, before Fail or AbortForCaller ends the job. The function may
// itself fail.
void SetBeforeEnd(void (*function)());

// blacs_abort: prints the origin, and ends the job with exit code `code`.
[[noreturn]] void AbortForCaller(const Origin& origin, int code);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_ERRORS_H_
