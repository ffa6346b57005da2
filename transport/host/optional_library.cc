#include "transport/host/optional_library.h"

#include <dlfcn.h>

#include <string>

namespace brigade {

OptionalLibrary::OptionalLibrary(std::initializer_list<const char*> files) {
  std::string why;
  for (const char* file : files) {
    handle_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    why += (why.empty() ? "" : "; ") + std::string(dlerror());
  }
  status_ = Status(StatusCode::kUnavailable, why);
}

void* OptionalLibrary::Find(const char* name) {
  if (!status_.ok()) return nullptr;
  void* const found = dlsym(handle_, name);
  if (found == nullptr) status_ = Status(StatusCode::kUnavailable, dlerror());
  return found;
}

}  // namespace brigade
