// SendQueue: the sends of an engine that are under way, those of returned calls included. A send
// that the transport does not take at once is kept, and posted later, in order.

#ifndef BRIGADE_PATTERNS_ENGINE_SEND_QUEUE_H_
#define BRIGADE_PATTERNS_ENGINE_SEND_QUEUE_H_

#include <cstddef>
#include <deque>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/object_pool.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/engine/staging_buffers.h"
#include "transport/endpoint.h"

namespace brigade {

class SimulatedProcessor;

class SendQueue {
 public:
  // Groups with a send that failed are put into `failing`.
  SendQueue(Endpoint* endpoint, StagingBuffers* buffers, std::vector<GroupState*>* failing);
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  // Sends `segment`, which lies in `buffer`. Never fails for lack of resources.
  Status Post(GroupState* group, ChannelKind kind, int peer, ConstByteSpan segment,
              StagedBuffer* buffer);
  // The endpoint's, unless something posted before waits for the transport; counts what it did.
  SentNow SendNow(GroupState* group, ChannelKind kind, int peer, ConstByteSpan head,
                  const LayoutRange& body, OperationStatistics* statistics);
  // Gives to the transport what it takes now of what was deferred. True if it took any.
  bool PostDeferred();
  // The group is broken: ends its deferred sends, and does not count on the end of the others.
  void GiveUp(GroupState* group);
  // Sends that the transport still has are never freed.
  void LeaveToTransport() { sends_.Leave(); }

  bool has_deferred() const { return !deferred_.empty(); }
  bool HasDeferredOf(const GroupState& group) const;
  // Deferred ones included.
  size_t in_flight() const { return in_flight_; }
  // Of these, the ones of broken groups.
  size_t given_up() const { return given_up_; }
  // The group rank of one that has not taken what was sent to it on a channel, or not given it
  // back; -1 if there is none.
  int SlowReceiver(const GroupState* group, ChannelKind kind) const;
  // The same on any channel, in the group that it was sent in.
  int SlowReceiver() const;
  // The first.
  const Status& failure() const { return failure_; }

 private:
  // A send on its way, or waiting for the transport to take it.
  struct Send : Completion {
    Send() : Completion(&SendQueue::OnSent) {}
    SendQueue* queue = nullptr;
    GroupState* group = nullptr;
    Channel channel;
    int peer = 0;
    ConstByteSpan segment;
    StagedBuffer* buffer = nullptr;  // null once over
    ChunkRun copy;  // the segment's place in registered memory, if it had to be moved there
  };

  static void OnSent(Completion* completion);
  bool IsDeferred(const GroupState* group, ChannelKind kind, int peer) const;
  Send* TakeSend(GroupState* group, ChannelKind kind, int peer, ConstByteSpan segment,
                 StagedBuffer* buffer);
  // Gives a send to the transport; kNoResource: not now.
  Status TryPost(Send* send);

  Endpoint* const endpoint_;
  StagingBuffers* const buffers_;
  SimulatedProcessor* const processor_;  // null for processors that exist
  std::vector<GroupState*>* const failing_;
  ObjectPool<Send> sends_;
  std::deque<Send*> deferred_;  // not yet taken by the transport
  size_t in_flight_ = 0;
  size_t given_up_ = 0;
  Status failure_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_SEND_QUEUE_H_
