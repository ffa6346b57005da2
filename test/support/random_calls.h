// Random sequences of calls of all patterns, whose results are compared with an oracle.

#ifndef BRIGADE_TEST_SUPPORT_RANDOM_CALLS_H_
#define BRIGADE_TEST_SUPPORT_RANDOM_CALLS_H_

#include <memory>
#include <set>
#include <string>

#include "patterns/group/group.h"

namespace brigade {

class RandomCalls {
 public:
  // REQUIRES: the group has at least two ranks, which all pass the same seed.
  RandomCalls(Group* group, unsigned seed);
  ~RandomCalls();
  RandomCalls(const RandomCalls&) = delete;
  RandomCalls& operator=(const RandomCalls&) = delete;

  // Makes calls, each of them blocking or started, with up to 16 under way. Topologies, types,
  // lengths, strides and kinds of memory are random. Collective. Aborts the group and throws
  // std::runtime_error, with the call, if the call fails or has a wrong result.
  void Play(int calls);
  // Sends messages from rank 0 to rank 1 until one takes a posted buffer. Both ranks then stop.
  void PlayUntilPosted();

  // The names of the protocols that blocking calls have taken on this rank.
  const std::set<std::string>& protocols() const;

 private:
  class Player;
  const std::unique_ptr<Player> player_;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_RANDOM_CALLS_H_
