// RmaRequest: one operation on a member's memory, from the call that makes it down to the frame
// that carries it. It points to memory and layouts of the caller, and copies neither.

#ifndef BRIGADE_WINDOWS_MESSAGE_RMA_REQUEST_H_
#define BRIGADE_WINDOWS_MESSAGE_RMA_REQUEST_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "membuf/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/rma_frame.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

// Values of a datatype in this rank's memory.
struct OriginData {
  std::byte* data = nullptr;
  TypedLayout layout;
  int64_t count = 0;

  int64_t bytes() const { return layout.size() * count; }
};

// Values in a member's memory.
struct TargetData {
  int rank = 0;
  int64_t displacement = 0;  // in the target's units
  TypedLayout layout;
  int64_t count = 0;
};

struct RmaRequest {
  struct Values {
    std::byte* data = nullptr;            // null of the target's values
    const TypedLayout* layout = nullptr;  // null of no values
    int64_t count = 0;

    int64_t bytes() const { return count == 0 ? 0 : layout->size() * count; }
  };

  RmaKind kind = RmaKind::kPut;  // kPut, kGet, kAccumulate, kFetch or kSwap
  CombineOp op = CombineOp::kReplace;
  AccessEnd end = AccessEnd::kEpoch;
  // The caller's next fence comes soon: a short put may leave with the frame of the fence.
  bool fence_follows = false;
  int rank = 0;
  int64_t displacement = 0;  // in the target's units
  Values target;
  Values send;
  Values receive;
  const void* expected = nullptr;  // of kSwap
  // Set once the caller's memory is its own again; may be null.
  std::atomic<bool>* over = nullptr;

  // Found by the window.
  Element element = Element::kByte;  // that is combined or swapped
  int64_t offset = 0;                // of the first value in the target's memory, in bytes
  // A frame to its target ends its epoch, or flushes it: it may wait for others to go with.
  bool is_followed = false;
  bool may_go_unstaged = false;  // from where it lies, in segments that land where they belong

  static Values Of(const OriginData& data) { return {data.data, &data.layout, data.count}; }
  static RmaRequest To(RmaKind kind, const TargetData& target, std::atomic<bool>* over) {
    RmaRequest request;
    request.kind = kind;
    request.rank = target.rank;
    request.displacement = target.displacement;
    request.target = {nullptr, &target.layout, target.count};
    request.over = over;
    return request;
  }

  bool is_fetching() const { return kind != RmaKind::kPut && kind != RmaKind::kAccumulate; }
  bool combines() const { return kind == RmaKind::kAccumulate || kind == RmaKind::kFetch; }
  // Bytes of the target's memory, according to the memory of this rank.
  int64_t bytes() const { return is_fetching() ? receive.bytes() : send.bytes(); }
  // Nothing is read or written.
  bool is_empty() const {
    return bytes() == 0 || (kind == RmaKind::kAccumulate && op == CombineOp::kNoOp);
  }
  // Sets `over`.
  void End() const {
    if (over != nullptr) over->store(true, std::memory_order_release);
  }
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_RMA_REQUEST_H_
