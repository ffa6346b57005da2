#include "windows/memory/exposed_memory.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "membuf/available_memory.h"
#include "membuf/check.h"
#include "transport/host/host.h"
#include "windows/memory/cache_line.h"

namespace brigade {
namespace {

// Members of one host allocate at the same time, and where they want more than there is, the system
// would end processes rather than refuse. So it is looked at again and again.
Status Allocate(SharedSegment* segment, size_t bytes, uint64_t* offset) {
  size_t available = 0;
  const auto look = [&](size_t left) {
    available = AvailableMemory(Swapping::kAllowed);
    return left <= available;
  };
  if (look(bytes)) {
    const Status status = segment->Allocate(bytes, offset, look);
    if (status.ok() || bytes <= available) return status;
  }
  return Status(StatusCode::kOutOfMemory, std::to_string(bytes) + " bytes of shared memory: " +
                                              std::to_string(available) + " are available");
}

size_t SystemPageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t RoundTo(size_t unit, size_t bytes) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Status ExposedMemory::Create(WindowMemory kind, std::byte* memory, size_t bytes, int64_t unit,
                             int members, std::unique_ptr<ExposedMemory>* exposed,
                             std::shared_ptr<SharedSegment> segment_of_memory,
                             const WallSize& wall_size) {
  // The page, and behind it the memory, which begins a page of the system. Memory of no bytes has
  // an address, too, and what is longer than any address space must not wrap. A wall's front is the
  // end of the page.
  const bool may_have_wall = kind == WindowMemory::kPrivate && segment_of_memory == nullptr;
  const WallSize wall = may_have_wall ? wall_size : WallSize();
  const size_t page_bytes =
      RoundTo(SystemPageBytes(), MemberPage::BytesFor(members) + wall.front_bytes);
  size_t memory_bytes = 0;
  if (kind == WindowMemory::kShared) memory_bytes = std::clamp(bytes, size_t{1}, size_t{1} << 62);
  if (kind == WindowMemory::kDynamic) memory_bytes = AttachedRanges::Bytes();
  std::shared_ptr<SharedSegment> segment;
  BRIGADE_RETURN_IF_ERROR(
      SharedSegment::CreateFor(page_bytes + memory_bytes + wall.boxes_bytes, &segment));
  MemberAttributes attributes;
  attributes.host = Host::Here();
  attributes.segment = attributes.memory_segment = segment->address();
  attributes.kind = kind;
  attributes.bytes = bytes;
  attributes.unit = unit;
  BRIGADE_RETURN_IF_ERROR(
      Allocate(segment.get(), page_bytes + memory_bytes, &attributes.page_offset));
  attributes.memory_offset = attributes.page_offset + page_bytes;
  if (kind == WindowMemory::kShared) {
    memory = segment->base() + attributes.memory_offset;
  } else if (kind == WindowMemory::kPrivate && segment_of_memory != nullptr) {
    BRIGADE_CHECK(segment_of_memory->Contains(memory, bytes));
    attributes.kind = WindowMemory::kShared;
    attributes.memory_segment = segment_of_memory->address();
    attributes.memory_offset = static_cast<uint64_t>(memory - segment_of_memory->base());
  } else if (kind == WindowMemory::kPrivate) {
    attributes.address = attributes.readable = reinterpret_cast<uint64_t>(memory);
    uint64_t boxes = 0;
    if (wall.boxes_bytes > 0 && segment->AllocateLater(wall.boxes_bytes, &boxes).ok()) {
      attributes.memory_offset = boxes - wall.front_bytes;
      attributes.wall_bytes = wall.front_bytes + wall.boxes_bytes;
    }
  } else {
    memory = reinterpret_cast<std::byte*>(kProcessAddress);
    attributes.address = kProcessAddress;
    attributes.readable = reinterpret_cast<uint64_t>(segment->base());
    attributes.bytes = kProcessBytes;
  }
  const MemberPage page(segment->base() + attributes.page_offset, members);
  exposed->reset(new ExposedMemory(std::move(segment), attributes, page, memory));
  (*exposed)->segment_of_memory_ = std::move(segment_of_memory);
  return Status();
}

Status ExposedMemory::MakeBoxes(const WallSize& wall) {
  return segment_->AllocateAt(attributes_.memory_offset + wall.front_bytes, wall.boxes_bytes);
}

Status ExposedMemory::CreatePart(int rank, const std::vector<size_t>& bytes, int64_t unit,
                                 MemberAttributes* first, std::unique_ptr<ExposedMemory>* exposed) {
  // All pages, and behind them all memory.
  const auto members = static_cast<int>(bytes.size());
  const size_t page_bytes = RoundTo(kLineBytes, MemberPage::BytesFor(members));
  const size_t pages_bytes = RoundTo(SystemPageBytes(), page_bytes * bytes.size());
  std::shared_ptr<SharedSegment> segment;
  MemberAttributes attributes;
  attributes.kind = WindowMemory::kShared;
  attributes.bytes = bytes[static_cast<size_t>(rank)];
  attributes.unit = unit;
  if (rank == 0) {
    size_t all_bytes = pages_bytes + 1;
    for (const size_t part : bytes) {
      all_bytes = std::min(all_bytes + std::min(part, size_t{1} << 62), size_t{1} << 62);
    }
    attributes.host = Host::Here();
    BRIGADE_RETURN_IF_ERROR(SharedSegment::CreateFor(all_bytes, &segment));
    attributes.segment = attributes.memory_segment = segment->address();
    BRIGADE_RETURN_IF_ERROR(Allocate(segment.get(), all_bytes, &attributes.page_offset));
    attributes.memory_offset = attributes.page_offset + pages_bytes;
    *first = attributes;
  } else {
    if (!(first->host == Host::Here())) {
      return {StatusCode::kUnavailable, "shared memory of another host"};
    }
    BRIGADE_RETURN_IF_ERROR(SharedSegment::Open(first->segment, &segment));
    attributes.host = first->host;
    attributes.segment = attributes.memory_segment = first->segment;
    attributes.page_offset = first->page_offset + static_cast<size_t>(rank) * page_bytes;
    attributes.memory_offset =
        std::accumulate(bytes.begin(), bytes.begin() + rank, first->memory_offset);
  }
  const MemberPage page(segment->base() + attributes.page_offset, members);
  std::byte* const memory = segment->base() + attributes.memory_offset;
  exposed->reset(new ExposedMemory(std::move(segment), attributes, page, memory));
  return Status();
}

}  // namespace brigade
