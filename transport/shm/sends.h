// Sends: pieces that their receivers have not given back yet.

#ifndef BRIGADE_TRANSPORT_SHM_SENDS_H_
#define BRIGADE_TRANSPORT_SHM_SENDS_H_

#include <vector>

#include "membuf/rules.h"
#include "transport/completion.h"
#include "transport/core/completion_queue.h"
#include "transport/edge/edge.h"
#include "transport/shm/streams.h"

namespace brigade::shm {

class Sends {
 public:
  explicit Sends(CompletionQueue* completions) : completions_(completions) {}
  Sends(const Sends&) = delete;
  Sends& operator=(const Sends&) = delete;

  bool empty() const { return sending_.empty(); }
  // Of those that were not given back.
  size_t CountTaken() const;
  // A piece was published, and ends when `receipt` is given.
  void Add(OutStream* out, const OutEdge::Receipt& receipt, Completion* completion);

  // Ends what was given back. `waits`: for something else, too; then it looks now and then only.
  bool Progress(bool waits) {
    if (waits && ++polls_since_look_ < rules::kShmPollsPerReturnLook) return false;
    polls_since_look_ = 0;
    return Finish();
  }
  // The next Progress looks.
  void LookNext() { polls_since_look_ = rules::kShmPollsPerReturnLook; }
  // Ends what was given back, and then all that goes to lost peers.
  void FailLost();

 private:
  bool Finish();
  // Ends `*left` at the most, and counts them off.
  void FinishStream(OutStream* out, int* left);

  CompletionQueue* const completions_;
  std::vector<OutStream*> sending_;  // with pieces under way
  int polls_since_look_ = 0;
};

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_SENDS_H_
