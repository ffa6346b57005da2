// LoadBlas: gives a test the BLAS of the machine, with one thread.

#ifndef BRIGADE_TEST_SUPPORT_LOAD_BLAS_H_
#define BRIGADE_TEST_SUPPORT_LOAD_BLAS_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace brigade {

// OpenBLAS reads its setting when it is loaded, which is why it is not linked.
inline void LoadBlas() {
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (dlopen("libblas.so.3", RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  std::fprintf(stderr, "no BLAS: %s\n", dlerror());
  std::abort();
}

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_LOAD_BLAS_H_
