#include "windows/memory/exposed_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "transport/host/host.h"

namespace brigade {
namespace {

// What the machine can still give, as far as it says.
uint64_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  uint64_t kilobytes = 0;
  uint64_t sum = 0;
  for (std::string unit; file >> name >> kilobytes; std::getline(file, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") sum += kilobytes * 1024;
  }
  return sum > 0 ? sum : std::numeric_limits<uint64_t>::max();
}

// In slices, each after a look at what there is: members of one host allocate at the same time, and
// where they want more than there is, the system would end processes rather than refuse.
Status Allocate(SharedSegment* segment, size_t bytes, uint64_t* offset) {
  constexpr size_t kSliceBytes = 64 << 20;
  for (size_t done = 0; done < bytes;) {
    const uint64_t available = AvailableBytes();
    if (bytes - done > available) {
      return Status(StatusCode::kOutOfMemory, std::to_string(bytes) + " bytes of shared memory: " +
                                                  std::to_string(available) + " are available");
    }
    const size_t slice = std::min(bytes - done, kSliceBytes);
    uint64_t at = 0;
    BRIGADE_RETURN_IF_ERROR(segment->Allocate(slice, &at));
    if (done == 0) *offset = at;
    BRIGADE_CHECK_EQ(at, *offset + done);
    done += slice;
  }
  return Status();
}

}  // namespace

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
        Allocate(segment.get(), std::max<size_t>(bytes, 1), &attributes.memory_offset));
    memory = segment->base() + attributes.memory_offset;
  } else {
    attributes.address = reinterpret_cast<uint64_t>(memory);
  }
  const MemberPage page(segment->base() + attributes.page_offset, members);
  exposed->reset(new ExposedMemory(std::move(segment), attributes, page, memory));
  return Status();
}

}  // namespace brigade
