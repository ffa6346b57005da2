#include "transport/tcp/link/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "membuf/strided_layout.h"
#include "transport/core/control_queue.h"

namespace brigade::tcp {

Connection::Connection(int socket, Link* link, Outbox* outbox, std::vector<std::byte> handshake,
                       SocketIo* io, ConnectionOwner* owner)
    : IoSocket(socket),
      link_(link),
      outbox_(outbox),
      io_(io),
      owner_(owner),
      reader_(this, kMaxSegmentBytes),
      handshake_(std::move(handshake)),
      established_(handshake_.empty()) {}

// --- sending ---

bool Connection::FillBatch() {
  batch_.Clear();
  if (shutdown_ == Shutdown::kSent) return false;
  if (!handshake_.empty()) {
    // Alone: a connection that does not come about takes nothing else with it.
    batch_.AddHandshake(handshake_.data());
    handshake_.clear();
    return true;
  }
  AddNoticesControlsAndGrants();
  AddSegments();
  if (shutdown_ == Shutdown::kDue && !outbox_->has_sends() && outbox_->controls() == 0 &&
      batch_.has_room_for_frame()) {
    shutdown_ = Shutdown::kSent;
    Frame shutdown_frame;
    shutdown_frame.kind = FrameKind::kShutdown;
    batch_.AddFrame(shutdown_frame);
  }
  return batch_.bytes() > 0;
}

void Connection::AddNoticesControlsAndGrants() {
  Frame frame;
  while (batch_.has_room_for_frame() && outbox_->NextNotice(&frame)) batch_.AddFrame(frame);
  Frame control;
  ControlMessage message;
  while (batch_.has_room_for_control() && outbox_->NextControl(&control, &message)) {
    batch_.AddControl(control, message.data);
  }
  while (batch_.has_room_for_frame() && outbox_->NextGrant(&frame)) batch_.AddFrame(frame);
}

void Connection::AddSegments() {
  Outbox::Send send;
  while (batch_.has_room_for_segment() && outbox_->NextSend(&send)) {
    batch_.AddFrame(send.frame);
    batch_.AddRange(send.segment.bytes.data, send.segment.bytes.bytes);
    unsent_.push_back({send.stream, send.segment.completion, batch_.bytes()});
  }
}

void Connection::Pump() {
  while (!writing_ && !broken() && write_failure_.ok()) {
    if (batch_.written() && !FillBatch()) return;
    const ssize_t written =
        io_->Write(this, batch_.ranges(), static_cast<int>(batch_.range_count()));
    if (written == SocketIo::kPending) {
      writing_ = true;
      return;
    }
    if (!Advance(written)) return;
  }
}

SentNow Connection::SendNow(Stream* stream, ConstByteSpan head, const LayoutRange& body,
                            Completion* completion, size_t* kept_bytes) {
  const size_t bytes = head.bytes + body.bytes;
  if (broken() || !write_failure_.ok() || !handshake_.empty() || shutdown_ != Shutdown::kNone ||
      stream->out.waiting()) {
    return SentNow::kNo;
  }
  if (writing_ || !batch_.written() || outbox_->has_sends() || !stream->out.MaySend(bytes)) {
    return SentNow::kNotYet;
  }
  batch_.Clear();
  batch_.AddFrame(Outbox::SegmentFrame(*stream, bytes));
  batch_.AddRange(head.data, head.bytes);
  AddLayout(body);
  const ssize_t written = SocketIo::WriteNow(*this, batch_.ranges(), batch_.range_count());
  if (written <= 0) {
    batch_.Clear();
    // The next post reports the error.
    return written == -EAGAIN && io_->AwaitRoom(this) == 0 ? SentNow::kNotYet : SentNow::kNo;
  }
  stream->out.CountSentNow(bytes);
  (void)stream->in.Grant();
  unsent_.push_back({stream, completion, batch_.bytes()});
  (void)Advance(written);
  *kept_bytes = 0;
  if (!unsent_.empty()) *kept_bytes = unsent_.front().end = batch_.KeepRest();
  Pump();
  return SentNow::kYes;
}

void Connection::AddLayout(const LayoutRange& range) {
  StridedLayout::Cursor at(*range.layout, range.offset);
  for (size_t left = range.bytes; left > 0;) {
    const StridedLayout::Run run = at.Next();
    const size_t run_bytes = std::min(run.bytes, left);
    batch_.AddRange(range.base + run.memory_offset, run_bytes);
    at.Advance(run_bytes);
    left -= run_bytes;
  }
}

void Connection::OnWritten(ssize_t result) {
  writing_ = false;
  if (Advance(result)) Pump();
}

bool Connection::Advance(ssize_t written) {
  if (written < 0) {
    // EPIPE follows a failure that the read reports.
    if (!established_ && !broken() && (written != -EPIPE || read_ended_)) {
      Break(EndedBy(static_cast<int>(-written)));
    }
    // The peer may have left. Its earlier data are still read; then the read ends.
    write_failure_ = Status(StatusCode::kPeerLost, std::strerror(static_cast<int>(-written)));
    return false;
  }
  if (read_ended_ && !broken()) {
    Break(EndedBy(ECONNRESET));
    return false;
  }
  established_ = true;
  batch_.Advance(static_cast<size_t>(written));
  while (!unsent_.empty() && unsent_.front().end <= batch_.written_bytes()) {
    const Unsent segment = unsent_.front();
    unsent_.pop_front();
    owner_->OnSent(segment.stream, segment.completion, Status());
  }
  return true;
}

void Connection::FailUnsent(const Status& why) {
  while (!unsent_.empty()) {
    const Unsent segment = unsent_.front();
    unsent_.pop_front();
    owner_->OnSent(segment.stream, segment.completion, why);
  }
}

Status Connection::EndedBy(int error) const {
  // A port without a listener will never have one again.
  const bool for_good = established_ || error == ECONNREFUSED;
  return for_good ? Status(StatusCode::kPeerLost, std::strerror(error))
                  : SocketFailure("connect", error);
}

void Connection::Break(const Status& why) {
  failure_ = why;
  owner_->OnBroken(link_);
}

// --- receiving ---

void Connection::OnRead(ssize_t result) {
  if (broken()) return;
  if (result > 0) {
    const Status status = reader_.Accept(static_cast<size_t>(result));
    if (!status.ok()) {
      Break(status);
    } else {
      owner_->OnFrames(link_);
    }
    return;
  }
  // The handshake is being written, which ends with why there is no connection if this does not.
  if (!established_ && (result == 0 || result == -ENOTCONN)) {
    read_ended_ = true;
    if (!write_failure_.ok()) Break(EndedBy(EPIPE));
    return;
  }
  if (result < 0) {
    Break(EndedBy(static_cast<int>(-result)));
  } else if (!write_failure_.ok()) {
    Break(write_failure_);
  } else {
    Break(Status(StatusCode::kPeerLost, reader_.within_frame()
                                            ? "the connection ended in the middle of a segment"
                                            : "the connection ended"));
  }
}

Status Connection::BeginSegment(const Frame& frame, ByteSpan* where) {
  BRIGADE_RETURN_IF_ERROR(owner_->FindStream(link_, frame, &coming_));
  if (coming_ == nullptr) {
    outbox_->AddNotice(FrameKind::kClosed, frame.channel, frame.group);
    return Status();
  }
  coming_->out.OnGrant(frame.count);
  outbox_->AddSend(coming_);
  if (!coming_->in.Begin(frame.bytes, where)) {
    return Status(StatusCode::kInternal,
                  "a segment of " + std::to_string(frame.bytes) + " bytes came without credit");
  }
  if (where->bytes > frame.bytes) where->bytes = frame.bytes;
  return Status();
}

Status Connection::EndSegment(const Frame&) {
  Stream* const stream = std::exchange(coming_, nullptr);
  ReceiveStream::Arrival arrival;
  if (stream != nullptr && stream->in.End(&arrival)) owner_->OnArrival(stream, arrival);
  return Status();
}

Status Connection::Control(const Frame& frame, ConstByteSpan message) {
  return owner_->OnControl(link_, frame, message);
}

Status Connection::Notice(const Frame& frame) {
  if (frame.kind == FrameKind::kShutdown) {
    owner_->OnShutdown(link_);
    return Status();
  }
  Stream* stream = nullptr;
  BRIGADE_RETURN_IF_ERROR(owner_->FindStream(link_, frame, &stream));
  if (frame.kind == FrameKind::kWaiting) {
    if (stream == nullptr) outbox_->AddNotice(FrameKind::kClosed, frame.channel, frame.group);
    return Status();
  }
  if (stream == nullptr) return Status();
  if (frame.kind == FrameKind::kClosed) {
    stream->out.GrantAll();
    if (stream->out.waiting()) owner_->OnDropped(stream);
  } else {
    stream->out.OnGrant(frame.count);
  }
  outbox_->AddSend(stream);
  return Status();
}

void Connection::Detach(Stream* stream) {
  if (coming_ != stream) return;
  io_->CancelRead(this);
  if (coming_ != stream) return;  // it came to its end
  reader_.Redirect();
  stream->in.Abandon();
  coming_ = nullptr;
}

}  // namespace brigade::tcp
