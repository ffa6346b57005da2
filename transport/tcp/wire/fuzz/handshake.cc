// Fuzz target: every changed handshake is refused.
//
// The input has `from` and `serial`, then the changes to the bytes of the handshake.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "membuf/check.h"
#include "membuf/status.h"
#include "transport/tcp/wire/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace brigade;  // NOLINT: the function cannot be in a namespace
  struct {
    EndpointId from;
    uint64_t serial = 0;
    uint8_t change[kHandshakeBytes] = {};
  } input;
  std::copy_n(data, std::min(bytes, sizeof(input)), reinterpret_cast<uint8_t*>(&input));

  const AuthKey key = {{1, 2, 3}};
  const EndpointId me = {{4, 5}};
  const auto serial = static_cast<uint32_t>(input.serial);
  std::byte handshake[kHandshakeBytes];
  WriteHandshake(key, input.from, me, serial, handshake);
  bool changed = false;
  for (size_t i = 0; i < kHandshakeBytes; ++i) {
    handshake[i] ^= std::byte{input.change[i]};
    changed = changed || input.change[i] != 0;
  }

  EndpointId from;
  uint32_t serial_read = 0;
  const Status status = ReadHandshake(key, me, handshake, &from, &serial_read);
  BRIGADE_CHECK_EQ(status.ok(), !changed);
  BRIGADE_CHECK(status.ok() || status.code() == StatusCode::kMismatch);
  BRIGADE_CHECK(status.ok() ? from == input.from && serial_read == serial
                            : from == EndpointId() && serial_read == 0);
  return 0;
}
