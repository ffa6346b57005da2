// Packet: what one process has for another at the end of a superstep, as it travels: a header; a
// record per operation, in the order of the calls, with its data behind it; and the registrations.

#ifndef BRIGADE_BSP_SHIM_PACKET_H_
#define BRIGADE_BSP_SHIM_PACKET_H_

#include <cstddef>
#include <cstdint>

#include "bsp_shim/bytes.h"
#include "bsp_shim/registrations.h"

namespace brigade {
namespace bsp {

struct PacketHeader {
  enum class Call : uint64_t { kSync, kEnd };

  uint64_t bytes = 0;  // of the packet
  Call call = Call::kSync;
  uint64_t asks = 0;           // gets and direct operations in it
  uint64_t operations = 0;     // where they end
  uint64_t registrations = 0;  // how many are behind them
  // bsp_set_tagsize: how often it was called in the superstep, and the length in the end.
  uint64_t tag_calls = 0;
  uint64_t tag_bytes = 0;
  uint64_t reserved = 0;
};

struct Record {
  enum class Kind : uint32_t {
    kPut,      // its data are behind it
    kGet,      // they come back
    kMessage,  // its tag is behind it, then its data
    // Their data travel by themselves, from where they lie to where they belong.
    kDirectPut,
    kDirectGet,
  };

  Kind kind;
  int32_t slot;     // of the memory there; not of kMessage
  uint64_t offset;  // in it
  uint64_t bytes;
};

// Everything in a packet begins where any type may: bsp_hpmove shows it to the program.
inline constexpr size_t kAlignment = alignof(std::max_align_t);
constexpr size_t Aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
static_assert(sizeof(PacketHeader) % kAlignment == 0);

class Packet {
 public:
  Packet() { Clear(); }

  void Clear() {
    bytes_.Clear();
    bytes_.Resize(sizeof(PacketHeader));
    *header() = PacketHeader();
  }

  // --- the sender's ---

  void Add(const Record& record);
  void AddData(const void* data, size_t bytes);
  // Ends the packet. Sets the fields of the header that describe the packet itself.
  void Finish(const PacketHeader& said, const std::vector<RegistrationCall>& registrations);

  // --- the receiver's ---

  // Where its first `bytes` go.
  std::byte* Land(size_t bytes) {
    bytes_.Resize(bytes);
    return bytes_.data();
  }
  // Calls visit(record, data behind it) for each operation. REQUIRES: all of it is here.
  template <typename Visit>
  void ForEach(size_t tag_bytes, const Visit& visit) const;
  const RegistrationCall* registrations() const {
    return reinterpret_cast<const RegistrationCall*>(data() + header()->operations);
  }

  PacketHeader* header() const { return reinterpret_cast<PacketHeader*>(bytes_.data()); }
  std::byte* data() const { return bytes_.data(); }

 private:
  Bytes bytes_;
};

template <typename Visit>
void Packet::ForEach(size_t tag_bytes, const Visit& visit) const {
  const std::byte* const end = data() + header()->operations;
  for (std::byte* at = data() + sizeof(PacketHeader); at != end;) {
    const auto& record = *reinterpret_cast<const Record*>(at);
    at += Aligned(sizeof(Record));
    visit(record, at);
    if (record.kind == Record::Kind::kMessage) at += Aligned(tag_bytes) + Aligned(record.bytes);
    if (record.kind == Record::Kind::kPut) at += Aligned(record.bytes);
  }
}

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_PACKET_H_
