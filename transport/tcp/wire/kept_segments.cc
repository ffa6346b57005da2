#include "transport/tcp/wire/kept_segments.h"

#include <cstring>

#include "membuf/check.h"

namespace brigade {

KeptSegments::~KeptSegments() {
  for (const Block& block : blocks_) block.budget->Return(kBlockBytes);
}

bool KeptSegments::Keep(ConstByteSpan segment, const std::shared_ptr<OverflowBudget>& budget) {
  BRIGADE_CHECK_LE(segment.bytes, kMostBytes);
  const size_t needed = sizeof(Length) + segment.bytes;
  if (blocks_.empty() || needed > kBlockBytes - blocks_.back().filled) {
    if (!budget->MayTake(kBlockBytes, /*fresh=*/true)) return false;
    budget->Take(kBlockBytes);
    blocks_.push_back({std::make_unique<std::byte[]>(kBlockBytes), budget});
  }
  Block& block = blocks_.back();
  std::byte* const place = block.memory.get() + block.filled;
  const auto length = static_cast<Length>(segment.bytes);
  std::memcpy(place, &length, sizeof(length));
  if (segment.bytes > 0) std::memcpy(place + sizeof(length), segment.data, segment.bytes);
  block.filled += needed;
  ++block.segments;
  return true;
}

const std::byte* KeptSegments::NextPlace() const {
  const bool in_next = read_bytes_ == blocks_[reading_].filled;
  return in_next ? blocks_[reading_ + 1].memory.get()
                 : blocks_[reading_].memory.get() + read_bytes_;
}

size_t KeptSegments::next_bytes() const {
  Length length = 0;
  std::memcpy(&length, NextPlace(), sizeof(length));
  return length;
}

ConstByteSpan KeptSegments::Next() {
  const ConstByteSpan segment(NextPlace() + sizeof(Length), next_bytes());
  if (read_bytes_ == blocks_[reading_].filled) {
    ++reading_;
    read_bytes_ = 0;
  }
  read_bytes_ += sizeof(Length) + segment.bytes;
  return segment;
}

void KeptSegments::EndOldest() {
  if (--blocks_.front().segments > 0) return;
  blocks_.front().budget->Return(kBlockBytes);
  blocks_.pop_front();
  if (reading_ > 0) {
    --reading_;
  } else {
    read_bytes_ = 0;
  }
}

}  // namespace brigade
