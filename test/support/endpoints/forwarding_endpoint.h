// ForwardingEndpoint: an endpoint that owns another and forwards every call, as many as Endpoint
// has; base class of the wrappers.

#ifndef BRIGADE_TEST_SUPPORT_ENDPOINTS_FORWARDING_ENDPOINT_H_
#define BRIGADE_TEST_SUPPORT_ENDPOINTS_FORWARDING_ENDPOINT_H_

#include <memory>
#include <utility>

#include "transport/endpoint.h"

namespace brigade {

class ForwardingEndpoint : public Endpoint, public Polling {
 public:
  explicit ForwardingEndpoint(std::unique_ptr<Endpoint> target) : target_(std::move(target)) {}

  const Capabilities& capabilities() const override { return target_->capabilities(); }
  const Capabilities& CapabilitiesOf(GroupId group) const override {
    return target_->CapabilitiesOf(group);
  }
  const Capabilities& CapabilitiesTo(GroupId group, int peer) const override {
    return target_->CapabilitiesTo(group, peer);
  }
  int HostOf(GroupId group, int peer) const override { return target_->HostOf(group, peer); }
  int CountHosts(GroupId group, int first, int stride, int count) const override {
    return target_->CountHosts(group, first, stride, count);
  }
  bool IsCrowded(GroupId group) const override { return target_->IsCrowded(group); }
  MemoryDomain* domain() override { return target_->domain(); }
  void SetOverflowBudget(const std::shared_ptr<OverflowBudget>& budget) override {
    target_->SetOverflowBudget(budget);
  }
  Status OpenGroup(Bootstrap* bootstrap, GroupId* group) override {
    return target_->OpenGroup(bootstrap, group);
  }
  void CloseGroup(GroupId group) override { target_->CloseGroup(group); }
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    return target_->PostSend(channel, peer, segment, completion);
  }
  bool SendsInPlace(const Channel& channel, int peer, const LayoutRange& range) const override {
    return target_->SendsInPlace(channel, peer, range);
  }
  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    return target_->SendNow(channel, peer, head, body, completion, kept_bytes);
  }
  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    return target_->PostReceive(channel, peer, receive_buffer, completion);
  }
  bool LandsInPlace(const Channel& channel, int peer, const LayoutRange& range) const override {
    return target_->LandsInPlace(channel, peer, range);
  }
  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    return target_->PostReceiveInPlace(channel, peer, range, completion);
  }
  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    return target_->PeekUnexpected(channel, peer, head);
  }
  void ReleaseLease(const Lease& lease) override { target_->ReleaseLease(lease); }
  void SetControlHandler(GroupId group, ControlHandler* handler) override {
    target_->SetControlHandler(group, handler);
  }
  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    return target_->SendControl(group, peer, message, urgency);
  }
  bool HoldsControl() const override { return target_->HoldsControl(); }
  size_t SendsTaken() override { return target_->SendsTaken(); }
  bool Progress() override { return target_->Progress(); }
  bool AllowsProgressThread() const override { return target_->AllowsProgressThread(); }
  Polling* polling() override { return this; }
  void Flush() override { target_->polling()->Flush(); }
  void Await(int microseconds) override { target_->polling()->Await(microseconds); }
  void Pause(uint64_t idle_polls) override { target_->polling()->Pause(idle_polls); }
  void Nudge() override { target_->polling()->Nudge(); }
  uint64_t PollsAwake() const override { return target_->polling()->PollsAwake(); }
  uint64_t PollsBeforeSleep() const override { return target_->polling()->PollsBeforeSleep(); }
  EdgeAccess* edges() override { return target_->edges(); }
  SimulatedProcessor* simulated_processor() override { return target_->simulated_processor(); }

 protected:
  Endpoint* target() const { return target_.get(); }

 private:
  const std::unique_ptr<Endpoint> target_;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_ENDPOINTS_FORWARDING_ENDPOINT_H_
