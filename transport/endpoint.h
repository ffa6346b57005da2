// Endpoint: one rank's handle on a transport. docs/design/transport.md has the full contract, with
// the reasons; this header summarises each call.

#ifndef BRIGADE_TRANSPORT_ENDPOINT_H_
#define BRIGADE_TRANSPORT_ENDPOINT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "membuf/byte_span.h"
#include "membuf/memory_domain.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "transport/bootstrap.h"
#include "transport/capabilities.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/control.h"
#include "transport/polling.h"

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

// The result of SendNow.
enum class SentNow {
  kYes,     // it is posted
  kNotYet,  // no effect: the connection is full, or the receiver has not posted a buffer; a retry
            // may succeed at any moment
  kNo,      // no effect, and a retry will not succeed soon
};

// More than 25 public methods: they are the contract of a transport. Wrappers
// (test/support/endpoints) and the conformance tests cover all of them at once, which parts of the
// contract would not allow.
class Endpoint {
 public:
  virtual ~Endpoint() = default;

  virtual const Capabilities& capabilities() const = 0;
  // Returns the capabilities of one open group, which hold for every peer.
  virtual const Capabilities& CapabilitiesOf(GroupId) const { return capabilities(); }
  // Returns the capabilities of messages to and from one peer.
  virtual const Capabilities& CapabilitiesTo(GroupId group, int /*peer*/) const {
    return CapabilitiesOf(group);
  }
  // Returns the host of a member: a number below the number of hosts, equal on all ranks; 0 is the
  // host of rank 0. Constant 0 if this transport treats all peers alike.
  virtual int HostOf(GroupId, int /*peer*/) const { return 0; }
  // Returns the number of hosts of the `count` members `first`, `first + stride`, ...
  virtual int CountHosts(GroupId group, int first, int stride, int count) const;
  // Returns whether the members on this host outnumber the processors that they may use; false if
  // the transport does not know. Equal on all ranks of a host.
  virtual bool IsCrowded(GroupId) const { return false; }
  // Returns the domain of this transport's staging memory. Valid as long as the endpoint.
  virtual MemoryDomain* domain() = 0;

  // Charges this budget for the memory of messages that were sent and not received, beyond the
  // memory that the transport sets aside for them.
  virtual void SetOverflowBudget(const std::shared_ptr<OverflowBudget>&) {}

  // Opens the channels of a group and agrees on their identity on the wire. Collective over the
  // members of `bootstrap` only. `bootstrap` is not used after the call. On failure nothing is open
  // on this rank.
  virtual Status OpenGroup(Bootstrap* bootstrap, GroupId* group) = 0;
  // Closes a group. Local. Posted receives are cancelled without callback; pending sends still
  // complete.
  virtual void CloseGroup(GroupId group) = 0;

  // Posts one segment to rank `peer` of the group; the peer may be this rank. Segments on one
  // (channel, peer) arrive in the order of their posts. `segment` must stay untouched until the
  // completion. kNoResource: no effect; progress, then try again.
  virtual Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                          Completion* completion) = 0;

  // Returns whether SendNow might accept this range.
  virtual bool SendsInPlace(const Channel&, int /*peer*/, const LayoutRange&) const {
    return false;
  }
  // Sends one segment, `head` and then `body`, straight from user memory, registered or not, if
  // that needs no wait. Once it is posted, `head` and `body` may be reused; the completion runs
  // when the whole segment is on its way. *kept_bytes is the number of bytes that were copied to
  // memory of the transport which is not overflow memory. If the segment can never be sent, the
  // posted completion fails.
  virtual SentNow SendNow(const Channel&, int /*peer*/, ConstByteSpan /*head*/,
                          const LayoutRange& /*body*/, Completion*, size_t* /*kept_bytes*/) {
    return SentNow::kNo;
  }

  // Posts a receive of the next segment from `peer` on the channel. `receive_buffer` must stay
  // untouched until the completion; its length is the longest segment accepted. Receives on one
  // (channel, peer) match in the order of their posts, in-place ones included.
  virtual Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                             Completion* completion) = 0;

  // Returns whether PostReceiveInPlace would accept this range.
  virtual bool LandsInPlace(const Channel&, int /*peer*/, const LayoutRange&) const {
    return false;
  }
  // Like PostReceive, but the bytes land in user memory without passing through a chunk; the lease
  // has the length only. The layout must live until the completion. REQUIRES: LandsInPlace returned
  // true.
  virtual Status PostReceiveInPlace(const Channel&, int /*peer*/, const LayoutRange&, Completion*) {
    return Status(StatusCode::kUnavailable, "this transport has no in-place receive");
  }

  // Copies the first bytes of the next segment from `peer` on the channel, if it has arrived and no
  // receive is posted for it, without receiving it. Returns the number of bytes; 0: there is no
  // segment, or this transport cannot peek. Not cheap: for a rank that has waited long.
  virtual size_t PeekUnexpected(const Channel&, int /*peer*/, ByteSpan /*head*/) { return 0; }

  // Releases a lease. If it points into the sender's chunk, the sender may reuse the chunk.
  virtual void ReleaseLease(const Lease& lease) = 0;

  // Sets the handler of control messages of the group to this rank. Without a handler, control
  // messages are lost. It must live until the group is closed. To be called directly after
  // OpenGroup.
  virtual void SetControlHandler(GroupId group, ControlHandler* handler) = 0;
  // Sends at most kMostControlBytes to a member, which may be this rank. The bytes may be reused
  // when it returns. kPeerLost; kNoResource: no effect, never for an urgent message.
  virtual Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) = 0;
  // Returns whether sent control messages need this rank's Progress to reach their receivers.
  virtual bool HoldsControl() const { return false; }

  // Returns how many of the pending sends their receivers have taken: these need no action of this
  // rank, only the memory, which other ranks may still read if it was forwarded to them.
  virtual size_t SendsTaken() { return 0; }

  // Progresses without waiting, and runs callbacks and handlers. Returns whether anything happened.
  virtual bool Progress() = 0;

  // Returns whether a progress thread may call this endpoint's Progress at present, in alternation
  // with its owner. A change to true is noticed after a group was opened or closed.
  virtual bool AllowsProgressThread() const { return false; }

  // Returns how a rank waits for this endpoint. Valid as long as the endpoint.
  virtual Polling* polling() = 0;
  // Returns the edges of ranks that share memory, which work without posts
  // (transport/edge/edge_access.h); null if there are none.
  virtual EdgeAccess* edges() { return nullptr; }
  // Returns the simulated processor that accounts for copies; null on real processors.
  virtual SimulatedProcessor* simulated_processor() { return nullptr; }

  // Keeps an object until the endpoint is destroyed.
  void Keep(std::shared_ptr<const void> kept) { kept_ = std::move(kept); }

 private:
  std::shared_ptr<const void> kept_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_ENDPOINT_H_
