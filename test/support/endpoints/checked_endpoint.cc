#include "test/support/endpoints/checked_endpoint.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "membuf/check.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/control.h"
#include "transport/edge/edge_access.h"

// `rule` is the sentence of docs/design/transport.md that the caller broke.
#define BRIGADE_RULE(condition, rule) \
  ((condition) ? (void)0              \
               : ::brigade::CheckFailed(__FILE__, __LINE__, std::string("contract: ") + (rule)))

namespace brigade {
namespace {

size_t Checksum(ConstByteSpan span) {
  // The library's string hash reads every byte.
  return std::hash<std::string_view>()(
      std::string_view(reinterpret_cast<const char*>(span.data), span.bytes));
}

bool Overlap(ConstByteSpan a, ConstByteSpan b) {
  return a.bytes > 0 && b.bytes > 0 && a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}

class CheckedEndpoint : public ForwardingEndpoint, private EdgeAccess {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  ~CheckedEndpoint() override {
    if (failed_) return;  // after a failure pending operations are abandoned
    BRIGADE_RULE(leases_.empty(), "every lease is released before the endpoint is destroyed");
    for (const auto& [completion, operation] : operations_) {
      BRIGADE_RULE(!operation->sends, "sends are over before the endpoint is destroyed");
    }
  }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* group) override {
    ProgressOwnerCheck owner_check(this);
    BRIGADE_RULE(!in_callback_, "a callback opens no group");
    const int size = bootstrap->size();
    BRIGADE_RETURN_IF_ERROR(target()->OpenGroup(bootstrap, group));
    group_sizes_[*group] = size;
    return Status();
  }

  void CloseGroup(GroupId group) override {
    ProgressOwnerCheck owner_check(this);
    BRIGADE_RULE(!in_handler_, "a handler closes no group");
    BRIGADE_RULE(group_sizes_.erase(group) == 1, "an open group is closed, and once");
    target()->CloseGroup(group);
    relays_.erase(group);
    for (auto it = refused_.begin(); it != refused_.end();) {
      it = std::get<0>(*it) == group ? refused_.erase(it) : std::next(it);
    }
    for (auto it = operations_.begin(); it != operations_.end();) {
      const Operation& operation = *it->second;
      const bool cancelled = !operation.sends && std::get<0>(operation.stream) == group;
      if (cancelled) streams_.erase(operation.stream);
      it = cancelled ? operations_.erase(it) : std::next(it);
    }
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    CheckNotLent(segment);
    Operation* operation = Begin(channel, peer, /*sends=*/true, segment, completion);
    operation->checksum = Checksum(segment);
    const Stream stream = operation->stream;
    const Status status = Posted(completion, target()->PostSend(channel, peer, segment, operation));
    if (status.code() == StatusCode::kNoResource) {
      refused_.insert(stream);
    } else {
      refused_.erase(stream);
    }
    return status;
  }

  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    const StridedLayout& layout = *body.layout;
    BRIGADE_RULE(body.offset <= layout.bytes() && body.bytes <= layout.bytes() - body.offset,
                 "a range lies within its matrix");
    BRIGADE_RULE(target()->SendsInPlace(channel, peer, body),
                 "SendNow takes only what SendsInPlace said yes to");
    BRIGADE_RULE(refused_.count(Stream(channel.group, channel.kind, peer, true)) == 0,
                 "a segment that was refused is posted before others of its stream");
    CheckNotLent(head);
    StridedLayout::Cursor at(layout, body.offset);
    for (size_t left = body.bytes; left > 0;) {
      const StridedLayout::Run run = at.Next();
      const size_t bytes = std::min(run.bytes, left);
      CheckNotLent(ConstByteSpan(body.base + run.memory_offset, bytes));
      at.Advance(bytes);
      left -= bytes;
    }
    // Only the transport knows where its bytes are from here on.
    Operation* operation = Begin(channel, peer, /*sends=*/true, ConstByteSpan(), completion);
    operation->checksum = Checksum(ConstByteSpan());
    const SentNow sent = target()->SendNow(channel, peer, head, body, operation, kept_bytes);
    if (sent == SentNow::kYes) {
      BRIGADE_RULE(*kept_bytes <= head.bytes + body.bytes, "no more is kept than is sent");
    } else {
      Withdraw(completion);
    }
    return sent;
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    // Where none is needed only its length counts.
    if (target()->CapabilitiesTo(channel.group, peer).needs_receive_buffer) {
      CheckReceiveBuffer(receive_buffer);
    }
    Operation* operation = Begin(channel, peer, /*sends=*/false, receive_buffer, completion);
    operation->leases = true;
    return Posted(completion, target()->PostReceive(channel, peer, receive_buffer, operation));
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    BRIGADE_RULE(target()->LandsInPlace(channel, peer, range),
                 "PostReceiveInPlace takes only what LandsInPlace said yes to");
    // The gaps of a strided range are not checked.
    size_t offset = 0;
    ByteSpan receive_buffer;
    if (range.layout->ContiguousRange(range.offset, range.bytes, &offset)) {
      receive_buffer = ByteSpan{range.base + offset, range.bytes};
      CheckReceiveBuffer(receive_buffer);
    }
    Operation* operation = Begin(channel, peer, /*sends=*/false, receive_buffer, completion);
    operation->max_bytes = range.bytes;
    return Posted(completion, target()->PostReceiveInPlace(channel, peer, range, operation));
  }

  void ReleaseLease(const Lease& lease) override {
    ProgressOwnerCheck owner_check(this);
    if (lease.token == 0) return;  // of an in-place receive
    auto held = leases_.find(lease.token);
    BRIGADE_RULE(held != leases_.end(), "a lease is released once");
    const Lease below = held->second.below;
    BRIGADE_RULE(held->second.of_own_chunk || !BeingSent(below),
                 "a lease is released after its forwards have ended");
    leases_.erase(held);
    target()->ReleaseLease(below);
  }

  void SetControlHandler(GroupId group, ControlHandler* handler) override {
    ProgressOwnerCheck owner_check(this);
    BRIGADE_RULE(group_sizes_.count(group) == 1, "a handler is that of an open group");
    std::unique_ptr<Relay>& relay = relays_[group];
    BRIGADE_RULE(relay == nullptr, "a group has one handler");
    relay = std::make_unique<Relay>(this, handler);
    target()->SetControlHandler(group, relay.get());
  }

  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress({group, ChannelKind::kAll}, peer);
    BRIGADE_RULE(message.bytes <= kMostControlBytes, "a control message has at most 48 bytes");
    return target()->SendControl(group, peer, message, urgency);
  }

  EdgeAccess* edges() override { return target()->edges() == nullptr ? nullptr : this; }
  OutEdge* EdgeTo(const Channel& channel, int peer) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    return target()->edges()->EdgeTo(channel, peer);
  }
  InEdge* EdgeFrom(const Channel& channel, int peer) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    BRIGADE_RULE(streams_.count(Stream(channel.group, channel.kind, peer, false)) == 0,
                 "an edge is used while no post of its stream waits");
    return target()->edges()->EdgeFrom(channel, peer);
  }
  bool PostBuffer(const Channel& channel, int peer, const StridedLayout& layout,
                  std::byte* base) override {
    ProgressOwnerCheck owner_check(this);
    CheckAddress(channel, peer);
    return target()->edges()->PostBuffer(channel, peer, layout, base);
  }
  ConstByteSpan SegmentIn(GroupId group, const Slot& slot) override {
    return target()->edges()->SegmentIn(group, slot);
  }

  bool Progress() override {
    ProgressOwnerCheck owner_check(this);
    BRIGADE_RULE(!in_callback_, "a callback does not call Progress");
    return target()->Progress();
  }

 private:
  using Stream = std::tuple<GroupId, ChannelKind, int, bool>;  // group, kind, peer, sends

  // Stands in for the caller's completion below.
  struct Operation : Completion {
    Operation()
        : Completion([](Completion* c) {
            auto* operation = static_cast<Operation*>(c);
            operation->endpoint->Finish(operation);
          }) {}
    CheckedEndpoint* endpoint = nullptr;
    Completion* completion = nullptr;
    Stream stream;
    bool sends = false;
    bool leases = false;
    bool lends = false;  // sends, and the receiver reads it where it lies
    ConstByteSpan memory;
    size_t max_bytes = 0;
    size_t checksum = 0;
  };

  // Stands in for the caller's handler below.
  struct Relay final : ControlHandler {
    Relay(CheckedEndpoint* e, ControlHandler* h) : endpoint(e), handler(h) {}
    void OnControl(int from, ConstByteSpan message) override {
      BRIGADE_RULE(!endpoint->in_callback_, "callbacks do not nest");
      endpoint->in_callback_ = endpoint->in_handler_ = true;
      handler->OnControl(from, message);
      endpoint->in_callback_ = endpoint->in_handler_ = false;
    }
    CheckedEndpoint* const endpoint;
    ControlHandler* const handler;
  };

  // A lease that the caller has.
  struct Held {
    Lease below;  // as the target gave it
    // Where memory is shared, a segment sent to oneself is leased out of the chunk being sent.
    bool of_own_chunk;
  };

  // One thread at a time may be inside the endpoint; its callbacks may come back in.
  class ProgressOwnerCheck {
   public:
    explicit ProgressOwnerCheck(CheckedEndpoint* endpoint) : endpoint_(endpoint) {
      std::thread::id nobody;
      const std::thread::id me = std::this_thread::get_id();
      outermost_ = endpoint->progress_owner_.compare_exchange_strong(nobody, me);
      BRIGADE_RULE(outermost_ || nobody == me, "an endpoint has one progress owner at a time");
    }
    ~ProgressOwnerCheck() {
      if (outermost_) endpoint_->progress_owner_.store(std::thread::id());
    }
    ProgressOwnerCheck(const ProgressOwnerCheck&) = delete;
    ProgressOwnerCheck& operator=(const ProgressOwnerCheck&) = delete;

   private:
    CheckedEndpoint* const endpoint_;
    bool outermost_;
  };

  void CheckAddress(const Channel& channel, int peer) const {
    auto size = group_sizes_.find(channel.group);
    BRIGADE_RULE(size != group_sizes_.end(), "posts are made on open groups");
    BRIGADE_RULE(peer >= 0 && peer < size->second, "a peer is a rank of the group");
    BRIGADE_RULE(static_cast<int>(channel.kind) < kChannelKinds, "there are four channel kinds");
  }

  void CheckNotLent(ConstByteSpan segment) const {
    for (const auto& [other, operation] : operations_) {
      BRIGADE_RULE(operation->sends || !Overlap(segment, operation->memory),
                   "memory used as a receive buffer is not sent");
    }
  }

  void CheckReceiveBuffer(ByteSpan receive_buffer) const {
    for (const auto& [other, operation] : operations_) {
      BRIGADE_RULE(!Overlap(receive_buffer, operation->memory),
                   operation->sends ? "memory being sent is not used as a receive buffer"
                                    : "receive buffers of posted receives do not overlap");
    }
    for (const auto& [token, held] : leases_) {
      BRIGADE_RULE(!Overlap(receive_buffer, ConstByteSpan(held.below.data, held.below.bytes)),
                   "leased memory is released before it is lent again");
    }
  }

  bool BeingSent(const Lease& lease) const {
    const ConstByteSpan memory(lease.data, lease.bytes);
    return std::any_of(operations_.begin(), operations_.end(), [&](const auto& entry) {
      return entry.second->sends && Overlap(entry.second->memory, memory);
    });
  }

  Operation* Begin(const Channel& channel, int peer, bool sends, ConstByteSpan memory,
                   Completion* completion) {
    auto [entry, is_new] = operations_.emplace(completion, nullptr);
    BRIGADE_RULE(is_new, "a completion is not posted again before its callback has run");
    entry->second = std::make_unique<Operation>();
    Operation* operation = entry->second.get();
    operation->endpoint = this;
    operation->completion = completion;
    operation->stream = Stream(channel.group, channel.kind, peer, sends);
    operation->sends = sends;
    operation->lends = sends && target()->CapabilitiesTo(channel.group, peer).lands_in_peer_memory;
    operation->memory = memory;
    operation->max_bytes = memory.bytes;
    streams_[operation->stream].push_back(operation);
    return operation;
  }

  // If the callback has run already, the completion may be gone or posted again.
  Status Posted(Completion* completion, Status status) {
    if (!status.ok()) Withdraw(completion);
    return status;
  }

  void Withdraw(Completion* completion) {
    auto entry = operations_.find(completion);
    BRIGADE_RULE(entry != operations_.end(), "a post that fails runs no callback");
    const auto stream = streams_.find(entry->second->stream);
    stream->second.pop_back();
    if (stream->second.empty()) streams_.erase(stream);
    operations_.erase(entry);
  }

  void Finish(Operation* operation) {
    auto entry = operations_.find(operation->completion);
    BRIGADE_RULE(entry != operations_.end() && entry->second.get() == operation,
                 "a callback runs once");
    BRIGADE_RULE(!in_callback_, "callbacks do not nest");
    std::deque<Operation*>& stream = streams_[operation->stream];
    if (operation->lends) {
      stream.erase(std::find(stream.begin(), stream.end(), operation));
    } else {
      BRIGADE_RULE(stream.front() == operation,
                   "operations of one stream end in the order of posts");
      stream.pop_front();
    }
    if (stream.empty()) streams_.erase(operation->stream);

    Completion* completion = operation->completion;
    completion->status = operation->status;
    completion->lease = operation->lease;
    if (!operation->status.ok()) {
      failed_ = true;
    } else if (operation->sends) {
      BRIGADE_RULE(Checksum(operation->memory) == operation->checksum,
                   "a segment stays untouched until its send is over");
    } else {
      BRIGADE_RULE(operation->lease.bytes <= operation->max_bytes,
                   "a lease is no longer than its receive buffer");
      if (operation->leases) {
        completion->lease.token = next_token_;
        leases_.emplace(next_token_++, Held{operation->lease, BeingSent(operation->lease)});
      }
    }
    operations_.erase(entry);
    in_callback_ = true;
    completion->callback(completion);
    in_callback_ = false;
  }

  std::unordered_map<GroupId, int> group_sizes_;  // of open groups
  std::unordered_map<GroupId, std::unique_ptr<Relay>> relays_;
  std::unordered_map<Completion*, std::unique_ptr<Operation>> operations_;
  std::map<Stream, std::deque<Operation*>> streams_;
  std::set<Stream> refused_;  // whose last PostSend was
  std::unordered_map<uint64_t, Held> leases_;
  uint64_t next_token_ = 1;
  bool in_callback_ = false;
  bool in_handler_ = false;
  bool failed_ = false;
  std::atomic<std::thread::id> progress_owner_{std::thread::id()};
};

}  // namespace

std::unique_ptr<Endpoint> MakeCheckedEndpoint(std::unique_ptr<Endpoint> target) {
  return std::make_unique<CheckedEndpoint>(std::move(target));
}

}  // namespace brigade
