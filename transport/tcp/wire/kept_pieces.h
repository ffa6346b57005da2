// KeptPieces: copies of short pieces that wait for their receiver, one behind the other, in
// overflow memory: little more than their bytes. What the sender needs for each piece under way,
// and the chunk or block it lies in, takes ten times as much.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_KEPT_PIECES_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_KEPT_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/overflow_budget.h"

namespace brigade {

class KeptPieces {
 public:
  // Longer ones are not worth the copy.
  static constexpr size_t kMostBytes = 512;

  KeptPieces() = default;
  ~KeptPieces();
  KeptPieces(const KeptPieces&) = delete;
  KeptPieces& operator=(const KeptPieces&) = delete;

  // Copies a piece behind the others. False: `budget` has no more. REQUIRES: kMostBytes at most.
  bool Keep(ConstByteSpan piece, const std::shared_ptr<OverflowBudget>& budget);
  // The length of the piece that Next returns.
  size_t next_bytes() const;
  // The oldest one that was not returned yet; stays until EndOldest was called for it.
  ConstByteSpan Next();
  // The oldest one is needed no more.
  void EndOldest();

 private:
  using Length = uint16_t;  // in front of each piece
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::shared_ptr<OverflowBudget> budget;  // that it counts in
    size_t filled = 0;
    size_t pieces = 0;  // not ended
  };
  static constexpr size_t kBlockBytes = size_t{16} << 10;

  // Where the next piece is.
  const std::byte* NextPlace() const;

  std::deque<Block> blocks_;
  size_t reading_ = 0;     // of blocks_
  size_t read_bytes_ = 0;  // of that one
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_KEPT_PIECES_H_
