#include "test/support/endpoints/fault_endpoint.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "membuf/pack.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/control.h"
#include "transport/core/control_queue.h"
#include "transport/edge/edge_access.h"

namespace brigade {
namespace {

class FaultEndpoint : public ForwardingEndpoint, private EdgeAccess {
 public:
  FaultEndpoint(std::unique_ptr<Endpoint> target, const FaultOptions& options)
      : ForwardingEndpoint(std::move(target)), options_(options), random_(options.seed) {}

  void CloseGroup(GroupId group) override {
    target()->CloseGroup(group);
    const auto of_group = [&](const DelayedControl& control) {
      return control.relay->group == group;
    };
    controls_.erase(std::remove_if(controls_.begin(), controls_.end(), of_group), controls_.end());
    relays_.erase(group);
    for (auto it = streams_.begin(); it != streams_.end();) {
      const auto& [stream_group, kind, peer, sends] = it->first;
      if (sends || stream_group != group) {
        ++it;
        continue;
      }
      for (const std::unique_ptr<Operation>& operation : it->second) {
        if (operation->over && operation->status.ok()) target()->ReleaseLease(operation->lease);
      }
      it = streams_.erase(it);
    }
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    return Post(Stream(channel.group, channel.kind, peer, true), completion,
                [&](Completion* c) { return target()->PostSend(channel, peer, segment, c); });
  }

  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    const Stream stream(channel.group, channel.kind, peer, true);
    SentNow sent = Happens(0.5) ? SentNow::kNo : SentNow::kNotYet;
    (void)Post(stream, completion, [&](Operation* operation) {
      if (Happens(options_.no_resource)) {
        std::vector<std::byte>& kept = operation->kept;
        kept.resize(head.bytes + body.bytes);
        if (head.bytes > 0) std::memcpy(kept.data(), head.data, head.bytes);
        CopyIn(kept.data() + head.bytes, *body.layout, body.base, body.offset, body.bytes);
        const Status posted =
            target()->PostSend(channel, peer, ConstByteSpan(kept.data(), kept.size()), operation);
        if (posted.ok()) sent = SentNow::kYes;
        *kept_bytes = kept.size();
        return posted;
      }
      sent = target()->SendNow(channel, peer, head, body, operation, kept_bytes);
      return sent == SentNow::kYes ? Status() : Status(StatusCode::kNoResource, "fault: not now");
    });
    return sent;
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    return Post(Stream(channel.group, channel.kind, peer, false), completion, [&](Completion* c) {
      return target()->PostReceive(channel, peer, receive_buffer, c);
    });
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    return Post(Stream(channel.group, channel.kind, peer, false), completion, [&](Completion* c) {
      return target()->PostReceiveInPlace(channel, peer, range, c);
    });
  }

  void SetControlHandler(GroupId group, ControlHandler* handler) override {
    std::unique_ptr<Relay>& relay = relays_[group];
    relay = std::make_unique<Relay>(this, group, handler);
    target()->SetControlHandler(group, relay.get());
  }

  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    if (urgency != Urgency::kUrgent && Happens(options_.no_resource)) {
      return Status(StatusCode::kNoResource, "fault: refused at random");
    }
    return target()->SendControl(group, peer, message, urgency);
  }

  EdgeAccess* edges() override { return target()->edges() == nullptr ? nullptr : this; }
  OutEdge* EdgeTo(const Channel& channel, int peer) override {
    return Happens(options_.no_resource) ? nullptr : target()->edges()->EdgeTo(channel, peer);
  }
  InEdge* EdgeFrom(const Channel& channel, int peer) override {
    return Happens(options_.no_resource) ? nullptr : target()->edges()->EdgeFrom(channel, peer);
  }
  bool PostBuffer(const Channel& channel, int peer, const StridedLayout& layout,
                  std::byte* base) override {
    return !Happens(options_.no_resource) &&
           target()->edges()->PostBuffer(channel, peer, layout, base);
  }
  ConstByteSpan SegmentIn(GroupId group, const Slot& slot) override {
    return target()->edges()->SegmentIn(group, slot);
  }

  bool Progress() override {
    BRIGADE_CHECK(!delivering_);
    bool any = target()->Progress();
    delivering_ = true;
    any |= DeliverControls();
    std::vector<Stream> order;
    for (const auto& [stream, operations] : streams_) order.push_back(stream);
    std::shuffle(order.begin(), order.end(), random_);
    for (const Stream& stream : order) any |= Deliver(stream);
    delivering_ = false;
    return any;
  }

 private:
  using Stream = std::tuple<GroupId, ChannelKind, int, bool>;  // group, kind, peer, sends

  // Stands in for the caller's completion below.
  struct Operation : Completion {
    Operation(Completion* outer, int polls, bool ordered)
        : Completion([](Completion* c) { static_cast<Operation*>(c)->over = true; }),
          completion(outer),
          polls_left(polls),
          in_order(ordered) {}
    Completion* completion;
    std::vector<std::byte> kept;  // a copy of a segment from user memory
    int polls_left;
    const bool in_order;  // not before those posted before it
    bool over = false;
  };

  using Operations = std::deque<std::unique_ptr<Operation>>;

  // Stands in for the caller's handler below.
  struct Relay final : ControlHandler {
    Relay(FaultEndpoint* e, GroupId g, ControlHandler* h) : endpoint(e), group(g), handler(h) {}
    void OnControl(int from, ConstByteSpan message) override {
      endpoint->controls_.push_back({this, from, ControlMessage(message), endpoint->Delay()});
    }
    FaultEndpoint* const endpoint;
    const GroupId group;
    ControlHandler* const handler;
  };
  // A control message that has come, and whose handler has not been called.
  struct DelayedControl {
    Relay* relay;
    int from;
    ControlMessage message;
    int polls_left;
  };

  int Delay() { return std::uniform_int_distribution<int>(0, options_.max_delay)(random_); }
  bool Happens(double probability) { return std::bernoulli_distribution(probability)(random_); }

  template <typename PostBelow>
  Status Post(const Stream& stream, Completion* completion, PostBelow post) {
    if (options_.lose && posts_++ == options_.lose_after_posts) options_.lose();
    if (Happens(options_.no_resource)) {
      return Status(StatusCode::kNoResource, "fault: refused at random");
    }
    const int delay = Delay();
    Operations& operations = streams_[stream];
    const auto& [group, kind, peer, sends] = stream;
    const bool lends = sends && target()->CapabilitiesTo(group, peer).lands_in_peer_memory;
    operations.push_back(std::make_unique<Operation>(completion, delay, !lends));
    Status status = post(operations.back().get());
    if (!status.ok()) operations.pop_back();
    return status;
  }

  // Delivers the control messages that are due, those of one sender in order.
  bool DeliverControls() {
    bool any = false;
    std::set<std::pair<const Relay*, int>> waiting;  // senders
    for (size_t i = 0; i < controls_.size();) {
      const std::pair<const Relay*, int> sender(controls_[i].relay, controls_[i].from);
      const bool is_due = controls_[i].polls_left-- <= 0;
      if (!is_due || waiting.count(sender) > 0) {
        waiting.insert(sender);
        ++i;
        continue;
      }
      const DelayedControl control = controls_[i];
      controls_.erase(controls_.begin() + static_cast<std::ptrdiff_t>(i));
      control.relay->handler->OnControl(control.from, control.message.span());
      any = true;
    }
    return any;
  }

  // Runs the callbacks of a stream that are due. A callback may change streams_ at will.
  bool Deliver(const Stream& stream) {
    for (bool any = false;; any = true) {
      auto entry = streams_.find(stream);
      if (entry == streams_.end()) return any;
      if (entry->second.empty()) {
        streams_.erase(entry);
        return any;
      }
      Operations& operations = entry->second;
      const auto due = std::find_if(operations.begin(), operations.end(), [&](auto& operation) {
        if (operation->over) return operation->polls_left-- <= 0;
        return false;
      });
      if (due == operations.end() || ((*due)->in_order && due != operations.begin())) return any;
      const std::unique_ptr<Operation> operation = std::move(*due);
      operations.erase(due);
      Completion* completion = operation->completion;
      completion->status = operation->status;
      completion->lease = operation->lease;
      completion->callback(completion);
    }
  }

  const FaultOptions options_;
  std::mt19937_64 random_;
  uint64_t posts_ = 0;
  bool delivering_ = false;
  // All operations whose callback has not run.
  std::map<Stream, Operations> streams_;
  std::map<GroupId, std::unique_ptr<Relay>> relays_;
  std::deque<DelayedControl> controls_;
};

}  // namespace

std::unique_ptr<Endpoint> MakeFaultEndpoint(std::unique_ptr<Endpoint> target,
                                            const FaultOptions& options) {
  return std::make_unique<FaultEndpoint>(std::move(target), options);
}

}  // namespace brigade
