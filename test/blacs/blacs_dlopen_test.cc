// Loads the library as an interpreter's extension would, out of everybody's sight, after MPI is
// already running, and uses it. Argument: the library.

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>

#include "brigade/blacs.h"

namespace {

template <typename Function>
Function* Find(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) std::printf("%s: %s\n", name, dlerror());
  return reinterpret_cast<Function*>(found);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  MPI_Init(nullptr, nullptr);
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  if (dlsym(RTLD_DEFAULT, "Cblacs_get") != nullptr) {
    std::printf("the library is in everybody's sight after all\n");
    return 1;
  }
  const auto get = Find<decltype(Cblacs_get)>(library, "Cblacs_get");
  const auto gridinit = Find<decltype(Cblacs_gridinit)>(library, "Cblacs_gridinit");
  const auto dgsum2d = Find<decltype(Cdgsum2d)>(library, "Cdgsum2d");
  if (get == nullptr || gridinit == nullptr || dgsum2d == nullptr) return 1;

  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int context = -1;
  get(-1, 0, &context);
  gridinit(&context, "Row", 1, size);
  double sum = 1;
  dgsum2d(context, "All", " ", 1, 1, &sum, 1, -1, -1);
  // Unloading must not take away the code that MPI calls when it ends.
  dlclose(library);
  MPI_Finalize();
  std::printf("sum %g\n", sum);
  return sum == size ? 0 : 1;
}
