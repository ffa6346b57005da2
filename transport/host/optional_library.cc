#include "transport/host/optional_library.h"

#include <dlfcn.h>

namespace brigade {

OptionalLibrary::OptionalLibrary(std::initializer_list<const char*> files) {
  for (const char* file : files) {
    handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    status_ = handle_ != nullptr ? Status() : Status(StatusCode::kUnavailable, dlerror());
    if (status_.ok()) return;
  }
}

void* OptionalLibrary::Find(const char* name) {
  if (!status_.ok()) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr) status_ = Status(StatusCode::kUnavailable, dlerror());
  return found;
}

}  // namespace brigade
