#include "transport/tcp/io/plain_io.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "membuf/check.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr int kEvents = 64;

}  // namespace

Status CreatePlainIo(std::unique_ptr<SocketIo>* io) {
  std::unique_ptr<PlainIo> created(new PlainIo);
  BRIGADE_RETURN_IF_ERROR(created->Open());
  *io = std::move(created);
  return Status();
}

Status PlainIo::Open() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  return epoll_ >= 0 ? Status() : SocketFailure("epoll_create1", errno);
}

PlainIo::~PlainIo() {
  if (epoll_ >= 0) close(epoll_);
}

Status PlainIo::Add(IoSocket* socket) {
  State& state = sockets_[socket];
  if (Arm(socket, &state)) return Status();
  const int error = errno;
  sockets_.erase(socket);
  return SocketFailure("epoll_ctl", error);
}

void PlainIo::Remove(IoSocket* socket) {
  const State& state = sockets_[socket];
  if (state.listed) epoll_ctl(epoll_, EPOLL_CTL_DEL, socket->socket(), nullptr);
  if (state.awaits_room) --awaiting_room_;
  sockets_.erase(socket);
}

ssize_t PlainIo::Write(IoSocket* socket, const iovec* ranges, int count) {
  const ssize_t written = WriteNow(*socket, ranges, static_cast<size_t>(count));
  if (written != -EAGAIN) return written;
  const int error = AwaitRoom(socket);
  if (error != 0) return error;
  State& state = sockets_[socket];
  state.ranges = ranges;
  state.count = count;
  return kPending;
}

int PlainIo::AwaitRoom(IoSocket* socket) {
  State& state = sockets_[socket];
  if (state.awaits_room) return 0;
  state.awaits_room = true;
  if (!Arm(socket, &state)) {
    state.awaits_room = false;
    return -errno;
  }
  ++awaiting_room_;
  return 0;
}

Status PlainIo::RegisterMemory(ByteSpan) {
  return Status(StatusCode::kUnavailable, "plain sockets have no registered memory");
}

Status PlainIo::Watch(int descriptor, void (*readable)(void*), void* context) {
  watch_ = {readable, context};
  return Poll(descriptor, &watch_);
}

Status PlainIo::WakeBy(int descriptor) { return Poll(descriptor, nullptr); }

Status PlainIo::Poll(int descriptor, void* data) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = data;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0
             ? Status()
             : SocketFailure("epoll_ctl", errno);
}

bool PlainIo::Progress() {
  bool any = false;
  // Where ranks share processors, looks at sockets without anything take from another rank's time.
  if (sockets_.size() <= rules::kTcpFewSockets && !shares_processor_) {
    // OnRead may add a socket, but removes none.
    decltype(sockets_)::value_type* few[rules::kTcpFewSockets];
    size_t count = 0;
    for (auto& each : sockets_) few[count++] = &each;
    for (size_t i = 0; i < count; ++i) any |= ReadAll(few[i]->first, &few[i]->second);
    if (++looks_ % rules::kTcpLooksPerPoll != 0 && awaiting_room_ == 0) return any;
  }
  epoll_event events[kEvents];
  const int ready = epoll_wait(epoll_, events, kEvents, 0);
  for (int i = 0; i < ready; ++i) {
    if (events[i].data.ptr == nullptr) continue;
    any = true;
    if (events[i].data.ptr == &watch_) {
      watch_.readable(watch_.context);
    } else {
      HandleEvents(static_cast<IoSocket*>(events[i].data.ptr), events[i].events);
    }
  }
  return any;
}

void PlainIo::Await(int microseconds) { SleepUntilReadable(epoll_, microseconds); }

// Registers the events that the socket waits for. A socket without any is removed: a broken one
// would be reported all the time. False, with errno, if the system refuses a new one: that takes
// memory, and a change of events or a removal takes none.
bool PlainIo::Arm(IoSocket* socket, State* state) {
  epoll_event event{};
  if (!state->ended && !state->reading) event.events |= EPOLLIN;
  if (state->awaits_room) event.events |= EPOLLOUT;
  const bool wanted = event.events != 0 || state->reading;
  if (!wanted && !state->listed) return true;
  event.data.ptr = socket;
  const int change = !wanted ? EPOLL_CTL_DEL : (state->listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
  if (epoll_ctl(epoll_, change, socket->socket(), &event) != 0) return false;
  state->listed = wanted;
  return true;
}

// Until there is no more, or the others should have their turn. True if anything has come.
bool PlainIo::ReadAll(IoSocket* socket, State* state) {
  for (int reads = 0; reads < rules::kTcpReadsInARow; ++reads) {
    if (state->ended || state->reading) return reads > 0;
    state->reading = StartRead(socket);
    if (state->reading) {
      BRIGADE_CHECK(Arm(socket, state));
      return true;
    }
    msghdr message{};
    iovec targets[2];
    message.msg_iov = targets;
    message.msg_iovlen = static_cast<size_t>(socket->ReadTargets(targets));
    size_t room = 0;
    for (size_t i = 0; i < message.msg_iovlen; ++i) room += targets[i].iov_len;
    const ssize_t read = recvmsg(socket->socket(), &message, MSG_DONTWAIT);
    const ssize_t result = read >= 0 ? read : -errno;
    if (result == -EINTR) continue;
    if (result == -EAGAIN) return reads > 0;
    ReportRead(socket, state, result);
    if (result != static_cast<ssize_t>(room)) return true;
  }
  return true;
}

void PlainIo::ReportRead(IoSocket* socket, State* state, ssize_t read) {
  state->ended = read <= 0;
  if (state->ended) BRIGADE_CHECK(Arm(socket, state));
  socket->OnRead(read);
}

void PlainIo::OnReadDone(IoSocket* socket, ssize_t result) {
  State& state = sockets_[socket];
  state.reading = false;
  BRIGADE_CHECK(Arm(socket, &state));
  if (result != -EAGAIN) ReportRead(socket, &state, result);
}

// A callback never removes a socket, so both may run.
void PlainIo::HandleEvents(IoSocket* socket, uint32_t events) {
  State& state = sockets_[socket];
  const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  if ((events & EPOLLIN) != 0 || broken) ReadAll(socket, &state);
  if (((events & EPOLLOUT) == 0 && !broken) || !state.awaits_room) return;
  const iovec* const ranges = state.ranges;
  ssize_t written = 0;
  if (ranges != nullptr) written = WriteNow(*socket, ranges, static_cast<size_t>(state.count));
  if (written == -EAGAIN) return;
  state.ranges = nullptr;
  state.awaits_room = false;
  --awaiting_room_;
  BRIGADE_CHECK(Arm(socket, &state));
  if (ranges != nullptr) socket->OnWritten(written);
}

}  // namespace brigade
