// CompletionQueue: runs callbacks one after the other, never one inside another.
//
// A callback may post, and a post may complete at once. A nested callback would use stack for each
// segment of a chain, so the queue runs it after the first returns. Completions of another
// transport with this progress owner wait for that transport's next Progress.

#ifndef BRIGADE_TRANSPORT_CORE_COMPLETION_QUEUE_H_
#define BRIGADE_TRANSPORT_CORE_COMPLETION_QUEUE_H_

#include <utility>

#include "membuf/check.h"
#include "transport/completion.h"
#include "transport/core/fifo.h"
#include "transport/endpoint.h"

namespace brigade {

class CompletionQueue {
 public:
  // Completes the operation of `completion`, whose status and lease are set. Runs the callback,
  // unless a callback or a Progress is running, which then runs it. `receive_group`: the group of a
  // receive, whose closing cancels the callback; kSend for sends, whose callbacks always run.
  static constexpr GroupId kSend = -1;
  void Finish(Completion* completion, GroupId receive_group) {
    ready_.push_back({completion, receive_group});
    if (!running()) Run();
  }

  // Runs all ready callbacks, also those that they make ready. Returns whether any ran.
  bool Run() {
    BRIGADE_CHECK(!running_);
    const Hold hold(this);
    bool any = false;
    while (!ready_.empty()) {
      Completion* completion = ready_.front().completion;
      ready_.pop_front();
      const InCallback in_callback;
      completion->callback(completion);
      any = true;
    }
    return any;
  }

  // While one exists, Finish only queues: callbacks may post, and the caller's state is
  // inconsistent.
  class Hold {
   public:
    explicit Hold(CompletionQueue* queue) : queue_(queue), was_running_(queue->running_) {
      queue_->running_ = true;
    }
    ~Hold() { queue_->running_ = was_running_; }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    CompletionQueue* const queue_;
    const bool was_running_;
  };

  bool running() const { return running_ || in_callback(); }

  // While one exists this thread is inside a callback or handler: other callbacks wait.
  class InCallback {
   public:
    InCallback() { in_callback() = true; }
    ~InCallback() { in_callback() = false; }
    InCallback(const InCallback&) = delete;
    InCallback& operator=(const InCallback&) = delete;
  };

  // Cancels the callbacks of receives of `group` that have not run; calls `give_back(lease)` for
  // each successful one.
  template <typename GiveBack>
  void CancelReceives(GroupId group, GiveBack give_back) {
    Fifo<Ready> kept;
    for (const Ready& ready : ready_) {
      if (ready.receive_group != group) {
        kept.push_back(ready);
      } else if (ready.completion->status.ok()) {
        give_back(ready.completion->lease);
      }
    }
    ready_ = std::move(kept);
  }

 private:
  struct Ready {
    Completion* completion;
    GroupId receive_group;
  };
  // Whether this thread runs a callback of any queue.
  static bool& in_callback();
  Fifo<Ready> ready_;
  bool running_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_COMPLETION_QUEUE_H_
