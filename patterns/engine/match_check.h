// MatchCheck: how a rank that has waited long in a call finds out that another rank made another
// call.
//
// A rank learns of a mismatch from the header of a message that it receives. Two mismatches show no
// such message: the message comes from a rank that this one does not receive from, or both ranks
// wait. So a rank that has waited for EngineOptions::match_check_seconds
// 1. looks at messages that have come on the call's channel from ranks it does not receive from,
// 2. sends the rank that it waits for an enquiry: a control message with the call it waits in. The
//    receiver compares that call with its own call of the same number, and breaks the group if they
//    differ. Two roots of a scatter, say, wait until the other receives, and neither does.
// Both find proofs only. A rank that has not made its call yet is late, and never a mismatch.

#ifndef BRIGADE_PATTERNS_ENGINE_MATCH_CHECK_H_
#define BRIGADE_PATTERNS_ENGINE_MATCH_CHECK_H_

#include <optional>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/engine/abort.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/send_queue.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/schedule.h"
#include "transport/channel.h"
#include "transport/endpoint.h"

namespace brigade {

// A call that waits for a message.
struct WaitingCall {
  // Sets that it waits for the rank that is slow to receive what was sent to it. No effect from
  // point to point, where enquiries are about receives only.
  void AwaitReceiver(const SendQueue& sends);

  GroupState* group = nullptr;
  ChannelKind kind = ChannelKind::kPointToPoint;
  WireHeader header;
  const Schedule* schedule = nullptr;
  int peer = -1;  // the group rank whose message it waits for; -1: it may end without one
  // The wait may end without a message of the peer: an enquiry compares calls of the same number
  // only, not their order.
  bool compares_only = false;
};

// Returns kMismatch if a message has come that shows that its sender made another call. REQUIRES:
// all earlier calls on the channel are complete.
Status FindUnexpected(Endpoint* endpoint, const WaitingCall& call);

// Returns `mismatch`, which the header of a message from `call.peer` has shown, or what explains it
// better: if the message is of another number, the calls may differ that came before.
Status ExplainMismatch(Endpoint* endpoint, const WaitingCall& call, const WireHeader& theirs,
                       const Status& mismatch);
// Returns `loss`, or a mismatch that explains why the lost rank is gone.
Status ExplainLoss(Endpoint* endpoint, const WaitingCall& call, const Status& loss);

// As FindUnexpected; and sends an enquiry to the rank that the call waits for. Until the wait is
// over the caller leaves `call.group->long_wait` as it is, and resets it then.
Status CheckMatch(Endpoint* endpoint, const WaitingCall& call);

// Compares an enquiry from member `from` with the calls of this rank. Returns why the group is to
// be broken, if it shows a mismatch. `message` is not trusted.
std::optional<Abort> AnswerEnquiry(const GroupState& group, int from, ConstByteSpan message);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_MATCH_CHECK_H_
