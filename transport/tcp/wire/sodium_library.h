// libsodium, opened when it is first asked for.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_

#include <sodium.h>

#include "transport/host/optional_library.h"

namespace brigade {

struct SodiumLibrary : OptionalLibrary {
  // The older name last: a failure names it, as the message does Debian's package.
  SodiumLibrary() : OptionalLibrary({"libsodium.so.26", "libsodium.so.23"}) {}

  BRIGADE_OPTIONAL_FUNCTION(crypto_auth);
  BRIGADE_OPTIONAL_FUNCTION(crypto_auth_verify);
  BRIGADE_OPTIONAL_FUNCTION(randombytes_buf);
  BRIGADE_OPTIONAL_FUNCTION(sodium_init);
};

// Any thread.
inline const SodiumLibrary& Libsodium() {
  static const auto* const library = new SodiumLibrary;  // connections may end after static objects
  return *library;
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_
