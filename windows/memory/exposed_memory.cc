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

// Memory that the program reaches. The system ends processes rather than refuse memory, so more
// than it has left is refused here. Where memory is charged at once, members of one host charge it
// at the same time, so the free memory is read again and again. It is not read for each short
// window of a program that makes many.
Status AllocateMemory(SharedSegment* segment, size_t bytes, uint64_t* offset) {
  static const bool overcommits = MayOvercommit();
  thread_local AvailableShare share;
  bool is_enough = share.Take(bytes);
  const auto look = [&](size_t left) {
    share.LookAnew();
    return is_enough = share.Take(left);
  };
  if (is_enough) {
    const Status status = segment->AllocateForUser(bytes, offset, look, overcommits);
    if (status.ok() || is_enough) return status;
  }
  return Status(StatusCode::kOutOfMemory, std::to_string(bytes) + " bytes of shared memory: " +
                                              std::to_string(AvailableMemory(Swapping::kAllowed)) +
                                              " are available");
}

size_t SystemPageBytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t RoundTo(size_t unit, size_t bytes) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Status ExposedMemory::Create(WindowMemory kind, std::byte* memory, size_t bytes, int64_t unit,
                             int members, std::unique_ptr<ExposedMemory>* exposed,
                             std::shared_ptr<SharedSegment> segment_of_memory,
                             const MailboxSize& mailbox_size) {
  // The page, or the page and the table of attached ranges, is charged at once, since no call on a
  // window may fail for it. Behind it is the memory, which begins a page of the system. Memory of
  // no bytes has an address, too, and a length beyond any address space must not wrap. An area's
  // front is the end of the page.
  const bool may_have_mailboxes = kind == WindowMemory::kPrivate && segment_of_memory == nullptr;
  const MailboxSize area = may_have_mailboxes ? mailbox_size : MailboxSize();
  const size_t page_bytes =
      RoundTo(SystemPageBytes(), MemberPage::BytesFor(members) + area.front_bytes);
  const size_t table_bytes = kind == WindowMemory::kDynamic ? AttachedRanges::Bytes() : 0;
  const size_t memory_bytes =
      kind == WindowMemory::kShared ? std::clamp(bytes, size_t{1}, size_t{1} << 62) : 0;
  std::shared_ptr<SharedSegment> segment;
  BRIGADE_RETURN_IF_ERROR(SharedSegment::CreateFor(
      page_bytes + table_bytes + memory_bytes + area.boxes_bytes, &segment));
  MemberAttributes attributes;
  attributes.host = Host::Here();
  attributes.segment = attributes.memory_segment = segment->address();
  attributes.kind = kind;
  attributes.bytes = bytes;
  attributes.unit = unit;
  BRIGADE_RETURN_IF_ERROR(segment->Allocate(page_bytes + table_bytes, &attributes.page_offset));
  attributes.memory_offset = attributes.page_offset + page_bytes;
  if (kind == WindowMemory::kShared) {
    BRIGADE_RETURN_IF_ERROR(AllocateMemory(segment.get(), memory_bytes, &attributes.memory_offset));
    memory = segment->base() + attributes.memory_offset;
  } else if (kind == WindowMemory::kPrivate && segment_of_memory != nullptr) {
    BRIGADE_CHECK(segment_of_memory->Contains(memory, bytes));
    attributes.kind = WindowMemory::kShared;
    attributes.memory_segment = segment_of_memory->address();
    attributes.memory_offset = static_cast<uint64_t>(memory - segment_of_memory->base());
  } else if (kind == WindowMemory::kPrivate) {
    attributes.address = attributes.readable = reinterpret_cast<uint64_t>(memory);
    uint64_t boxes = 0;
    if (area.boxes_bytes > 0 && segment->AllocateLater(area.boxes_bytes, &boxes).ok()) {
      attributes.memory_offset = boxes - area.front_bytes;
      attributes.mailbox_bytes = area.front_bytes + area.boxes_bytes;
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

Status ExposedMemory::MakeBoxes(const MailboxSize& area) {
  return segment_->AllocateAt(attributes_.memory_offset + area.front_bytes, area.boxes_bytes);
}

Status ExposedMemory::CreatePart(int rank, const std::vector<size_t>& bytes, int64_t unit,
                                 MemberAttributes* first, std::unique_ptr<ExposedMemory>* exposed) {
  // All pages, and behind them all memory.
  const auto members = static_cast<int>(bytes.size());
  const size_t page_bytes = RoundTo(kCacheLineBytes, MemberPage::BytesFor(members));
  const size_t pages_bytes = RoundTo(SystemPageBytes(), page_bytes * bytes.size());
  std::shared_ptr<SharedSegment> segment;
  MemberAttributes attributes;
  attributes.kind = WindowMemory::kShared;
  attributes.bytes = bytes[static_cast<size_t>(rank)];
  attributes.unit = unit;
  if (rank == 0) {
    size_t memory_bytes = 1;
    for (const size_t part : bytes) {
      memory_bytes = std::min(memory_bytes + std::min(part, size_t{1} << 62), size_t{1} << 62);
    }
    attributes.host = Host::Here();
    BRIGADE_RETURN_IF_ERROR(SharedSegment::CreateFor(pages_bytes + memory_bytes, &segment));
    attributes.segment = attributes.memory_segment = segment->address();
    BRIGADE_RETURN_IF_ERROR(segment->Allocate(pages_bytes, &attributes.page_offset));
    BRIGADE_RETURN_IF_ERROR(AllocateMemory(segment.get(), memory_bytes, &attributes.memory_offset));
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
