#include "windows/memory/exposed_memory.h"

#include <algorithm>
#include <utility>

#include "transport/host/host.h"

namespace brigade {

Status ExposedMemory::Create(WindowMemory kind, std::byte* memory, size_t bytes, int64_t unit,
                             int members, std::unique_ptr<ExposedMemory>* exposed) {
  std::shared_ptr<SharedSegment> segment;
  BRIGADE_RETURN_IF_ERROR(SharedSegment::Create(&segment));
  MemberAttributes attributes;
  attributes.host = Host::Here();
  attributes.segment = segment->address();
  attributes.kind = kind;
  attributes.bytes = bytes;
  attributes.unit = unit;
  BRIGADE_RETURN_IF_ERROR(
      segment->Allocate(MemberPage::BytesFor(members), &attributes.page_offset));
  if (kind == WindowMemory::kShared) {
    // Memory of no bytes has an address, too.
    BRIGADE_RETURN_IF_ERROR(
        segment->Allocate(std::max<size_t>(bytes, 1), &attributes.memory_offset));
    memory = segment->base() + attributes.memory_offset;
  } else {
    attributes.address = reinterpret_cast<uint64_t>(memory);
  }
  const MemberPage page(segment->base() + attributes.page_offset, members);
  exposed->reset(new ExposedMemory(std::move(segment), attributes, page, memory));
  return Status();
}

}  // namespace brigade
