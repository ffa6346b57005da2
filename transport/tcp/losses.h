// Losses: detects lost peers: their connections have ended, or their system is silent.

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

  // A connection of the link has ended.
  void OnBroken(Link* link) { broken_.push_back(link); }
  // Marks peers of ended connections as lost, if nothing else is left of them.
  void HandleBroken();
  // Marks peers that do not answer as lost.
  void LoseUnanswered();
  // For a rank that waits, at any rate: marks peers as lost that do not answer, or do not send a
  // shutdown frame. Connects to those for which this rank waits without a connection: they may be
  // gone, which a connection would show.
  void Look(const Groups& groups);

 private:
  void LoseIfBroken(Link* link);
  void LoseHalfBroken();

  const std::chrono::seconds silence_;
  Links* const links_;
  std::vector<Link*> broken_;  // a connection of theirs is, since the last look
  std::chrono::steady_clock::time_point last_look_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_LOSSES_H_
