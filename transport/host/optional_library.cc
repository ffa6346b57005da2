#include "transport/host/optional_library.h"

#include <dlfcn.h>

namespace brigade {

OptionalLibrary::OptionalLibrary(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) status_ = Status(StatusCode::kUnavailable, dlerror());
}

void* OptionalLibrary::Find(const char* name) {
  if (!status_.ok()) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr) status_ = Status(StatusCode::kUnavailable, dlerror());
  return found;
}

}  // namespace brigade
