// KeptPieces: copies of short pieces that wait for their receiver, packed in overflow memory with
// little overhead. The sender's state of a pending piece, and its chunk or block, would take ten
// times as much.

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
  // Copying longer pieces costs more than it saves.
  static constexpr size_t kMostBytes = 512;

  KeptPieces() = default;
  ~KeptPieces();
  KeptPieces(const KeptPieces&) = delete;
  KeptPieces& operator=(const KeptPieces&) = delete;

  // Appends a copy of a piece. False: `budget` is used up. REQUIRES: kMostBytes at most.
  bool Keep(ConstByteSpan piece, const std::shared_ptr<OverflowBudget>& budget);
  // Returns the length of the piece that Next will return.
  size_t next_bytes() const;
  // Returns the oldest piece that was not returned yet; valid until EndOldest is called for it.
  ConstByteSpan Next();
  // Frees the oldest piece.
  void EndOldest();

 private:
  using Length = uint16_t;  // in front of each piece
  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::shared_ptr<OverflowBudget> budget;  // the budget of `memory`
    size_t filled = 0;
    size_t pieces = 0;  // not ended
  };
  static constexpr size_t kBlockBytes = size_t{16} << 10;

  // Returns the address of the next piece.
  const std::byte* NextPlace() const;

  std::deque<Block> blocks_;
  size_t reading_ = 0;     // of blocks_
  size_t read_bytes_ = 0;  // of that one
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_KEPT_PIECES_H_
