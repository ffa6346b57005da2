// RequestOutbox: the requests of one rank to others through one window, by messages, in order per
// target.

#ifndef BRIGADE_WINDOWS_MESSAGE_REQUEST_OUTBOX_H_
#define BRIGADE_WINDOWS_MESSAGE_REQUEST_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/staged_buffer.h"
#include "windows/layout/layout_names.h"
#include "windows/message/message_context.h"
#include "windows/message/outgoing.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/unstaged_data.h"

namespace brigade {

class RequestOutbox {
 public:
  // `context` must outlive it.
  explicit RequestOutbox(MessageContext* context);
  RequestOutbox(const RequestOutbox&) = delete;
  RequestOutbox& operator=(const RequestOutbox&) = delete;

  // Sends a request behind the others to its target, with requests that are held, at once if that
  // takes no waiting and no memory. A request of one frame may be held instead, until the next
  // request that is not held, or the next Advance. Data that is sent at once is not copied.
  Status Send(const RmaRequest& request);
  // The same, for control messages without data and without reply. A segment that is held goes
  // along.
  Status AddFrame(int target, const RmaFrame& message);

  // A kReply has come.
  Status TakeReply(int from, const RmaFrame& message);
  Status Advance(bool* any);
  // Whether there may be something to advance before another frame comes.
  bool has_work() const { return !busy_.empty() || !answering_.empty(); }
  // Whether some of it is not only held for more to go with: that need not hurry.
  bool must_hurry() const { return stuck_ > 0 || !answering_.empty(); }
  // Unstaged bytes for a target that wait for the way or for their places there; and nothing waits
  // behind them.
  int64_t UnstagedLeft(int target) const {
    const Peer& peer = peers_[static_cast<size_t>(target)];
    if (!peer.is_stuck || peer.waiting > 1) return 0;
    const std::optional<UnstagedData>& unstaged = peer.first->unstaged;
    return unstaged.has_value() ? unstaged->left() : 0;
  }

  // Requests to a target whose memory is not yet the caller's again, or that wait to be sent.
  size_t under_way(int target) const { return peers_[static_cast<size_t>(target)].under_way; }
  // Requests so far, as their target counts them.
  uint64_t requests(int target) const { return peers_[static_cast<size_t>(target)].requests; }
  // Layouts that were sent.
  uint64_t layouts_sent() const { return layouts_sent_; }

  // The group is closed: gives everything back.
  void Drop();

 private:
  // A reply that has been announced.
  struct Arrival {
    Outgoing* request;
    RmaFrame message;
    bool posted = false;
    ReceiveSlot slot;
  };
  struct Peer {
    // The first can go no further now, or all are held.
    Outgoing* first = nullptr;
    Outgoing* last = nullptr;
    size_t waiting = 0;
    bool is_stuck = false;
    std::deque<Arrival> arrivals;
    size_t under_way = 0;
    uint64_t requests = 0;
    // A short segment that has been announced, and leaves with the next frame or by the next
    // Advance.
    StagedBuffer* held = nullptr;
    int64_t held_bytes = 0;
  };

  Peer& PeerOf(int rank) { return peers_[static_cast<size_t>(rank)]; }
  // The header of a request, behind the description of its layout if the target has none.
  Status MakeHeader(const RmaRequest& request, RmaHeader* header);
  Status SendLayout(int target, const TypedLayout& layout, const LayoutName& name);
  // Sends one frame now, if nothing waits before it. Returns kNoResource otherwise.
  Status TryFrame(int target, const RmaFrame& message);
  Status Add(Outgoing* request);
  // Takes an unused one; gives one back.
  Outgoing* New(int target, const RmaFrame& frame, const RmaRequest::Values& send,
                const RmaRequest::Values& receive);
  void Release(Outgoing* request);
  // Null: there is none.
  Outgoing* Find(uint32_t token);
  // Sends those that wait, as far as they can go now.
  Status SendWaiting(int target, bool* any);
  // The first of them. *stuck: it can go no further now.
  Status Send(Outgoing* request, bool* stuck, bool* any);
  // Whether another leaves at once behind the first: it waits for no memory.
  static bool IsFollowed(const Peer& peer);
  Status SendSegments(Outgoing* request, bool* stuck, bool* any);
  static Status SendUnstaged(Outgoing* request, bool* stuck, bool* any);
  // Memory for its next segment, of *bytes; null: there is none now.
  StagedBuffer* TakeSegment(const Outgoing& request, int64_t* bytes);
  Status SendSegment(Outgoing* request, int64_t bytes, StagedBuffer* buffer);
  Status SendHeld(int target);
  // Memory for what will come back. False: there is none now.
  bool ReserveReceiveBuffer(Outgoing* request);
  Status PostReceiveBuffers(int from, Peer* peer, bool* any);
  Status TakeArrivals(Peer* peer, bool* any);
  void EndIfOver(Outgoing* request);

  MessageContext* const context_;
  GivenLayoutNames names_;
  std::vector<Peer> peers_;
  // As many as were ever under way at once. A token is the slot of a request that wants a reply,
  // and in higher bits a number that changes with each use of the slot.
  std::deque<std::optional<Outgoing>> slots_;
  std::vector<uint32_t> tokens_;  // by slot
  std::vector<uint32_t> unused_;  // slots
  std::vector<int> busy_;         // targets to whom something waits to be sent
  size_t stuck_ = 0;              // of these
  std::vector<int> answering_;    // those of whom something has been announced
  uint64_t layouts_sent_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_REQUEST_OUTBOX_H_
