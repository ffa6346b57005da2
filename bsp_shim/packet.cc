#include "bsp_shim/packet.h"

#include <cstring>

namespace brigade {
namespace bsp {

void Packet::Add(const Record& record) {
  if (record.kind != Record::Kind::kPut && record.kind != Record::Kind::kMessage) ++header()->asks;
  AddData(&record, sizeof(record));
}

void Packet::AddData(const void* data, size_t bytes) {
  std::byte* const place = bytes_.Extend(Aligned(bytes));
  if (bytes > 0) std::memcpy(place, data, bytes);
}

void Packet::Finish(const PacketHeader& said, const std::vector<RegistrationCall>& registrations) {
  PacketHeader made = said;
  made.asks = header()->asks;
  made.operations = bytes_.size();
  made.registrations = registrations.size();
  AddData(registrations.data(), registrations.size() * sizeof(RegistrationCall));
  made.bytes = bytes_.size();
  *header() = made;
}

}  // namespace bsp
}  // namespace brigade
