// Offers: a long message that its receivers read where its sender has it: one copy, by each of
// them, and none by the sender. It lies in memory of brigade_alloc, which they map; or anywhere,
// where the kernel is the fastest to copy it.
//
// A sender that returned would no longer have the memory to itself. So it offers only to receivers
// who wait, takes back what none of them takes up soon, and then waits for those alone who have
// begun to read, and not for long: from one that has not ended then, as it may be stopped, it
// withdraws the message. What was not read goes another way. So does what was read in part.

#ifndef BRIGADE_PATTERNS_DIRECT_OFFERS_H_
#define BRIGADE_PATTERNS_DIRECT_OFFERS_H_

#include <cstddef>
#include <cstdint>

#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/short_path/call_wait.h"
#include "transport/edge/edge.h"
#include "transport/host_memory/shared_source.h"

namespace brigade {

// The sender's side.
class OffersOut {
 public:
  static constexpr int kMostReaders = 8;

  // Of a message of the call that waits so.
  explicit OffersOut(const CallWait& wait) : wait_(wait) {}
  // To a rank of the group too. False: it cannot be offered anything now.
  bool Add(int peer);
  // Whether `matrix` can be offered: from memory that nobody maps not from point to point, where
  // the sender has the kernel copy it by itself. Then all are asked to say when they wait.
  bool MayOffer(const Matrix& matrix);
  // Whether all wait. Those who do not may be looked for, a few microseconds at most.
  bool IsAwaited(bool looks) const;
  // Offers the matrix to all who await the message of this call. False: none has an offer.
  bool Offer(const WireHeader& header, bool all_or_none = false);
  // Takes back what is not taken up soon, and waits until nobody reads any more whose copy counts.
  // Who has read it, a bit for each in the order of Add: the others are to get it another way. But
  // if the time of the call is over before, the group is broken afterwards, and the edges are not
  // to be used any more.
  uint64_t AwaitReaders();

 private:
  // From whom it can be taken back. False: none has an offer any more.
  bool TakeBack();

  CallWait wait_;
  SharedSource source_;
  int peers_[kMostReaders];
  OutEdge* edges_[kMostReaders];
  bool has_offer_[kMostReaders] = {};  // or is reading it
  int count_ = 0;
};

// The receiver's side. REQUIRES: a landing was lent, or an offer is awaited. Waits a little for the
// next message from `wait->peer`. Null: it does not come, and neither is any more. Or the edge has
// an offer now.
const Slot* AwaitMessageOrOffer(CallWait* wait, InEdge* edge);
// The length of the message that the edge has an offer of.
size_t OfferedBytes(const InEdge& edge);
// Reads an offer that the edge has, if its header is `expected`, to the first bytes of `matrix`.
// False: nothing of that counts, and the message comes another way.
bool ReadOffer(InEdge* edge, const WireHeader& expected, const Matrix& matrix);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_DIRECT_OFFERS_H_
