// OptionalLibrary: a shared library that a host may lack. It is opened at run time, since the
// loader would not start a program without it, and would drop preloaded libraries.

#ifndef BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_
#define BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_

#include <initializer_list>

#include "membuf/status.h"

namespace brigade {

// Base class of a structure of functions.
class OptionalLibrary {
 public:
  // Returns kUnavailable, with the loader's text, if the library is missing under each of its
  // names, or if a function is missing. No function may be called then.
  const Status& status() const { return status_; }

 protected:
  // `files`: names for dlopen; the first one that exists is opened. Several names if the used
  // functions are equal in several versions. The library stays loaded.
  explicit OptionalLibrary(std::initializer_list<const char*> files);

  // Returns null if the function is missing; status() fails then.
  void* Find(const char* name);

 private:
  void* handle_ = nullptr;
  Status status_;
};

}  // namespace brigade

// A member of the structure: the function of this name in the library's header.
#define BRIGADE_OPTIONAL_FUNCTION(name) \
  const decltype(&::name) name = reinterpret_cast<decltype(&::name)>(Find(#name))

#endif  // BRIGADE_TRANSPORT_HOST_OPTIONAL_LIBRARY_H_
