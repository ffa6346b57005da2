#include "transport/tcp/grants.h"

namespace brigade::tcp {

void Grants::OnPosted(Stream* stream) {
  Link* const link = stream->link;
  if (stream->in.ShouldGrant() && link->out() != nullptr) {
    link->outbox()->AddGrant(stream);
    // A sender that knows of one place comes back; of more it learns then.
    if (granted_.Push(link)) link->Pump();
  } else if (stream->in.ungranted()) {
    deferred_.Push(stream);
  }
}

void Grants::OnArrival(Stream* stream) {
  if (stream->link->out() != nullptr && stream->in.ShouldGrant()) {
    stream->link->outbox()->AddGrant(stream);
  }
}

void Grants::SendQueued() {
  while (!granted_.empty()) {
    Link* const link = granted_.Pop();
    if (link->outbox()->has_grants()) link->Pump();
  }
}

void Grants::SendAll() {
  for (size_t streams = deferred_.size(); streams > 0; --streams) {
    Stream* const stream = deferred_.Pop();
    Link* const link = stream->link;
    if (!stream->in.ungranted() || link->lost()) continue;
    if (link->out() == nullptr) {
      deferred_.Push(stream);
    } else {
      link->outbox()->AddGrant(stream);
      link->Pump();
    }
  }
}

void Grants::Remove(Stream* stream) {
  if (stream->link != nullptr) stream->link->outbox()->RemoveGrant(stream);
  deferred_.Remove(stream);
}

}  // namespace brigade::tcp
