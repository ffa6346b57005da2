#include "transport/tcp/io/read_trial.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/host/start_thread.h"
#include "transport/rules.h"
#include "transport/tcp/io/socket_io.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongest(50);
// A network brings a segment in parts.
constexpr size_t kPartBytes = size_t{16} << 10;

// While one exists, this thread runs on one processor, and so do the threads that it starts.
class OnOneProcessor {
 public:
  OnOneProcessor() {
    cpu_set_t here;
    CPU_ZERO(&here);
    const int processor = sched_getcpu();
    if (processor >= 0) CPU_SET(processor, &here);
    is_bound_ = sched_getaffinity(0, sizeof(before_), &before_) == 0 &&
                sched_setaffinity(0, sizeof(here), &here) == 0;
  }
  ~OnOneProcessor() {
    if (is_bound_) sched_setaffinity(0, sizeof(before_), &before_);
  }
  OnOneProcessor(const OnOneProcessor&) = delete;
  OnOneProcessor& operator=(const OnOneProcessor&) = delete;

 private:
  cpu_set_t before_;
  bool is_bound_ = false;
};

// A thread that writes a segment to a socket for each byte that it reads from there.
class Writer {
 public:
  // `socket`: this object's from here on.
  Writer(int socket, size_t segment_bytes) : socket_(socket), segment_(segment_bytes) {}
  ~Writer() {
    shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(socket_);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Status Start() {
    return StartThread([this] { Run(); }, &thread_);
  }

 private:
  void Run() const {
    char request = 0;
    while (recv(socket_, &request, sizeof(request), 0) == sizeof(request)) {
      for (size_t at = 0; at < segment_.size();) {
        const size_t bytes = std::min(kPartBytes, segment_.size() - at);
        const ssize_t sent = send(socket_, &segment_[at], bytes, MSG_NOSIGNAL);
        if (sent < 0) return;
        at += static_cast<size_t>(sent);
        sched_yield();  // the reader may find this part before the next one comes
      }
    }
  }

  const int socket_;
  const std::vector<std::byte> segment_;
  std::thread thread_;
};

// The end of the connection that reads.
class Reader : public IoSocket {
 public:
  Reader(int socket, std::vector<std::byte>* segment) : IoSocket(socket), segment_(segment) {}

  int ReadTargets(iovec targets[2]) override {
    targets[0] = {segment_->data() + bytes_, segment_->size() - bytes_};
    targets[1] = {&beyond_, sizeof(beyond_)};
    return 2;
  }
  void OnRead(ssize_t result) override {
    if (result > 0) bytes_ += static_cast<size_t>(result);
  }
  void OnWritten(ssize_t) override {}

  // Returns the time of a segment in us; negative if none has come before `end`.
  double Time(SocketIo* io, bool shares_processor, Clock::time_point end) {
    bytes_ = 0;
    const Clock::time_point start = Clock::now();
    const char request = 0;
    if (send(socket(), &request, sizeof(request), MSG_NOSIGNAL) < 0) return -1;
    for (int idle = 0; bytes_ < segment_->size();) {
      idle = io->Progress() ? 0 : idle + 1;
      if (idle == 0) continue;
      if (Clock::now() > end) return -1;
      // Where processors are shared, a network usually takes longer for a part than a rank yields.
      if (shares_processor) {
        io->Await(rules::kTcpFirstSleepUs);
      } else if (idle > static_cast<int>(rules::kSpins)) {
        sched_yield();
      }
    }
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }

 private:
  std::vector<std::byte>* const segment_;
  size_t bytes_ = 0;  // of the segment, that have come
  char beyond_ = 0;   // behind a segment nothing comes
};

float MedianOf(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return static_cast<float>(*middle);
}

Status Measure(SocketIo* io, Reader* reader, bool shares_processor, ReadTimes* times) {
  const Clock::time_point end = Clock::now() + kLongest;
  std::vector<double> of_ring;
  std::vector<double> of_plain;
  for (int i = 0; i <= rules::kReadTrials; ++i) {
    for (const bool by_ring : {true, false}) {
      io->UseRing(by_ring);
      const double us = reader->Time(io, shares_processor, end);
      if (us < 0) return Status(StatusCode::kUnavailable, "a trial of reads took too long");
      if (i > 0) (by_ring ? of_ring : of_plain).push_back(us);  // the first one touches memory
    }
  }
  *times = {MedianOf(of_ring), MedianOf(of_plain)};
  return Status();
}

}  // namespace

Status TryReads(bool shares_processor, ReadTimes* times) {
  // io_uring reads any segment where ranks share processors, and long registered ones elsewhere.
  std::vector<std::byte> segment(shares_processor ? rules::kTcpWriteUnitBytes
                                                  : rules::kTcpSegmentBytes);
  std::unique_ptr<SocketIo> io;
  BRIGADE_RETURN_IF_ERROR(CreateUringIo(&io));
  io->ShareProcessor(shares_processor);
  if (!shares_processor) {
    BRIGADE_RETURN_IF_ERROR(io->RegisterMemory({segment.data(), segment.size()}));
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return SocketFailure("socketpair", errno);
  }
  Reader reader(sockets[0], &segment);
  Writer writer(sockets[1], segment.size());
  fcntl(sockets[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<OnOneProcessor> bound;
  if (shares_processor) bound = std::make_unique<OnOneProcessor>();
  BRIGADE_RETURN_IF_ERROR(writer.Start());
  BRIGADE_RETURN_IF_ERROR(io->Add(&reader));
  const Status status = Measure(io.get(), &reader, shares_processor, times);
  io->Remove(&reader);
  return status;
}

}  // namespace brigade
