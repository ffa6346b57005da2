#include "transport/tcp/connection.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "membuf/strided_layout.h"

namespace brigade::tcp {
namespace {

Frame PieceFrame(const Stream& stream, size_t bytes, uint32_t granted) {
  Frame frame;
  frame.kind = FrameKind::kPiece;
  frame.group = stream.wire_id;
  frame.channel = static_cast<uint8_t>(stream.kind);
  frame.bytes = static_cast<uint32_t>(bytes);
  frame.count = granted;
  return frame;
}

Frame GrantFrame(const Stream& stream, uint32_t granted) {
  Frame frame;
  frame.kind = FrameKind::kGrant;
  frame.group = stream.wire_id;
  frame.channel = static_cast<uint8_t>(stream.kind);
  frame.count = granted;
  return frame;
}

}  // namespace

void Link::Notify(FrameKind kind, uint8_t channel, uint32_t group) {
  for (const Frame& notice : notices) {
    if (notice.kind == kind && notice.channel == channel && notice.group == group) return;
  }
  Frame notice;
  notice.group = group;
  notice.kind = kind;
  notice.channel = channel;
  notices.push_back(notice);
}

Connection::Connection(int socket, Link* link, std::vector<std::byte> hello, SocketIo* io,
                       ConnectionOwner* owner)
    : IoSocket(socket),
      link_(link),
      io_(io),
      owner_(owner),
      reader_(this, kMaxPieceBytes),
      hello_(std::move(hello)),
      spoken_(hello_.empty()) {}

// --- what is sent ---

bool Connection::FillBatch() {
  batch_.Clear();
  if (left_) return false;
  if (!hello_.empty()) {
    // Alone: a connection that does not come about takes nothing else with it.
    batch_.AddHello(hello_.data());
    hello_.clear();
    return true;
  }
  AddNoticesAndGrants();
  AddPieces();
  if (leaving_ && link_->ready.empty() && batch_.has_room_for_frame()) {
    leaving_ = false;
    left_ = true;
    Frame goodbye;
    goodbye.kind = FrameKind::kBye;
    batch_.AddFrame(goodbye);
  }
  return batch_.bytes() > 0;
}

void Connection::AddNoticesAndGrants() {
  while (!link_->notices.empty() && batch_.has_room_for_frame()) {
    batch_.AddFrame(link_->notices.back());
    link_->notices.pop_back();
  }
  while (!link_->telling.empty() && batch_.has_room_for_frame()) {
    Stream* const stream = link_->telling.front();
    link_->telling.pop_front();
    stream->telling = false;
    if (stream->in.untold()) batch_.AddFrame(GrantFrame(*stream, stream->in.Tell()));
  }
}

// In turns, so that no stream holds up another.
void Connection::AddPieces() {
  while (!link_->ready.empty() && batch_.has_room_for_piece()) {
    Stream* const stream = link_->ready.front();
    link_->ready.pop_front();
    const SendStream::Piece piece = stream->out.Take();
    batch_.AddFrame(PieceFrame(*stream, piece.bytes.bytes, stream->in.Tell()));
    batch_.AddRange(piece.bytes.data, piece.bytes.bytes);
    parts_.push_back({stream, piece.completion, batch_.bytes()});
    stream->ready = stream->out.MayTake();
    if (stream->ready) link_->ready.push_back(stream);
  }
}

void Connection::Pump() {
  while (!writing_ && !broken() && write_failure_.ok()) {
    if (batch_.written() && !FillBatch()) return;
    const ssize_t written =
        io_->Write(this, batch_.ranges(), static_cast<int>(batch_.range_count()));
    if (written == SocketIo::kUnderWay) {
      writing_ = true;
      return;
    }
    if (!Advance(written)) return;
  }
}

SentNow Connection::SendNow(Stream* stream, ConstByteSpan head, const LayoutRange& body,
                            Completion* completion, size_t* kept_bytes) {
  const size_t bytes = head.bytes + body.bytes;
  if (broken() || !write_failure_.ok() || !hello_.empty() || left_ || leaving_ ||
      stream->out.waiting()) {
    return SentNow::kNo;
  }
  if (writing_ || !batch_.written() || !link_->ready.empty() || !stream->out.MaySend(bytes)) {
    return SentNow::kNotYet;
  }
  batch_.Clear();
  batch_.AddFrame(PieceFrame(*stream, bytes, stream->in.count()));
  batch_.AddRange(head.data, head.bytes);
  AddLayout(body);
  const ssize_t written = SocketIo::WriteNow(*this, batch_.ranges(), batch_.range_count());
  if (written <= 0) {
    batch_.Clear();  // what is wrong shows when something is posted
    return written == -EAGAIN ? SentNow::kNotYet : SentNow::kNo;
  }
  stream->out.CountSent(bytes);
  (void)stream->in.Tell();
  parts_.push_back({stream, completion, batch_.bytes()});
  (void)Advance(written);
  *kept_bytes = 0;
  if (!parts_.empty()) *kept_bytes = parts_.front().end = batch_.KeepRest();
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
    // A broken pipe is what is left of a failure that the read is told of.
    if (!spoken_ && !broken() && (written != -EPIPE || read_ended_)) {
      Break(Ended(static_cast<int>(-written)));
    }
    // The peer may have left. What it sent before is still to be read; then comes the end.
    write_failure_ = Status(StatusCode::kPeerLost, std::strerror(static_cast<int>(-written)));
    return false;
  }
  if (read_ended_ && !broken()) {
    Break(Ended(ECONNRESET));
    return false;
  }
  spoken_ = true;
  batch_.Advance(static_cast<size_t>(written));
  while (!parts_.empty() && parts_.front().end <= batch_.written_bytes()) {
    const Part part = parts_.front();
    parts_.pop_front();
    owner_->OnSent(part.stream, part.completion, Status());
  }
  return true;
}

void Connection::FailParts(const Status& why) {
  while (!parts_.empty()) {
    const Part part = parts_.front();
    parts_.pop_front();
    owner_->OnSent(part.stream, part.completion, why);
  }
}

Status Connection::Ended(int error) const {
  // Where nobody listens any more, nobody ever will.
  const bool for_good = spoken_ || error == ECONNREFUSED;
  return for_good ? Status(StatusCode::kPeerLost, std::strerror(error))
                  : SocketFailure("connect", error);
}

void Connection::Break(const Status& why) {
  failure_ = why;
  owner_->OnBroken(link_);
}

// --- what comes ---

void Connection::OnRead(ssize_t result) {
  if (broken()) return;
  if (result > 0) {
    const Status status = reader_.Accept(static_cast<size_t>(result));
    if (!status.ok()) {
      Break(status);
    } else if (link_->out != nullptr) {
      link_->out->Pump();  // what was granted
    }
    return;
  }
  // The hello is being written, which ends with why there is no connection if this does not.
  if (!spoken_ && (result == 0 || result == -ENOTCONN)) {
    read_ended_ = true;
    if (!write_failure_.ok()) Break(Ended(EPIPE));
    return;
  }
  if (result < 0) {
    Break(Ended(static_cast<int>(-result)));
  } else if (!write_failure_.ok()) {
    Break(write_failure_);
  } else {
    Break(Status(StatusCode::kPeerLost, reader_.within_frame()
                                            ? "the connection ended in the middle of a piece"
                                            : "the connection ended"));
  }
}

Status Connection::BeginPiece(const Frame& frame, ByteSpan* where) {
  BRIGADE_RETURN_IF_ERROR(owner_->FindStream(link_, frame, &coming_));
  if (coming_ == nullptr) {
    link_->Notify(FrameKind::kClosed, frame.channel, frame.group);
    return Status();
  }
  coming_->out.Grant(frame.count);
  owner_->OnGrant(coming_);
  if (!coming_->in.Begin(frame.bytes, where)) {
    return Status(StatusCode::kInternal,
                  "a piece of " + std::to_string(frame.bytes) + " bytes came uninvited");
  }
  if (where->bytes > frame.bytes) where->bytes = frame.bytes;
  return Status();
}

Status Connection::EndPiece(const Frame&) {
  Stream* const stream = std::exchange(coming_, nullptr);
  ReceiveStream::Arrival arrival;
  if (stream != nullptr && stream->in.End(&arrival)) owner_->OnArrival(stream, arrival);
  return Status();
}

Status Connection::Control(const Frame& frame) {
  if (frame.kind == FrameKind::kBye) {
    link_->left = true;
    return Status();
  }
  Stream* stream = nullptr;
  BRIGADE_RETURN_IF_ERROR(owner_->FindStream(link_, frame, &stream));
  if (frame.kind == FrameKind::kWaiting) {
    if (stream == nullptr) link_->Notify(FrameKind::kClosed, frame.channel, frame.group);
    return Status();
  }
  if (stream == nullptr) return Status();
  if (frame.kind == FrameKind::kClosed) {
    stream->out.GrantAll();
    if (stream->out.waiting()) owner_->OnDropped(stream);
  } else {
    stream->out.Grant(frame.count);
  }
  owner_->OnGrant(stream);
  return Status();
}

void Connection::Forget(Stream* stream) {
  if (coming_ != stream) return;
  io_->CancelRead(this);
  if (coming_ != stream) return;  // it came to its end
  reader_.Redirect();
  stream->in.Abandon();
  coming_ = nullptr;
}

}  // namespace brigade::tcp
