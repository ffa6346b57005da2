#include "patterns/engine/match_check.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/call_history.h"
#include "patterns/engine/group_control.h"
#include "patterns/engine/header_difference.h"
#include "patterns/engine/scope.h"
#include "transport/control.h"

namespace brigade {
namespace {

// The control message: the header of the call that its sender waits in, but for what is not
// compared, and how many calls the sender has begun, by channel.
struct Enquiry {
  uint8_t message_kind = GroupControl::kEnquiry;
  uint8_t channel = 0;
  uint8_t pattern = 0;
  uint8_t shape = 0;
  uint16_t arithmetic = 0;
  uint16_t element_bytes = 0;
  int32_t parameter = 0;
  int32_t root = 0;
  uint32_t sequence = 0;
  uint32_t begun[kChannelKinds] = {};  // from point to point: sends to the receiver of this message
  uint32_t compares_only = 0;          // as in WaitingCall
  uint64_t total_bytes = 0;
};
static_assert(sizeof(Enquiry) == kMostControlBytes, "no padding, and it fits");

// By how much a number, modulo 2^32, is above another.
int32_t Above(uint32_t number, uint32_t other) { return static_cast<int32_t>(number - other); }

uint32_t SendsTo(const GroupState& group, int peer) {
  // Empty before the first message from point to point.
  const auto index = static_cast<size_t>(peer);
  return index < group.send_sequence.size() ? static_cast<uint32_t>(group.send_sequence[index]) : 0;
}

const char* NameOf(ChannelKind kind) {
  constexpr const char* kNames[kChannelKinds] = {"none", "row", "column", "all"};
  return kNames[static_cast<int>(kind)];
}

// Whether a collective call does not end on this rank before member `other` has begun it.
bool Needs(const Scope& scope, const WireHeader& call, int other) {
  const int distance = other - scope.first;
  const int other_rank = distance / scope.stride;
  if (distance < 0 || distance % scope.stride != 0 || other_rank >= scope.size) return false;
  switch (static_cast<Pattern>(call.pattern)) {
    case Pattern::kBroadcast:
    case Pattern::kScatter:
      return call.root == other_rank;
    case Pattern::kReduce:
    case Pattern::kGather:
      return call.root == scope.rank;
    case Pattern::kScan:
    case Pattern::kExscan:
      return other_rank < scope.rank;
    case Pattern::kAllReduce:
    case Pattern::kMultiBroadcast:
    case Pattern::kMultiReduce:
    case Pattern::kBarrier:
    case Pattern::kAllToAll:
      return true;
    default:
      return false;
  }
}

// The header without the fields that differ between messages of one call: the block, and fields
// that depend on it.
WireHeader Comparable(WireHeader header) {
  header.block = -1;
  header.lengths = 0;
  const bool known = header.pattern < kPatterns;
  if (known && EntryOf(static_cast<Pattern>(header.pattern)).multi) header.total_bytes = 0;
  return header;
}

// The text of a mismatch; empty if the calls match.
std::string CompareCalls(int rank, const WireHeader& call, int other_rank,
                         const WireHeader& other) {
  const auto differ = FindDifference(Comparable(call), Comparable(other));
  if (!differ) return "";
  const bool same_pattern = call.pattern == other.pattern;
  const auto name = [&](int of, const WireHeader& header, const std::string& value) {
    return "rank " + std::to_string(of) + " called " + CallName(header) +
           (same_pattern ? " (" + value + ")" : "");
  };
  return "the ranks' calls differ in " + differ->what + ": " + name(rank, call, differ->ours) +
         ", " + name(other_rank, other, differ->theirs);
}

bool ReceivesFrom(const Schedule& schedule, int scope_rank) {
  return std::any_of(schedule.lanes.begin(), schedule.lanes.end(), [&](const Lane& lane) {
    return std::any_of(lane.receives.begin(), lane.receives.end(),
                       [&](const Step& step) { return step.peer == scope_rank; });
  });
}

}  // namespace

void WaitingCall::AwaitReceiver(const SendQueue& sends) {
  if (kind == ChannelKind::kPointToPoint) return;
  peer = sends.SlowReceiver(group, kind);
  compares_only = true;
}

Status FindUnexpected(Endpoint* endpoint, const WaitingCall& call) {
  GroupState* const group = call.group;
  if (call.kind == ChannelKind::kPointToPoint || group->closed) return Status();
  const Scope& scope = group->scope(call.kind);
  for (int r = 0; r < scope.size; ++r) {
    // In the middle of what this call receives there are no headers.
    if (r == scope.rank || ReceivesFrom(*call.schedule, r)) continue;
    WireHeader theirs;
    std::byte head[kHeaderBytes];
    const int peer = scope.GroupRank(r);
    if (endpoint->PeekUnexpected({group->id, call.kind}, peer, {head, sizeof(head)}) <
        sizeof(head)) {
      continue;
    }
    std::memcpy(&theirs, head, sizeof(theirs));
    if (theirs.magic != call.header.magic || theirs.pattern >= kPatterns) continue;
    const int32_t above = Above(theirs.sequence, call.header.sequence);
    const WireHeader* const ours = above == 0  ? &call.header
                                   : above < 0 ? group->history(call.kind)->Find(theirs.sequence)
                                               : nullptr;
    if (ours == nullptr) continue;  // of a later call, or of one that nobody remembers
    const std::string text = CompareCalls(group->rank, *ours, peer, theirs);
    if (!text.empty()) return Status(StatusCode::kMismatch, text);
  }
  return Status();
}

Status ExplainMismatch(Endpoint* endpoint, const WaitingCall& call, const WireHeader& theirs,
                       const Status& mismatch) {
  const int32_t above = Above(theirs.sequence, call.header.sequence);
  const bool is_collective = call.kind != ChannelKind::kPointToPoint &&
                             theirs.magic == call.header.magic &&
                             theirs.pattern != static_cast<uint8_t>(Pattern::kSend);
  if (!is_collective || above == 0) return mismatch;  // or the segment had no room for a header
  if (above > 0) {  // that rank has made the call of this number, and not as this rank has
    const Status found = FindUnexpected(endpoint, call);
    return found.ok() ? mismatch : found;
  }
  const WireHeader* const ours = call.group->history(call.kind)->Find(theirs.sequence);
  const std::string text =
      ours == nullptr ? "" : CompareCalls(call.group->rank, *ours, call.peer, theirs);
  return text.empty() ? mismatch : Status(StatusCode::kMismatch, text);
}

Status ExplainLoss(Endpoint* endpoint, const WaitingCall& call, const Status& loss) {
  if (loss.code() != StatusCode::kPeerLost) return loss;
  const Status found = FindUnexpected(endpoint, call);
  return found.ok() ? loss : found;
}

Status CheckMatch(Endpoint* endpoint, const WaitingCall& call) {
  GroupState* const group = call.group;
  if (group->closed) return Status();
  BRIGADE_RETURN_IF_ERROR(FindUnexpected(endpoint, call));
  group->long_wait.reset();
  if (call.peer < 0 || call.peer == group->rank) return Status();
  if (!call.compares_only) {
    group->long_wait = LongWait{call.kind, call.header.sequence, call.peer};
  }
  Enquiry enquiry;
  enquiry.channel = static_cast<uint8_t>(call.kind);
  enquiry.pattern = call.header.pattern;
  enquiry.arithmetic = call.header.arithmetic;
  enquiry.element_bytes = static_cast<uint16_t>(call.header.element_bytes);
  enquiry.shape = call.header.shape;
  enquiry.parameter = call.header.parameter;
  enquiry.root = call.header.root;
  enquiry.sequence = call.header.sequence;
  enquiry.compares_only = call.compares_only ? 1 : 0;
  enquiry.total_bytes = call.header.total_bytes;
  for (int kind = 0; kind < kChannelKinds; ++kind) {
    enquiry.begun[kind] = static_cast<uint32_t>(group->scope_sequence[kind]);
  }
  enquiry.begun[static_cast<int>(ChannelKind::kPointToPoint)] = SendsTo(*group, call.peer);
  // One that is refused, or cannot be sent, is followed by another one, or by a loss.
  (void)endpoint->SendControl(
      group->id, call.peer,
      ConstByteSpan(reinterpret_cast<const std::byte*>(&enquiry), sizeof(enquiry)),
      Urgency::kCanWait);
  return Status();
}

std::optional<Abort> AnswerEnquiry(const GroupState& group, int from, ConstByteSpan message) {
  Enquiry enquiry;
  if (message.bytes != sizeof(enquiry)) return std::nullopt;
  std::memcpy(&enquiry, message.data, sizeof(enquiry));
  if (enquiry.channel >= kChannelKinds || enquiry.pattern >= kPatterns) return std::nullopt;
  const auto kind = static_cast<ChannelKind>(enquiry.channel);
  WireHeader theirs;
  theirs.pattern = enquiry.pattern;
  theirs.arithmetic = enquiry.arithmetic;
  theirs.element_bytes = enquiry.element_bytes;
  theirs.shape = enquiry.shape;
  theirs.parameter = enquiry.parameter;
  theirs.root = enquiry.root;
  theirs.sequence = enquiry.sequence;
  theirs.total_bytes = enquiry.total_bytes;
  const auto broken = [&](uint8_t pattern, uint64_t sequence, const std::string& text) {
    return Abort{group.rank, StatusCode::kMismatch, static_cast<Pattern>(pattern), sequence, text};
  };

  const bool pair = kind == ChannelKind::kPointToPoint;
  const auto begun =
      pair ? SendsTo(group, from) : static_cast<uint32_t>(group.scope_sequence[enquiry.channel]);
  if (Above(begun, theirs.sequence) > 0) {
    const WireHeader* const ours = pair ? nullptr : group.history(kind)->Find(theirs.sequence);
    if (ours == nullptr) return std::nullopt;
    const std::string text = CompareCalls(from, theirs, group.rank, *ours);
    if (text.empty()) return std::nullopt;
    return broken(ours->pattern, ours->sequence, text);
  }

  // This rank has not begun what `from` waits for, and until it does `from` begins nothing. Two
  // ranks that wait for each other so wait for ever. But what it has sent may be received already.
  if (!group.long_wait || enquiry.compares_only != 0) return std::nullopt;
  const LongWait& wait = *group.long_wait;
  if (Above(enquiry.begun[static_cast<int>(wait.kind)], wait.sequence) > 0) return std::nullopt;
  WireHeader ours;
  ours.sequence = wait.sequence;
  ours.pattern = static_cast<uint8_t>(Pattern::kReceive);
  if (wait.kind != ChannelKind::kPointToPoint) {
    const WireHeader* const call = group.history(wait.kind)->Find(wait.sequence);
    if (call == nullptr) return std::nullopt;
    ours = *call;
  }
  if (wait.peer != from && !Needs(group.scope(wait.kind), ours, from)) return std::nullopt;
  const auto waits = [](int rank, const WireHeader& in, ChannelKind channel) {
    const bool receives = channel == ChannelKind::kPointToPoint;
    return "rank " + std::to_string(rank) + " waits in " +
           (receives ? "receive number " + std::to_string(in.sequence)
                     : CallName(in) + " of scope " + NameOf(channel));
  };
  return broken(ours.pattern, ours.sequence,
                "the ranks' calls come in different orders: " + waits(from, theirs, kind) + ", " +
                    waits(group.rank, ours, wait.kind) + ", each for the other");
}

}  // namespace brigade
