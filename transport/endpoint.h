// Endpoint: one rank's handle on a transport. The full contract, with the reasons, is
// docs/design/transport.md; this header is its summary per call.

#ifndef BRIGADE_TRANSPORT_ENDPOINT_H_
#define BRIGADE_TRANSPORT_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "membuf/byte_span.h"
#include "membuf/memory_domain.h"
#include "membuf/rules.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "transport/bootstrap.h"
#include "transport/capabilities.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/control.h"

namespace brigade {

class EdgeAccess;
class OverflowBudget;
class SimulatedProcessor;

// A packed range of user memory.
struct LayoutRange {
  const StridedLayout* layout = nullptr;
  std::byte* base = nullptr;
  size_t offset = 0;
  size_t bytes = 0;
};

// What became of a SendNow.
enum class SentNow {
  kYes,     // it is posted
  kNotYet,  // nothing happened: other bytes fill the way out, which may have room at any moment, or
            // the receiver has not said where it goes, and may do so at any moment
  kNo,      // nothing happened, and looking again soon will not help
};

class Endpoint {
 public:
  virtual ~Endpoint() = default;

  virtual const Capabilities& capabilities() const = 0;
  // Those of one open group, where they differ by group: what holds for every peer.
  virtual const Capabilities& CapabilitiesOf(GroupId) const { return capabilities(); }
  // Those of what goes to and comes from one peer, where they differ by peer.
  virtual const Capabilities& CapabilitiesTo(GroupId group, int /*peer*/) const {
    return CapabilitiesOf(group);
  }
  // The host of a member, where peers of one's own are reached otherwise than all others: a number
  // below the number of hosts, equal on all ranks; 0 is the host of rank 0.
  virtual int HostOf(GroupId, int /*peer*/) const { return 0; }
  // On how many of them members `first`, `first + stride`, ... are, `count` of them.
  virtual int CountHosts(GroupId group, int first, int stride, int count) const;
  // Where this transport's staging memory comes from. Lives as long as the endpoint.
  virtual MemoryDomain* domain() = 0;

  // From here on, what was sent and is not received takes memory from this budget, where it takes
  // more of the transport's than that sets aside for it.
  virtual void SetOverflowBudget(const std::shared_ptr<OverflowBudget>&) {}

  // Collective over the members of `bootstrap` and nobody else. Opens the group's channels and
  // agrees on their identity on the wire. `bootstrap` is not used after the call. On failure
  // nothing is open on this rank.
  virtual Status OpenGroup(Bootstrap* bootstrap, GroupId* group) = 0;
  // Local. Receives still posted are cancelled without callback; sends still in flight complete as
  // if nothing had happened.
  virtual void CloseGroup(GroupId group) = 0;

  // Posts one piece to rank `peer` of the group (oneself included). Pieces on one (channel, peer)
  // arrive in the order of their posts. `piece` must stay untouched until the completion.
  // kNoResource: nothing happened; progress, then try again.
  virtual Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                          Completion* completion) = 0;

  // Whether SendNow might take this range.
  virtual bool SendsInPlace(const Channel&, int /*peer*/, const LayoutRange&) const {
    return false;
  }
  // Sends one piece, `head` and then `body`, if that takes no waiting: straight from user memory,
  // registered or not. Once it is posted both are free again; the completion says, as that of any
  // send, when all of it is on its way. `kept_bytes` of it were copied, to memory of the transport
  // that is no overflow memory. What is posted says if it can never be sent.
  virtual SentNow SendNow(const Channel&, int /*peer*/, ConstByteSpan /*head*/,
                          const LayoutRange& /*body*/, Completion*, size_t* /*kept_bytes*/) {
    return SentNow::kNo;
  }

  // Posts a receive of the next piece from `peer` on the channel. `landing` is lent until the
  // completion; its length is the longest piece accepted. Receives on one (channel, peer) match in
  // the order of their posts, in-place ones included.
  virtual Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                             Completion* completion) = 0;

  // Whether PostReceiveInPlace would take this range.
  virtual bool LandsInPlace(const Channel&, int /*peer*/, const LayoutRange&) const {
    return false;
  }
  // As PostReceive, but the bytes land in user memory without passing through a chunk; the lease
  // carries only the length. The layout must live until the completion. REQUIRES: LandsInPlace said
  // yes.
  virtual Status PostReceiveInPlace(const Channel&, int /*peer*/, const LayoutRange&, Completion*) {
    return Status(StatusCode::kUnavailable, "this transport has no in-place receive");
  }

  // Copies the first bytes of the next piece from `peer` on the channel, if it has come and no
  // receive is posted for it, and leaves it where it is. Returns how many; 0: there is no such
  // piece, or it cannot be seen before it is received. Not cheap: for a rank that has waited long.
  virtual size_t PeekUnexpected(const Channel&, int /*peer*/, ByteSpan /*head*/) { return 0; }

  // Gives a lease back. The sender's chunk, if that is where it points, may be reused from here on.
  virtual void ReleaseLease(const Lease& lease) = 0;

  // From here on `handler` is told of the control messages of the group that come to this rank;
  // those that come while there is none are lost. It must live until the group is closed. To be
  // called behind OpenGroup, before anything else.
  virtual void SetControlHandler(GroupId group, ControlHandler* handler) = 0;
  // Sends at most kMostControlBytes to a member, oneself included. The bytes are free when it
  // returns. kPeerLost; kNoResource: nothing happened, and never to a message that is urgent.
  virtual Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) = 0;
  // Whether some that were sent need this rank's Progress to reach their receivers.
  virtual bool HoldsControl() const { return false; }

  // How many of the sends under way their receivers have taken: they need nothing more of this
  // rank but the memory, which others may go on reading if it was forwarded to them.
  virtual size_t SendsTaken() { return 0; }

  // Moves what can be moved without waiting, and runs callbacks and handlers. True if anything
  // happened.
  virtual bool Progress() = 0;

  // From a driver that leaves with something under way and may not be back soon: tells peers what
  // was held back to be told together with more. Cheap if there is nothing.
  virtual void Flush() {}

  // Whether a helper thread may drive this endpoint at present, in turns with its owner. A change
  // to yes is noticed after a group was opened or closed.
  virtual bool HelperMayDrive() const { return false; }
  // Sleeps until Progress might find something, `microseconds` at most; at once if it already
  // might. Not the driver's alone: a second thread may sleep here while another drives.
  virtual void Await(int microseconds);

  // Called by a waiting driver after a Progress that moved nothing; `idle_polls` counts how many in
  // a row. Spins, yields or sleeps, whatever costs the other ranks of this machine least. The
  // default spins briefly, then yields the processor.
  virtual void Pause(uint64_t idle_polls);
  // Now and then from a driver that waits in another transport: does what this one does in a long
  // Pause only, or moves what is under way in the library under it: the program's own messages, and
  // those that nobody here has asked for yet.
  virtual void Nudge() {}
  // No sleep comes before so many idle polls: who counts polls to be patient counts no further.
  virtual uint64_t PollsAwake() const { return rules::kPollsAwake; }
  // The same in yields, too, which cost nobody his turn: from there on a driver that nobody would
  // wake from the sleep of Pause takes naps. Not less than PollsAwake().
  virtual uint64_t PollsBeforeSleep() const { return PollsAwake(); }
  // What ranks that share memory can do without posts (transport/edge/edge_access.h); null where
  // there is no such thing.
  virtual EdgeAccess* edges() { return nullptr; }
  // Who is to be told what the processor does with memory; null for processors that exist.
  virtual SimulatedProcessor* simulated_processor() { return nullptr; }

  // Keeps something that is released when the endpoint is gone.
  void Keep(std::shared_ptr<const void> kept) { kept_ = std::move(kept); }

 private:
  std::shared_ptr<const void> kept_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_ENDPOINT_H_
