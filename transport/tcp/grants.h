// Grants: the time at which this rank's receives are granted to their senders: at once, with the
// next Progress, or before the rank sleeps.

#ifndef BRIGADE_TRANSPORT_TCP_GRANTS_H_
#define BRIGADE_TRANSPORT_TCP_GRANTS_H_

#include "transport/tcp/link/link.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/link/unique_queue.h"

namespace brigade::tcp {

class Grants {
 public:
  // A receive from a peer was posted on the stream.
  void OnPosted(Stream* stream);
  // A segment of a peer has come on the stream.
  void OnArrival(Stream* stream);

  // Sends the grants that wait for a common message.
  void SendQueued();
  // Sends all grants, before this rank sleeps: no peer may wait for a grant of a sleeping rank.
  void SendAll();

  // The group is closed: earlier grants are still sent.
  void CancelDeferred(Stream* stream) { deferred_.Remove(stream); }
  // The stream is destroyed.
  void Remove(Stream* stream);

 private:
  // Streams with receives that only SendAll will grant.
  UniqueQueue<Stream, &Stream::grant_deferred> deferred_;
  // Links that were sent a grant since the last SendQueued: further grants are sent together.
  UniqueQueue<Link, &Link::granted> granted_;
};

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_GRANTS_H_
