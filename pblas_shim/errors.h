// The only abort.

#ifndef BRIGADE_PBLAS_SHIM_ERRORS_H_
#define BRIGADE_PBLAS_SHIM_ERRORS_H_

#include <string>

namespace brigade {
namespace pblas {

// Says why, in the name of `routine`, and ends the job.
[[noreturn]] void Fail(const char* routine, const std::string& text);

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_ERRORS_H_
