// Losses: finds out which peers are lost: those whose connections have ended, and those whose
// system is silent.

#ifndef BRIGADE_TRANSPORT_TCP_LOSSES_H_
#define BRIGADE_TRANSPORT_TCP_LOSSES_H_

#include <chrono>
#include <vector>

#include "transport/tcp/groups.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/links.h"

namespace brigade::tcp {

class Losses {
 public:
  Losses(std::chrono::seconds silence, Links* links) : silence_(silence), links_(links) {}

  // Nothing more will come on a connection of the link.
  void OnBroken(Link* link) { broken_.push_back(link); }
  // Loses the peers to which nothing is left of what has broken.
  void HandleBroken() {
    if (!broken_.empty()) LoseBroken();
  }
  // Loses peers that do not answer.
  void LoseUnanswered();
  // From a rank that waits, as often as it likes: loses peers that do not answer, or never say
  // goodbye. Connects with those that this rank waits for and that nobody has connected with: they
  // may be gone, and a connection would tell.
  void Look(const Groups& groups);

 private:
  void LoseBroken();
  void LoseIfBroken(Link* link);
  void LoseHalfBroken();

  const std::chrono::seconds silence_;
  Links* const links_;
  std::vector<Link*> broken_;  // a connection of theirs is, since the last look
  std::chrono::steady_clock::time_point last_look_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LOSSES_H_
