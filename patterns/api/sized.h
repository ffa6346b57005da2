// Structures of the C interface that begin with their size, which grows with the versions.

#ifndef BRIGADE_PATTERNS_API_SIZED_H_
#define BRIGADE_PATTERNS_API_SIZED_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "membuf/status.h"
#include "membuf/version.h"
#include "patterns/api/handles.h"

namespace brigade {

// Copies a structure of a program of any version 1 to *here. kInvalidArgument: the structure was
// not initialised by `name`_init, or sets fields that this library does not know. Structures have
// not grown since version 1.0, which is the shortest.
template <typename Sized>
Status ReadSized(const char* name, const Sized& given, Sized* here) {
  static_assert(offsetof(Sized, size) == 0);
  const auto initialiser = [name] { return std::string(name) + "_init()"; };  // for errors only
  constexpr size_t kMostBytes = 4096;  // of any version; more is no size but chance
  if (given.size < sizeof(Sized) || given.size > kMostBytes) {
    return Invalid(std::string(name) + " has a size of " + std::to_string(given.size) +
                   ": initialise it with " + initialiser());
  }
  const auto* const bytes = reinterpret_cast<const char*>(&given);
  if (std::any_of(bytes + sizeof(Sized), bytes + given.size, [](char byte) { return byte != 0; })) {
    return Invalid(std::string(name) + " of " + std::to_string(given.size) +
                   " bytes sets a field that version " BRIGADE_VERSION
                   " of the library does not know: initialise it with " +
                   initialiser() + ", or use a newer library");
  }
  std::memcpy(here, &given, sizeof(Sized));
  here->size = sizeof(Sized);
  return Status();
}

// A field that fills up the structure, and may get a meaning.
inline Status CheckReserved(const char* name, int reserved) {
  return reserved == 0 ? Status() : Invalid(std::string(name) + "::reserved is not 0");
}

// Copies *here to a structure of a program of any version.
template <typename Sized>
Status WriteSized(const char* name, const Sized& here, Sized* given) {
  Sized checked;
  BRIGADE_RETURN_IF_ERROR(ReadSized(name, *given, &checked));
  const size_t size = given->size;
  std::memcpy(given, &here, sizeof(Sized));
  given->size = size;
  return Status();
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_SIZED_H_
