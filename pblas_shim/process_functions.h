// Functions that the process has: the BLACS, whichever they are, and what is behind our own names.

#ifndef BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_
#define BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_

#include <dlfcn.h>

#include <string>

#include "pblas_shim/errors.h"

namespace brigade {
namespace pblas {

using GridInfo = void(const int* context, int* rows, int* cols, int* row, int* col);
using Get = void(const int* context, const int* what, int* value);

// `where`: RTLD_DEFAULT, or RTLD_NEXT of the library that calls. Without it the job ends.
template <typename Function>
Function* FindFunction(void* where, const char* name, const char* routine) {
  auto* const found = reinterpret_cast<Function*>(dlsym(where, name));
  if (found == nullptr) {
    Fail(routine,
         std::string("there is no ") + name + ": load libbrigade_pblas.so before ScaLAPACK");
  }
  return found;
}

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_
