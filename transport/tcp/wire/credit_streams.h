// SendStream and ReceiveStream: the two ends of one stream (channel, peer, direction) over a
// connection that all streams of two ranks share. They keep its order and its credits: a piece
// leaves only when there is a place for it, so a connection can always be read and no stream ever
// waits for another.
//
// A place is a posted receive, which the receiver tells with a grant, or, for a short piece, part
// of kAheadBytes that every stream may send ahead of its receives. A grant says how many receives
// were ever posted. Receives of long pieces are told at once, or, where one of the link was just
// told, together at the next Progress; those of short ones with a piece that goes the other way,
// when a good part of the allowance has been used, or when their rank has nothing else to do.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "membuf/byte_span.h"
#include "transport/completion.h"
#include "transport/core/fifo.h"

namespace brigade {

// Longer pieces wait for their receive: 64 KiB and what goes before them.
inline constexpr size_t kEagerBytes = (size_t{64} << 10) + 64;
// What a piece sent ahead of its receive costs: an empty one takes memory, too.
inline constexpr size_t AheadCost(size_t piece_bytes) { return piece_bytes + 64; }
// Of such pieces, per stream: two of the longest.
inline constexpr size_t kAheadBytes = 2 * AheadCost(kEagerBytes);

class SendStream {
 public:
  struct Piece {
    ConstByteSpan bytes;
    Completion* completion = nullptr;
  };

  void Push(const Piece& piece) { waiting_.push_back(piece); }
  bool waiting() const { return !waiting_.empty(); }
  // Whether the first waiting piece has a place where it is going.
  bool MayTake() const { return !waiting_.empty() && MaySend(waiting_.front().bytes.bytes); }
  // The first waiting piece, whatever MayTake says; it counts as sent.
  Piece Take();
  // The same for a piece that never waited, behind which none waits.
  bool MaySend(size_t bytes) const;
  void CountSent(size_t bytes);

  // The receiver has posted so many receives, modulo 2^32. An older count than known is no news.
  void Grant(uint32_t posted);
  // The receiver takes everything from here on, and throws it away.
  void GrantAll() { all_granted_ = true; }
  bool all_granted() const { return all_granted_; }

 private:
  Fifo<Piece> waiting_;
  uint32_t sent_ = 0;
  uint32_t granted_ = 0;
  bool all_granted_ = false;
  Fifo<size_t> ahead_;      // costs of pieces granted_ .. sent_ - 1
  size_t ahead_bytes_ = 0;  // their sum
};

class ReceiveStream {
 public:
  struct Receive {
    ByteSpan landing;
    bool in_place = false;  // the lease has no data
    Completion* completion = nullptr;
  };
  // A piece that has come, and who receives it.
  struct Arrival {
    Receive receive;
    size_t bytes = 0;  // more than the landing has: it was too long
  };

  // Posts a receive. True, with *arrival, if its piece has come already.
  bool Post(const Receive& receive, Arrival* arrival);
  bool posted() const { return !posted_.empty(); }
  // Whether the next receive posted will find its piece here.
  bool stored() const { return !stored_.empty(); }
  // Takes a receive back, the oldest first. REQUIRES: posted().
  Receive TakeBack();

  // A piece of so many bytes begins to come in: where to. False if the sender was not allowed to.
  bool Begin(size_t bytes, ByteSpan* where);
  // It is complete. True, with *arrival, if somebody waits for it.
  bool End(Arrival* arrival);
  // The piece that is coming in is given up.
  void Abandon() { coming_ = Coming::kNothing; }

  // Whether there are receives that the sender was not told of; and whether it should be, without
  // waiting for an occasion.
  bool untold() const { return told_ != count_; }
  bool ShouldTell() const { return untold() && (long_untold_ || MayHoldUp()); }
  // How many were posted.
  uint32_t count() const { return count_; }
  // The same, which counts as told.
  uint32_t Tell();

 private:
  struct Stored {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  Arrival Consume(const Stored& stored);
  // Whether the sender may not send its next piece, if that is of kEagerBytes.
  bool MayHoldUp() const { return untold_bytes_ + AheadCost(kEagerBytes) > kAheadBytes; }

  enum class Coming { kNothing, kLanding, kStore };
  Coming coming_ = Coming::kNothing;
  size_t coming_bytes_ = 0;
  Stored coming_store_;
  Fifo<Receive> posted_;
  std::list<Stored> stored_;  // came before their receives
  size_t stored_bytes_ = 0;   // what they cost

  uint32_t count_ = 0;  // receives ever posted
  uint32_t told_ = 0;
  bool long_untold_ = false;
  size_t untold_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_
