// Grants: when this rank's receives are granted to their senders: at once, with the next Progress,
// or before the rank sleeps.

#ifndef BRIGADE_TRANSPORT_TCP_GRANTS_H_
#define BRIGADE_TRANSPORT_TCP_GRANTS_H_

#include "transport/tcp/link/link.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/link/unique_queue.h"

namespace brigade::tcp {

class Grants {
 public:
  // A receive of a peer's was posted on the stream.
  void OnPosted(Stream* stream);
  // A piece of a peer's came on the stream.
  void OnArrival(Stream* stream);

  // Sends the grants that wait to go out together.
  void SendQueued();
  // Sends all that can be sent: before this rank sleeps, nobody shall wait for a grant of it.
  void SendAll();

  // The group is closed: what is granted already still goes out.
  void CancelDeferred(Stream* stream) { deferred_.Remove(stream); }
  // The stream goes.
  void Remove(Stream* stream);

 private:
  // With receives that nothing but SendAll will tell of.
  UniqueQueue<Stream, &Stream::grant_deferred> deferred_;
  // Sent a grant since the last SendQueued: more go together.
  UniqueQueue<Link, &Link::granted> granted_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_GRANTS_H_
