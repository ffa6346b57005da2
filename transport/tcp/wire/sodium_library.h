// libsodium, opened at its first use.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_

#ifdef BRIGADE_NO_LIBSODIUM
#include <cstddef>

#include "membuf/status.h"
#else
#include <sodium.h>

#include "transport/host/optional_library.h"
#endif

namespace brigade {

#ifdef BRIGADE_NO_LIBSODIUM

constexpr size_t crypto_auth_BYTES = 32;
constexpr size_t crypto_auth_KEYBYTES = 32;

// A build without <sodium.h>: status() fails always, and the functions must not be called.
struct SodiumLibrary {
  static constexpr const char* kHint = "; build it with libsodium";
  Status status() const {
    return Status(StatusCode::kUnavailable, "Brigade was built without libsodium");
  }
  static void crypto_auth(unsigned char*, const unsigned char*, size_t, const unsigned char*) {}
  static int crypto_auth_verify(const unsigned char*, const unsigned char*, size_t,
                                const unsigned char*) {
    return -1;
  }
  static void randombytes_buf(void*, size_t) {}
  static int sodium_init() { return -1; }
};

#else

struct SodiumLibrary : OptionalLibrary {
  // The older name last: a failure names it, as the message does Debian's package.
  SodiumLibrary() : OptionalLibrary({"libsodium.so.26", "libsodium.so.23"}) {}

  static constexpr const char* kHint = "; install libsodium (Debian: libsodium23)";
  BRIGADE_OPTIONAL_FUNCTION(crypto_auth);
  BRIGADE_OPTIONAL_FUNCTION(crypto_auth_verify);
  BRIGADE_OPTIONAL_FUNCTION(randombytes_buf);
  BRIGADE_OPTIONAL_FUNCTION(sodium_init);
};

#endif

// Any thread.
inline const SodiumLibrary& Libsodium() {
  static const auto* const library = new SodiumLibrary;  // connections may end after static objects
  return *library;
}

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_SODIUM_LIBRARY_H_
