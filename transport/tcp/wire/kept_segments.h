// KeptSegments: copies of short segments that wait for their receiver, packed in overflow memory
// with little overhead. The sender's state of a pending segment, and its chunk or block, would take
// ten times as much.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_KEPT_SEGMENTS_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_KEPT_SEGMENTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/overflow_budget.h"

namespace brigade {

class KeptSegments {
 public:
  // Copying longer segments costs more than it saves.
  static constexpr size_t kMostBytes = 512;

  KeptSegments() = default;
  ~KeptSegments();
  KeptSegments(const KeptSegments&) = delete;
  KeptSegments& operator=(const KeptSegments&) = delete;

  // Appends a copy of a segment. False: `budget` is used up. REQUIRES: kMostBytes at most.
  bool Keep(ConstByteSpan segment, const std::shared_ptr<OverflowBudget>& budget);
  // Returns the length of the segment that Next will return.
  size_t next_bytes() const;
  // Returns the oldest segment that was not returned yet; valid until EndOldest is called for it.
  ConstByteSpan Next();
  // Frees the oldest segment.
  void EndOldest();

 private:
  using Length = uint16_t;  // in front of each segment
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::shared_ptr<OverflowBudget> budget;  // the budget of `memory`
    size_t filled = 0;
    size_t segments = 0;  // not ended
  };
  static constexpr size_t kBlockBytes = size_t{16} << 10;

  // Returns the address of the next segment.
  const std::byte* NextPlace() const;

  std::deque<Block> blocks_;
  size_t reading_ = 0;     // of blocks_
  size_t read_bytes_ = 0;  // of that one
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_KEPT_SEGMENTS_H_
