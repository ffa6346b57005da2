// Polling: how a rank waits for an endpoint: how often it polls, and where it sleeps.
// docs/design/transport.md has the full contract.

#ifndef BRIGADE_TRANSPORT_POLLING_H_
#define BRIGADE_TRANSPORT_POLLING_H_

#include <cstdint>

#include "transport/rules.h"

namespace brigade {

class Polling {
 public:
  // Called by a waiting progress owner after a Progress without effect; `idle_polls` counts these
  // in a row. Spins, yields or sleeps, whichever costs the other ranks of this machine least. The
  // default spins briefly, then yields the processor.
  virtual void Pause(uint64_t idle_polls);
  // Returns the idle polls before which Pause does not sleep. Callers that count idle polls may
  // stop counting there. They may become fewer at each Pause, so a loop reads them anew.
  virtual uint64_t PollsAwake() const { return rules::kPollsAwake; }
  // Returns the idle polls, yields included, before which Pause does not sleep. From there on a
  // progress owner that no message would wake from the sleep takes naps. Not less than
  // PollsAwake().
  virtual uint64_t PollsBeforeSleep() const { return PollsAwake(); }
  // Sleeps until Progress might find something, at most for `microseconds`; returns at once if it
  // already might. A second thread may sleep here while another one calls Progress.
  virtual void Await(int microseconds);
  // Called now and then by a progress owner that waits in another transport, or whose calls never
  // wait. Does the work of a long Pause, such as a look for lost ranks, or progresses the library
  // under this transport: the program's own messages, and messages without a posted receive.
  virtual void Nudge() {}
  // Sends messages to peers that were held back to be combined with later ones. To be called by a
  // progress owner that leaves with pending operations and may not return soon. Cheap if nothing is
  // held back.
  virtual void Flush() {}

 protected:
  ~Polling() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_POLLING_H_
