#include "li_shim/gathered_puts.h"

#include <cstdint>
#include <utility>

#include "membuf/element.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace li {
namespace {

// Targets keep the descriptions of some hundred puts of each origin.
constexpr size_t kMostBlocks = 64;
constexpr size_t kShortPart = 4;  // of a segment

// In bytes; of different objects, too.
int64_t Distance(const std::byte* from, const std::byte* to) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(to) - reinterpret_cast<intptr_t>(from));
}

}  // namespace

bool GatheredPuts::Takes(size_t bytes) const { return bytes < segment_bytes_ / kShortPart; }

void GatheredPuts::Add(std::byte* source, size_t offset, size_t bytes) {
  blocks_.push_back({source, offset, bytes});
  bytes_ += bytes;
}

bool GatheredPuts::is_full() const {
  return bytes_ >= segment_bytes_ || blocks_.size() >= kMostBlocks;
}

Status GatheredPuts::Take(int process, OriginData* here, TargetData* there) {
  const std::vector<Block> blocks = std::exchange(blocks_, {});
  bytes_ = 0;
  const Block& first = blocks.front();
  TypedLayout from = TypedLayout::Run(Element::kByte, static_cast<int64_t>(first.bytes));
  TypedLayout to = from;
  if (blocks.size() > 1) {
    std::vector<TypedLayout> runs;
    for (const Block& block : blocks) {
      runs.push_back(TypedLayout::Run(Element::kByte, static_cast<int64_t>(block.bytes)));
    }
    std::vector<TypedLayout::Part> sources, places;
    for (size_t i = 0; i < blocks.size(); ++i) {
      sources.push_back({Distance(first.source, blocks[i].source), &runs[i]});
      places.push_back({static_cast<int64_t>(blocks[i].offset - first.offset), &runs[i]});
    }
    BRIGADE_RETURN_IF_ERROR(TypedLayout::List(sources, &from));
    BRIGADE_RETURN_IF_ERROR(TypedLayout::List(places, &to));
  }
  *here = {first.source, from, 1};
  *there = {process, static_cast<int64_t>(first.offset), to, 1};
  return Status();
}

}  // namespace li
}  // namespace brigade
