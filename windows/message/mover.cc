#include "windows/message/mover.h"

#include "windows/layout/layout_copy.h"

namespace brigade {
namespace {

void Skip(LayoutCursor* at, int64_t bytes) { at->Seek(at->position() + bytes); }

}  // namespace

void Mover::Gather(LayoutCursor* from, const std::byte* base, int64_t bytes,
                   std::byte* packed) const {
  if (processor_ != nullptr && bytes > 0) {
    const Runs runs = from->Next();
    if (!processor_->Copy(packed, base + runs.offset, static_cast<size_t>(bytes),
                          static_cast<size_t>(runs.bytes))) {
      return Skip(from, bytes);
    }
  }
  brigade::Gather(from, base, bytes, packed);
}

void Mover::Scatter(const std::byte* packed, int64_t bytes, LayoutCursor* to,
                    std::byte* base) const {
  if (processor_ != nullptr && bytes > 0) {
    const Runs runs = to->Next();
    if (!processor_->Copy(base + runs.offset, packed, static_cast<size_t>(bytes),
                          static_cast<size_t>(runs.bytes))) {
      return Skip(to, bytes);
    }
  }
  brigade::Scatter(packed, bytes, to, base);
}

void Mover::AccumulateInto(CombineOp op, Element element, const std::byte* packed, int64_t bytes,
                           LayoutCursor* to, std::byte* base) const {
  if (processor_ != nullptr && bytes > 0) {
    const Runs runs = to->Next();
    std::byte* const first = base + runs.offset;
    if (!processor_->Combine(first, first, packed, static_cast<size_t>(bytes),
                             static_cast<size_t>(runs.bytes))) {
      return Skip(to, bytes);
    }
  }
  brigade::AccumulateInto(op, element, packed, bytes, to, base);
}

}  // namespace brigade
