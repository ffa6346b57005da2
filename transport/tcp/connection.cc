#include "transport/tcp/connection.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "membuf/check.h"

namespace brigade::tcp {
namespace {

// A batch is what goes out in one operation: enough that the call costs little beside its bytes.
constexpr size_t kBatchBytes = size_t{256} << 10;
constexpr size_t kBatchFrames = 64;

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
      spoken_(hello_.empty()) {
  static_assert(kHelloBytes <= kBatchFrames * kFrameBytes, "both fit");
  frames_.reserve((kBatchFrames + 1) * kFrameBytes);
}

// --- what is sent ---

void Connection::AddRange(const void* data, size_t bytes) {
  if (bytes == 0) return;
  batch_bytes_ += bytes;
  if (!ranges_.empty() &&
      static_cast<std::byte*>(ranges_.back().iov_base) + ranges_.back().iov_len == data) {
    ranges_.back().iov_len += bytes;
    return;
  }
  ranges_.push_back({const_cast<void*>(data), bytes});
}

void Connection::AddFrame(const Frame& frame) {
  const size_t at = frames_.size();
  frames_.resize(at + kFrameBytes);
  WriteFrame(frame, frames_.data() + at);
  AddRange(frames_.data() + at, kFrameBytes);
}

bool Connection::FillBatch() {
  frames_.clear();
  ranges_.clear();
  first_range_ = batch_bytes_ = written_bytes_ = 0;
  size_t frames = 0;
  if (left_) return false;
  if (!hello_.empty()) {
    // Alone: a connection that does not come about takes nothing else with it.
    frames_.assign(hello_.begin(), hello_.end());
    hello_.clear();
    AddRange(frames_.data(), frames_.size());
    return true;
  }
  while (!link_->notices.empty() && frames < kBatchFrames) {
    AddFrame(link_->notices.back());
    link_->notices.pop_back();
    ++frames;
  }
  Frame frame;
  while (!link_->telling.empty() && frames < kBatchFrames) {
    Stream* const stream = link_->telling.front();
    link_->telling.pop_front();
    stream->telling = false;
    if (!stream->in.untold()) continue;
    frame.group = stream->wire_id;
    frame.channel = static_cast<uint8_t>(stream->kind);
    frame.kind = FrameKind::kGrant;
    frame.count = stream->in.Tell();
    AddFrame(frame);
    ++frames;
  }
  // In turns, so that no stream holds up another.
  while (!link_->ready.empty() && frames < kBatchFrames && batch_bytes_ < kBatchBytes) {
    Stream* const stream = link_->ready.front();
    link_->ready.pop_front();
    const SendStream::Piece piece = stream->out.Take();
    frame.group = stream->wire_id;
    frame.channel = static_cast<uint8_t>(stream->kind);
    frame.kind = FrameKind::kPiece;
    frame.bytes = static_cast<uint32_t>(piece.bytes.bytes);
    frame.count = stream->in.Tell();
    AddFrame(frame);
    ++frames;
    AddRange(piece.bytes.data, piece.bytes.bytes);
    parts_.push_back({stream, piece.completion, batch_bytes_});
    stream->ready = stream->out.MayTake();
    if (stream->ready) link_->ready.push_back(stream);
  }
  if (leaving_ && link_->ready.empty() && frames < kBatchFrames) {
    leaving_ = false;
    left_ = true;
    frame = Frame();
    frame.kind = FrameKind::kBye;
    AddFrame(frame);
  }
  return batch_bytes_ > 0;
}

void Connection::Pump() {
  while (!writing_ && !broken() && write_failure_.ok()) {
    if (written_bytes_ == batch_bytes_ && !FillBatch()) return;
    const ssize_t written = io_->Write(this, ranges_.data() + first_range_,
                                       static_cast<int>(ranges_.size() - first_range_));
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
  if (writing_ || written_bytes_ != batch_bytes_ || !link_->ready.empty() ||
      !stream->out.MaySend(bytes)) {
    return SentNow::kNotYet;
  }
  frames_.clear();
  ranges_.clear();
  first_range_ = batch_bytes_ = written_bytes_ = 0;
  Frame frame;
  frame.group = stream->wire_id;
  frame.channel = static_cast<uint8_t>(stream->kind);
  frame.kind = FrameKind::kPiece;
  frame.bytes = static_cast<uint32_t>(bytes);
  frame.count = stream->in.count();
  AddFrame(frame);
  AddRange(head.data, head.bytes);
  for (StridedLayout::Cursor at(*body.layout, body.offset); batch_bytes_ < kFrameBytes + bytes;) {
    const StridedLayout::Run run = at.Next();
    const size_t run_bytes = std::min(run.bytes, kFrameBytes + bytes - batch_bytes_);
    AddRange(body.base + run.memory_offset, run_bytes);
    at.Advance(run_bytes);
  }
  const ssize_t written = SocketIo::WriteNow(*this, ranges_.data(), ranges_.size());
  if (written <= 0) {
    written_bytes_ = batch_bytes_ = 0;  // what is wrong shows when something is posted
    return written == -EAGAIN ? SentNow::kNotYet : SentNow::kNo;
  }
  stream->out.CountSent(bytes);
  (void)stream->in.Tell();
  parts_.push_back({stream, completion, batch_bytes_});
  (void)Advance(written);
  *kept_bytes = parts_.empty() ? 0 : batch_bytes_ - written_bytes_;
  if (*kept_bytes > 0) KeepRest();
  Pump();
  return SentNow::kYes;
}

// What is left of the batch moves to memory of this connection.
void Connection::KeepRest() {
  const size_t left = batch_bytes_ - written_bytes_;
  rest_.clear();
  for (; first_range_ < ranges_.size(); ++first_range_) {
    const auto* const data = static_cast<const std::byte*>(ranges_[first_range_].iov_base);
    rest_.insert(rest_.end(), data, data + ranges_[first_range_].iov_len);
  }
  BRIGADE_CHECK_EQ(rest_.size(), left);
  parts_.front().end = left;
  ranges_.clear();
  first_range_ = batch_bytes_ = written_bytes_ = 0;
  AddRange(rest_.data(), left);
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
  size_t left = static_cast<size_t>(written);
  written_bytes_ += left;
  while (left > 0) {
    iovec& range = ranges_[first_range_];
    if (left < range.iov_len) {
      range.iov_base = static_cast<std::byte*>(range.iov_base) + left;
      range.iov_len -= left;
      break;
    }
    left -= range.iov_len;
    ++first_range_;
  }
  while (!parts_.empty() && parts_.front().end <= written_bytes_) {
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
