#include "transport/mpi/requests.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "transport/core/errors.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_time.h"
#include "transport/mpi/own_requests.h"
#include "transport/rules.h"

namespace brigade::mpi {
namespace {

int ErrorClass(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

Status CheckLength(size_t bytes) {
  if (bytes <= kMaxSegmentBytes) return Status();
  return SegmentBeyondLimit("mpi", bytes, kMaxSegmentBytes);
}

// Takes the next message of a stream without receives, if it has come and is short: all of it is
// there then.
bool TakeEarly(Stream* stream) {
  const MpiCall counted;
  const Group& group = *stream->group;
  const int from = group.RankOf(stream->peer);
  const int tag = group.TagOf(stream->kind);
  int found = 0;
  MPI_Message arrival;
  MPI_Status status;
  int bytes = 0;
  MPI_Iprobe(from, tag, group.carrier->comm, &found, &status);
  if (!found) return false;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  if (static_cast<size_t>(bytes) > kShortReceiveBufferBytes) return false;
  MPI_Improbe(from, tag, group.carrier->comm, &found, &arrival, &status);
  if (!found) return false;
  stream->early.emplace(static_cast<size_t>(bytes));
  MPI_Mrecv(stream->early->data(), bytes, MPI_BYTE, &arrival, MPI_STATUS_IGNORE);
  return true;
}

void FreeType(Pending* receive) {
  if (receive->type != MPI_BYTE) MPI_Type_free(&receive->type);  // once the receive is over
  receive->type = MPI_BYTE;
}

Status Post(const Stream& stream, Pending* receive) {
  const Group& group = *stream.group;
  const bool plain = receive->type == MPI_BYTE;
  const MpiCall counted;
  const int error = MPI_Irecv(
      receive->buffer.data, plain ? static_cast<int>(receive->buffer.bytes) : 1, receive->type,
      group.RankOf(stream.peer), group.TagOf(stream.kind), group.carrier->comm, &receive->request);
  if (error == MPI_SUCCESS) FreeType(receive);  // else it may be posted again
  return MpiStatus(error, "MPI_Irecv");
}

Status TakeMessage(const Stream& stream, Pending* receive, bool* found) {
  const MpiCall counted;
  const Group& group = *stream.group;
  int there = 0;
  MPI_Message message;
  MPI_Status status;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Improbe(group.RankOf(stream.peer), group.TagOf(stream.kind),
                                                group.carrier->comm, &there, &message, &status),
                                    "MPI_Improbe"));
  *found = there != 0;
  if (!*found) return Status();
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::byte* memory = receive->buffer.data;
  if (static_cast<size_t>(bytes) > receive->buffer.bytes) {
    memory = receive->too_long = new (std::nothrow) std::byte[static_cast<size_t>(bytes)];
    if (memory == nullptr) {
      return Status(StatusCode::kOutOfMemory, "mpi: a message of " + std::to_string(bytes) +
                                                  " bytes for a buffer of " +
                                                  std::to_string(receive->buffer.bytes));
    }
  }
  return MpiStatus(MPI_Imrecv(memory, bytes, MPI_BYTE, &message, &receive->request), "MPI_Imrecv");
}

}  // namespace

Status Requests::PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                          Completion* completion) {
  Group* const group = &groups_->At(channel.group);
  BRIGADE_RETURN_IF_ERROR(CheckLength(segment.bytes));
  MPI_Request request;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(InMpi([&] {
                                      return MPI_Isend(
                                          segment.data, static_cast<int>(segment.bytes), MPI_BYTE,
                                          group->RankOf(peer), group->TagOf(channel.kind),
                                          group->carrier->comm, &request);
                                    }),
                                    "MPI_Isend"));
  Stream* stream = group->StreamOf(channel.kind, peer, /*receives=*/false);
  if (segment.bytes <= rules::kMpiEagerBytes && stream->pending.empty()) {
    int done = 0;
    const int error = TestOwn(&request, &done, MPI_STATUS_IGNORE);
    if (done || error != MPI_SUCCESS) {
      completion->status = MpiStatus(error, "MPI_Isend");
      completions_->Finish(completion, CompletionQueue::kSend);
      return Status();
    }
  }
  ++group->sends;
  Append(stream, Pending{request, completion});
  return Status();
}

Status Requests::PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                             std::byte* lease_data, Completion* completion, MPI_Datatype type) {
  Group* const group = &groups_->At(channel.group);
  BRIGADE_RETURN_IF_ERROR(CheckLength(receive_buffer.bytes));
  Stream* stream = group->StreamOf(channel.kind, peer, /*receives=*/true);
  if (stream->early) {
    BRIGADE_CHECK(lease_data != nullptr);  // a first segment lands in no user memory
    FinishEarly(stream, receive_buffer, completion);
    return Status();
  }
  Pending receive{MPI_REQUEST_NULL, completion, receive_buffer, lease_data, type};
  if (receive_buffer.bytes > kShortReceiveBufferBytes && stream->unposted == 0) {
    if (const Status posted = Post(*stream, &receive); !posted.ok()) {
      FreeType(&receive);
      return posted;
    }
  } else {
    ++stream->unposted;
  }
  Append(stream, receive);
  return Status();
}

size_t Requests::PeekUnexpected(const Channel& channel, int peer, ByteSpan head) {
  Group* const group = &groups_->At(channel.group);
  Stream* const stream = group->StreamOf(channel.kind, peer, /*receives=*/true);
  if (!stream->pending.empty()) return 0;
  if (!stream->early && !TakeEarly(stream)) return 0;
  const size_t bytes = std::min(head.bytes, stream->early->size());
  std::copy_n(stream->early->begin(), bytes, head.data);
  return bytes;
}

void Requests::FinishEarly(Stream* stream, ByteSpan receive_buffer, Completion* completion) {
  const std::vector<std::byte> message = std::move(*stream->early);
  stream->early.reset();
  completion->status = Status();
  completion->lease = Lease{receive_buffer.data, message.size(), 0};
  if (message.size() > receive_buffer.bytes) {
    completion->status = SegmentTooLong("mpi", message.size(), stream->peer, receive_buffer.bytes);
  } else {
    std::copy(message.begin(), message.end(), receive_buffer.data);
  }
  completions_->Finish(completion, stream->group->id);
}

void Requests::TestWatched() {
  CompletionQueue::Hold hold(completions_);
  if (watched_.size() == 1) {
    int done = 0;
    MPI_Status status;
    const int error = TestOwn(&requests_[0], &done, &status);
    if (done || error != MPI_SUCCESS) FinishWatched(watched_[0], error, status);
    return;
  }
  if (indices_.size() < requests_.size()) {
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
  }
  int count = 0;
  const int error = TestSomeOwn(static_cast<int>(requests_.size()), requests_.data(), &count,
                                indices_.data(), statuses_.data());
  BRIGADE_CHECK(error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS);
  finished_.clear();
  for (int i = 0; i < count; ++i) finished_.push_back(watched_[indices_[i]]);
  for (int i = 0; i < count; ++i) {
    FinishWatched(finished_[i], error == MPI_SUCCESS ? MPI_SUCCESS : statuses_[i].MPI_ERROR,
                  statuses_[i]);
  }
}

void Requests::FinishWatched(Stream* stream, int error, const MPI_Status& status) {
  FinishFirst(stream, error, status);
  FinishReady(stream);
  if (!stream->waits_for_probe()) {
    requests_[stream->slot] = stream->pending.front().request;
    return;
  }
  Unwatch(stream);
  if (stream->pending.empty()) {
    groups_->EraseIfDrained(stream->group);
  } else {
    Watch(stream);
  }
}

void Requests::ProbeStreams() {
  CompletionQueue::Hold hold(completions_);
  for (size_t i = probed_.size(); i-- > 0;) {
    Stream* const stream = probed_[i];
    if (!PostFirst(stream)) continue;
    probed_[i] = probed_.back();
    probed_.pop_back();
    FinishReady(stream);
    if (!stream->pending.empty()) Watch(stream);
  }
}

bool Requests::PostFirst(Stream* stream) {
  Pending* const first = &stream->pending.front();
  bool found = true;
  const Status status = first->buffer.bytes > kShortReceiveBufferBytes
                            ? Post(*stream, first)
                            : TakeMessage(*stream, first, &found);
  if (status.ok() && !found) return false;
  --stream->unposted;
  if (!status.ok()) {
    FreeType(first);
    delete[] first->too_long;
    first->completion->status = status;
    completions_->Finish(first->completion, stream->group->id);
    stream->pending.pop_front();
  }
  // Long ones behind it need not wait.
  for (auto next = stream->pending.end() - static_cast<std::ptrdiff_t>(stream->unposted);
       next != stream->pending.end() && next->buffer.bytes > kShortReceiveBufferBytes; ++next) {
    if (!Post(*stream, &*next).ok()) break;  // reported when it is the first
    --stream->unposted;
  }
  return true;
}

void Requests::FinishReady(Stream* stream) {
  while (!stream->waits_for_probe()) {
    int done = 0;
    MPI_Status status;
    const int error = TestOwn(&stream->pending.front().request, &done, &status);
    if (!done && error == MPI_SUCCESS) return;
    FinishFirst(stream, error, status);
  }
}

void Requests::FinishFirst(Stream* stream, int error, const MPI_Status& status) {
  const Pending first = stream->pending.front();
  stream->pending.pop_front();
  first.completion->status = MpiStatus(error, stream->receives ? "MPI_Irecv" : "MPI_Isend");
  if (!stream->receives) {
    --stream->group->sends;
    completions_->Finish(first.completion, CompletionQueue::kSend);
    return;
  }
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  first.completion->lease = Lease{first.lease_data, static_cast<size_t>(bytes), 0};
  if (first.too_long != nullptr ||
      (error != MPI_SUCCESS && ErrorClass(error) == MPI_ERR_TRUNCATE)) {
    first.completion->status =
        SegmentTooLong("mpi", static_cast<size_t>(bytes), stream->peer, first.buffer.bytes);
  }
  delete[] first.too_long;
  completions_->Finish(first.completion, stream->group->id);
}

void Requests::CancelReceives(Group* group) {
  for (const auto& stream : group->streams) {
    if (stream == nullptr || !stream->receives || stream->pending.empty()) continue;
    if (stream->waits_for_probe()) {
      probed_.erase(std::find(probed_.begin(), probed_.end(), stream.get()));
    } else {
      Unwatch(stream.get());
    }
    for (Pending& receive : stream->pending) {
      if (receive.request != MPI_REQUEST_NULL) MPI_Cancel(&receive.request);
      FreeType(&receive);
    }
    for (Pending& receive : stream->pending) {
      // The failure of a receive that is cancelled is ignored.
      if (receive.request != MPI_REQUEST_NULL) (void)MpiPoll(&receive.request, "MPI_Cancel");
      delete[] receive.too_long;
    }
    stream->pending.clear();
    stream->unposted = 0;
  }
}

}  // namespace brigade::mpi
