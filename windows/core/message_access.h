// MessageAccess: operations on memory that this rank reaches by messages only, and how it learns
// that they are complete.

#ifndef BRIGADE_WINDOWS_CORE_MESSAGE_ACCESS_H_
#define BRIGADE_WINDOWS_CORE_MESSAGE_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "windows/core/router.h"
#include "windows/core/window_wait.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/served_window.h"
#include "windows/message/window_messages.h"
#include "windows/rules.h"

namespace brigade {

class MessageAccess {
 public:
  // All must outlive it.
  MessageAccess(Engine* engine, GroupState* state, const Router* router, WindowWait* wait,
                const ServedWindow* served);
  // REQUIRES: called once, before all else.
  void Use(WindowMessages* messages) { messages_ = messages; }
  // Whether a progress thread sends what this rank leaves behind.
  void SetProgressThread(bool is_there) { has_progress_thread_ = is_there; }

  // Sends a request, and what it waits behind.
  Status Send(RmaRequest* request);
  // Has the target carry out a request that the kernel could, if the target answers, and blocks
  // until it has. Otherwise does nothing: `*is_done`.
  Status Delegate(const RmaRequest& request, bool* is_done);

  // --- REQUIRE: the caller has a ProgressGuard ---

  Status AddFrame(int target, RmaKind kind, uint32_t token = 0, uint8_t op = 0);
  // Sends a notification behind all requests.
  Status Notify(int target);
  // A flush under way, for AwaitFlush. Another thread may begin a further flush meanwhile.
  struct Flush {
    uint32_t token = 0;     // 0: nothing
    uint32_t before = 0;    // the last that had come when the flush began
    uint64_t requests = 0;  // that are complete then
  };
  Status BeginFlush(int target, FlushedPart part, Flush* flush);
  // Ends a lock, which flushes, too.
  Status BeginUnlock(int target, Flush* flush);
  Status AwaitFlush(int target, const Flush& flush);
  // Blocks until the caller's memory that takes part is its own again.
  Status AwaitLocally(int target);

  // Requests to a member so far, as the member counts them.
  uint64_t requests(int target) const { return messages_->outbox().requests(target); }
  // Whether a fence takes a control message from each member to each other one. Of more members, a
  // sum of the requests to each takes less.
  bool sends_fences() const { return router_.size() <= rules::kMaxFenceMessagePeers; }

 private:
  Status SendGuarded(RmaRequest* request);
  // Waits a moment for the target's places, if a put is unstaged.
  void AwaitPlaces(int target);
  Status AwaitRoom(int target);
  Flush FlushAs(int target, uint32_t token) const;
  bool IsFlushed(int target, const Flush& flush) const;
  bool HasUnflushed(int target) const {
    return requests_flushed_[static_cast<size_t>(target)] != requests(target);
  }
  uint32_t NextToken();

  Engine* const engine_;
  GroupState* const state_;
  const Router& router_;
  WindowWait& wait_;
  const ServedWindow& served_;
  WindowMessages* messages_ = nullptr;
  bool has_progress_thread_ = false;
  std::vector<uint64_t> requests_flushed_;  // by target
  uint32_t last_token_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_MESSAGE_ACCESS_H_
