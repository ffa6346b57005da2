// Functions of the process: any BLACS, and the functions behind this library's names.

#ifndef BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_
#define BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "pblas_shim/errors.h"

namespace brigade {
namespace pblas {

// The BLACS' integers have 32 or 64 bits. 64-bit variables serve both widths: values are in their
// low half.
using GridInfo = void(const int64_t* context, int64_t* rows, int64_t* cols, int64_t* row,
                      int64_t* col);
using Get = void(const int64_t* context, const int64_t* what, int64_t* value);
inline int LowHalf(int64_t integer) { return static_cast<int>(integer); }

// Finds the function behind a name of the library that has opened this part (transport/family).
inline void* (*find_next)(const char* name) = nullptr;

// Finds the function that callers of that library see: a global one, or a plugin's own.
inline void* (*find_first)(const char* name) = nullptr;

// libbrigade.so calls the BLAS, and sees only global symbols.
inline void ShowBlas() {
  for (const char* const name : {"sgemm_", "dgemm_", "cgemm_", "zgemm_"}) {
    void* const gemm = find_first(name);
    Dl_info file;
    if (gemm == nullptr || dladdr(gemm, &file) == 0) continue;
    dlopen(file.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
  }
}

// `find`: find_next or find_first. Without the function the job ends.
template <typename Function>
Function* FindFunction(void* (*find)(const char*), const char* name, const char* routine) {
  if (find == nullptr) {
    Fail(routine,
         "this part was not opened by a libbrigade_pblas.so of its version: load that, and install "
         "both together");
  }
  auto* const found = reinterpret_cast<Function*>(find(name));
  if (found == nullptr) {
    Fail(routine,
         std::string("there is no ") + name + ": load libbrigade_pblas.so before ScaLAPACK");
  }
  return found;
}

// Whether the BLACS of the process are this library's.
inline bool HasOurBlacs() {
  Dl_info found{};
  void* const get = find_first("blacs_get_");
  if (get == nullptr || dladdr(get, &found) == 0 || found.dli_fname == nullptr) return false;
  const std::string path = found.dli_fname;
  return path.compare(path.rfind('/') + 1, 16, "libbrigade_blacs") == 0;
}

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_PROCESS_FUNCTIONS_H_
