// Sockets by readiness (epoll), for kernels and containers without io_uring.

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "membuf/check.h"
#include "transport/socket_io.h"

namespace brigade {
namespace {

constexpr int kEvents = 64;
// Of one socket that has more and more, before the others have their turn.
constexpr int kReadsInARow = 8;

}  // namespace

class PlainIo : public SocketIo {
 public:
  explicit PlainIo(int epoll) : epoll_(epoll) {}
  ~PlainIo() override { close(epoll_); }

  const char* name() const override { return "sockets"; }

  Status Add(IoSocket* socket) override {
    State& state = sockets_[socket];
    if (Arm(socket, &state)) return Status();
    const int error = errno;
    sockets_.erase(socket);
    return SocketFailure("epoll_ctl", error);
  }

  void Remove(IoSocket* socket) override {
    if (sockets_[socket].listed) epoll_ctl(epoll_, EPOLL_CTL_DEL, socket->socket(), nullptr);
    sockets_.erase(socket);
  }

  ssize_t Write(IoSocket* socket, const iovec* ranges, int count) override {
    const ssize_t written = WriteNow(*socket, ranges, static_cast<size_t>(count));
    if (written != -EAGAIN) return written;
    State& state = sockets_[socket];
    state.ranges = ranges;
    state.count = count;
    BRIGADE_CHECK(Arm(socket, &state));
    return kUnderWay;
  }

  void CancelRead(IoSocket*) override {}  // none is ever under way between two calls

  Status RegisterMemory(ByteSpan) override {
    return Status(StatusCode::kUnavailable, "plain sockets know no registered memory");
  }
  void DeregisterMemory() override {}

  void Watch(int descriptor, void (*readable)(void*), void* context) override {
    watch_ = {readable, context};
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    BRIGADE_CHECK(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0);
  }

  bool Progress() override {
    epoll_event events[kEvents];
    const int ready = epoll_wait(epoll_, events, kEvents, 0);
    for (int i = 0; i < ready; ++i) {
      if (events[i].data.ptr == nullptr) {
        watch_.readable(watch_.context);
      } else {
        Serve(static_cast<IoSocket*>(events[i].data.ptr), events[i].events);
      }
    }
    return ready > 0;
  }

  void Await(int microseconds) override { SleepUntilReadable(epoll_, microseconds); }

 private:
  struct State {
    const iovec* ranges = nullptr;  // of the write under way
    int count = 0;
    bool ended = false;   // nothing more is read
    bool listed = false;  // by epoll
  };
  struct Watched {
    void (*readable)(void*) = nullptr;
    void* context = nullptr;
  };

  // Asks for what the socket waits for. One that waits for nothing is taken off the list: a broken
  // one would be reported all the time. False, with errno, if the system refuses a new one.
  bool Arm(IoSocket* socket, State* state) {
    epoll_event event{};
    if (!state->ended) event.events |= EPOLLIN;
    if (state->ranges != nullptr) event.events |= EPOLLOUT;
    event.data.ptr = socket;
    const bool wanted = event.events != 0;
    if (!wanted && !state->listed) return true;
    const int change = !wanted ? EPOLL_CTL_DEL : (state->listed ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
    if (epoll_ctl(epoll_, change, socket->socket(), &event) != 0) return false;
    state->listed = wanted;
    return true;
  }

  // True if there may be more to read at once: as much came as was asked for.
  bool ReadOnce(IoSocket* socket, State* state) {
    msghdr message{};
    iovec targets[2];
    message.msg_iov = targets;
    message.msg_iovlen = static_cast<size_t>(socket->ReadTargets(targets));
    size_t room = 0;
    for (size_t i = 0; i < message.msg_iovlen; ++i) room += targets[i].iov_len;
    const ssize_t read = recvmsg(socket->socket(), &message, MSG_DONTWAIT);
    const ssize_t result = read >= 0 ? read : -errno;
    if (result == -EAGAIN) return false;
    if (result <= 0) {
      state->ended = true;
      BRIGADE_CHECK(Arm(socket, state));
    }
    socket->OnRead(result);
    return result == static_cast<ssize_t>(room);
  }

  // A callback never removes a socket, so both may run.
  void Serve(IoSocket* socket, uint32_t events) {
    State& state = sockets_[socket];
    const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
    if (((events & EPOLLIN) != 0 || broken) && !state.ended) {
      for (int reads = 1; ReadOnce(socket, &state) && reads < kReadsInARow; ++reads) {
      }
    }
    if (((events & EPOLLOUT) != 0 || broken) && state.ranges != nullptr) {
      const ssize_t written = WriteNow(*socket, state.ranges, static_cast<size_t>(state.count));
      if (written == -EAGAIN) return;
      state.ranges = nullptr;
      BRIGADE_CHECK(Arm(socket, &state));
      socket->OnWritten(written);
    }
  }

  const int epoll_;
  std::unordered_map<IoSocket*, State> sockets_;
  Watched watch_;
};

Status CreatePlainIo(std::unique_ptr<SocketIo>* io) {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return SocketFailure("epoll_create1", errno);
  *io = std::make_unique<PlainIo>(epoll);
  return Status();
}

}  // namespace brigade
