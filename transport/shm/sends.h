// Sends: segments that their receivers have not released yet.

#ifndef BRIGADE_TRANSPORT_SHM_SENDS_H_
#define BRIGADE_TRANSPORT_SHM_SENDS_H_

#include <vector>

#include "transport/completion.h"
#include "transport/core/completion_queue.h"
#include "transport/edge/edge.h"
#include "transport/rules.h"
#include "transport/shm/streams.h"

namespace brigade::shm {

class Sends {
 public:
  explicit Sends(CompletionQueue* completions) : completions_(completions) {}
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;

  bool empty() const { return sending_.empty(); }
  // Returns how many of these segments their receivers have taken.
  size_t CountTaken() const;
  // Adds a published segment, which completes when `receipt` is given.
  void Add(OutStream* out, const OutEdge::Receipt& receipt, Completion* completion);

  // Completes released segments. `waits`: the rank also waits for something else; then checks are
  // rare.
  bool Progress(bool waits) {
    if (waits && ++polls_since_look_ < rules::kShmPollsPerReturnLook) return false;
    polls_since_look_ = 0;
    return Finish();
  }
  // Makes the next Progress check.
  void LookNext() { polls_since_look_ = rules::kShmPollsPerReturnLook; }
  // Completes released segments, and then fails all segments to lost peers.
  void FailLost();

 private:
  bool Finish();
  // Completes at most `*left` segments, and subtracts them.
  void FinishStream(OutStream* out, int* left);

  CompletionQueue* const completions_;
  std::vector<OutStream*> sending_;  // with segments under way
  int polls_since_look_ = 0;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_SENDS_H_
