#include "windows/memory/target_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "membuf/accumulate.h"
#include "windows/layout/layout_copy.h"
#include "windows/memory/cache_line.h"
#include "windows/rules.h"

namespace brigade {
namespace {

// The next bytes in packed form: where they are, if that is in one run, or gathered in `block`.
const std::byte* NextPacked(LayoutCursor* from, const std::byte* base, int64_t bytes,
                            std::byte* block) {
  const Runs runs = from->Next();
  if (runs.bytes < bytes) {
    Gather(from, base, bytes, block);
    return block;
  }
  from->Skip(bytes);
  return base + runs.offset;
}

}  // namespace

std::unique_ptr<TargetMemory> TargetMemory::Open(const MemberAttributes& target, const Host& here,
                                                 int members) {
  std::shared_ptr<SharedSegment> segment;
  std::shared_ptr<SharedSegment> segment_of_memory;
  if (!(target.host == here) || !SharedSegment::Open(target.segment, &segment).ok()) return nullptr;
  std::byte* const page = segment->At(target.page_offset, MemberPage::BytesFor(members));
  if (page == nullptr || target.page_offset % kCacheLineBytes != 0) return nullptr;
  std::byte* mapped = nullptr;
  std::byte* attached = nullptr;
  std::optional<ProcessMemory> process;
  if (target.kind == WindowMemory::kDynamic) {
    attached = segment->At(target.memory_offset, AttachedRanges::Bytes());
    if (attached == nullptr || target.memory_offset % kCacheLineBytes != 0) return nullptr;
  }
  if (target.kind == WindowMemory::kShared) {
    if (!SharedSegment::Open(target.memory_segment, &segment_of_memory).ok()) return nullptr;
    mapped = segment_of_memory->At(target.memory_offset, target.bytes);
    if (mapped == nullptr) return nullptr;
  } else if (target.segment.process == getpid()) {
    mapped = reinterpret_cast<std::byte*>(target.address);
  } else {
    process.emplace(target.segment.process);
    if (target.bytes > 0 && !process->CanReach(target.readable)) return nullptr;
  }
  std::unique_ptr<TargetMemory> opened(new TargetMemory(
      std::move(segment), MemberPage(page, members), target.address, mapped, attached));
  opened->segment_of_memory_ = std::move(segment_of_memory);
  opened->process_ = std::move(process);
  if (target.mailbox_bytes > 0 && target.memory_offset % kCacheLineBytes == 0) {
    opened->mailboxes_ = opened->segment_->At(target.memory_offset, target.mailbox_bytes);
  }
  return opened;
}

Status TargetMemory::Put(LayoutCursor* from, const std::byte* origin, int64_t bytes,
                         LayoutCursor* to, int64_t offset) const {
  if (mapped_ == nullptr) {
    return process_->Write(from, origin, bytes, to, address_ + static_cast<uint64_t>(offset));
  }
  CopyLayout(from, origin, bytes, to, mapped_ + offset);
  return Status();
}

Status TargetMemory::Get(LayoutCursor* from, int64_t offset, int64_t bytes, LayoutCursor* to,
                         std::byte* origin) const {
  if (mapped_ == nullptr) {
    return process_->Read(from, address_ + static_cast<uint64_t>(offset), bytes, to, origin);
  }
  CopyLayout(from, mapped_ + offset, bytes, to, origin);
  return Status();
}

Status TargetMemory::Accumulate(CombineOp op, Element element, LayoutCursor* from,
                                const std::byte* origin, int64_t bytes, LayoutCursor* to,
                                int64_t offset, std::byte* fetched) const {
  const int64_t element_bytes =
      element == Element::kMixed ? 1 : static_cast<int64_t>(ElementBytes(element));
  for (int64_t done = 0; done < bytes;) {
    const int64_t part = std::min(
        bytes - done, rules::kAccumulateBlockBytes - rules::kAccumulateBlockBytes % element_bytes);
    std::byte block[rules::kAccumulateBlockBytes];
    const std::byte* const operand =
        op == CombineOp::kNoOp ? nullptr : NextPacked(from, origin, part, block);
    std::byte* const old = fetched == nullptr ? nullptr : fetched + done;
    if (mapped_ == nullptr) {
      BRIGADE_RETURN_IF_ERROR(AccumulateBlock(op, element, operand, part, to,
                                              address_ + static_cast<uint64_t>(offset), old));
    } else {
      if (old != nullptr) {
        const int64_t position = to->position();
        Gather(to, mapped_ + offset, part, old);
        to->Seek(position);
      }
      AccumulateInto(op, element, operand, part, to, mapped_ + offset);
    }
    done += part;
  }
  return Status();
}

Status TargetMemory::AccumulateBlock(CombineOp op, Element element, const std::byte* operand,
                                     int64_t bytes, LayoutCursor* to, uint64_t base,
                                     std::byte* fetched) const {
  std::byte block[rules::kAccumulateBlockBytes];
  const int64_t position = to->position();
  if (fetched != nullptr || (op != CombineOp::kReplace && op != CombineOp::kNoOp)) {
    LayoutCursor packed = LayoutCursor::Packed(bytes);
    std::byte* const old = fetched == nullptr ? block : fetched;
    BRIGADE_RETURN_IF_ERROR(process_->Read(to, base, bytes, &packed, old));
  }
  if (op == CombineOp::kNoOp) {
    to->Seek(position + bytes);
    return Status();
  }
  if (op != CombineOp::kReplace) {
    if (fetched != nullptr) std::memcpy(block, fetched, static_cast<size_t>(bytes));
    brigade::Accumulate(op, element, static_cast<size_t>(bytes) / ElementBytes(element), block,
                        operand);
    operand = block;
  }
  to->Seek(position);
  LayoutCursor packed = LayoutCursor::Packed(bytes);
  return process_->Write(&packed, operand, bytes, to, base);
}

}  // namespace brigade
