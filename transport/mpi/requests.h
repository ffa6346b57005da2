// Requests: the sends and receives of all streams, from their posts, over probes and tests, to
// their completion.

#ifndef BRIGADE_TRANSPORT_MPI_REQUESTS_H_
#define BRIGADE_TRANSPORT_MPI_REQUESTS_H_

#include <mpi.h>

#include <climits>
#include <cstddef>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/channel.h"
#include "transport/completion.h"
#include "transport/core/completion_queue.h"
#include "transport/mpi/groups.h"

namespace brigade::mpi {

inline constexpr size_t kMaxSegmentBytes = INT_MAX;  // counts of MPI are ints
// MPI's protocols for long messages may write past a receive buffer before the length is known. A
// short receive buffer is therefore posted to MPI only once a probe has found a message that fits.
// A long one is posted at once, since it may have to be filled at once.
inline constexpr size_t kShortReceiveBufferBytes = 1024;

class Requests {
 public:
  Requests(Groups* groups, CompletionQueue* completions)
      : groups_(groups), completions_(completions) {}

  // As Endpoint's.
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment, Completion* completion);
  // `lease_data`: of the lease. `type`: one element of it describes the receive buffer, unless it
  // is plain bytes. It is freed.
  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     std::byte* lease_data, Completion* completion, MPI_Datatype type = MPI_BYTE);
  // MPI has no way to read a message without receiving it: a short one is received and kept for its
  // receive.
  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head);
  // Completes finished operations, and receives short messages that have come.
  void Progress() {
    if (!requests_.empty()) TestWatched();
    if (!probed_.empty()) ProbeStreams();
  }
  // No receive buffer of the group is written after this. A segment that has begun to arrive is
  // waited for.
  void CancelReceives(Group* group);

 private:
  void FinishEarly(Stream* stream, ByteSpan receive_buffer, Completion* completion);
  void Append(Stream* stream, const Pending& pending) {
    stream->pending.push_back(pending);
    if (stream->pending.size() == 1) Watch(stream);  // else it ends behind the others
  }

  // Tests the first operation of the stream, which has one, from now on.
  void Watch(Stream* stream) {
    if (stream->waits_for_probe()) {
      probed_.push_back(stream);
      return;
    }
    stream->slot = watched_.size();
    watched_.push_back(stream);
    requests_.push_back(stream->pending.front().request);
  }

  void Unwatch(const Stream* stream) {
    watched_[stream->slot] = watched_.back();
    watched_[stream->slot]->slot = stream->slot;
    requests_[stream->slot] = requests_.back();
    watched_.pop_back();
    requests_.pop_back();
  }

  void TestWatched();
  // The first operation of the stream, which was watched, is over.
  void FinishWatched(Stream* stream, int error, const MPI_Status& status);
  void ProbeStreams();
  // The first receive of the stream is not posted: posts it, or takes its message if that has come.
  // True: it is, or has failed.
  bool PostFirst(Stream* stream);
  // Completes finished operations at the head of the stream.
  void FinishReady(Stream* stream);
  void FinishFirst(Stream* stream, int error, const MPI_Status& status);

  Groups* const groups_;
  CompletionQueue* const completions_;
  // The first operation of every stream that has one; the two vectors run in parallel.
  std::vector<Stream*> watched_;
  std::vector<MPI_Request> requests_;
  // Streams whose first operation is a receive that is not posted.
  std::vector<Stream*> probed_;
  // Scratch of TestWatched.
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Stream*> finished_;
};

}  // namespace brigade::mpi

#endif  // BRIGADE_TRANSPORT_MPI_REQUESTS_H_
