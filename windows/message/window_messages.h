// WindowMessages: the messages of one window, both those by which this rank works on others' memory
// and those by which others work on its own.

#ifndef BRIGADE_WINDOWS_MESSAGE_WINDOW_MESSAGES_H_
#define BRIGADE_WINDOWS_MESSAGE_WINDOW_MESSAGES_H_

#include <string>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/engine/activity.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "transport/control.h"
#include "windows/message/inbox.h"
#include "windows/message/message_context.h"
#include "windows/message/request_outbox.h"
#include "windows/message/rma_request.h"
#include "windows/message/served_window.h"
#include "windows/message/window_space.h"

namespace brigade {

// All calls are made by the progress owner.
class WindowMessages final : public Activity, private ControlHandler {
 public:
  // Receives the group's frames from here on. `space`, `group` and `window` must outlive it.
  WindowMessages(WindowSpace* space, GroupState* group, ServedWindow* window);
  ~WindowMessages() override;

  // From here on others may send requests: the progress thread, if there is one, answers while this
  // rank's caller is elsewhere. `listener` is called when that begins and ends.
  void Listen(Engine::Listener* listener);
  // As the outbox has them. A failure has broken the group when they return: nothing works any more
  // on memory that the caller then gives back.
  Status Send(const RmaRequest& request);
  Status AddFrame(int target, const RmaFrame& message);
  // Sends a frame that must not wait behind requests: a grant, a post.
  Status SendFrame(int target, const RmaFrame& message);
  // Wakes a member that sleeps, if it is there and has nothing else to wake for.
  void SendWake(int target);
  // This rank has completed a fence: its next requests are behind it. Requests of other ranks from
  // behind the same fence are carried out from here on.
  void EndFence() { context_.EndFence(); }
  // This rank leaves the window: it has nothing under way, and sends no request any more. It still
  // answers requests of others.
  Status Leave();
  // Whether all ranks have left it, as far as this rank has been sent. No frame is under way to it
  // then.
  bool all_left() const { return all_left_ && !has_kept_frames(); }
  // Frames that the transport had no room for.
  bool has_kept_frames() const { return context_.has_kept_frames(); }
  const RequestOutbox& outbox() const { return outbox_; }
  const Inbox& inbox() const { return inbox_; }

  bool Advance() override;
  std::string Describe() const override;
  int AwaitedPeer() const override { return -1; }
  void End(const Status& status) override;
  void TimeOut() override {}  // it has no limit
  bool leaves_by_itself() const override { return true; }

 private:
  void OnControl(int from, ConstByteSpan message) override;
  Status OnFrame(int from, const RmaFrame& message);
  // Ranks that leave are counted along a tree: kLeft goes up to rank 0, and kAllLeft comes down.
  Status OnLeft(int child);
  Status CountLeft();
  Status EndLeft();
  // Takes part in what is under way.
  void Wake();
  bool is_idle() const;
  void Fail(const Status& status);
  // Returns the status for a caller that is not a message handler. A failure breaks the group
  // first.
  Status OutcomeOf(const Status& status);

  MessageContext context_;
  ServedWindow* const window_;
  Engine::Listener* listener_ = nullptr;  // null: there is none
  RequestOutbox outbox_;
  Inbox inbox_;
  bool left_ = false;           // by this rank
  uint32_t children_left_ = 0;  // in the tree, a bit for each, with all below it
  bool all_left_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_WINDOW_MESSAGES_H_
