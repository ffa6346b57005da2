// OptionalLibrary: a shared library that a host may lack. It is opened at run time: the loader
// would start no program without it, and drop what is preloaded.

#ifndef BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_
#define BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_

#include <initializer_list>

#include "membuf/status.h"

namespace brigade {

// The base of a structure of functions.
class OptionalLibrary {
 public:
  // kUnavailable, in the loader's words: the library is missing, under each of its names, or one of
  // the functions. Those that were found must not be called then.
  const Status& status() const { return status_; }

 protected:
  // `files`: as dlopen has them, of which the first that is there is taken; more than one where
  // what is used is the same in several versions. It stays loaded, whatever becomes of this.
  explicit OptionalLibrary(std::initializer_list<const char*> files);

  // Null if it is missing, as status() then says.
  void* Find(const char* name);

 private:
  void* handle_ = nullptr;
  Status status_;
};

}  // namespace brigade

// A member of such a structure: the function that the library's header declares by that name.
#define BRIGADE_OPTIONAL_FUNCTION(name) \
  const decltype(&::name) name = reinterpret_cast<decltype(&::name)>(Find(#name))

#endif  // BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_
