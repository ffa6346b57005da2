// Sockets driven by io_uring.
//
// Reads lie armed in the kernel, one a socket, and land where their bytes belong while this rank
// computes: the rest of a piece in one operation that ends when all of it is there, long ones in
// registered memory as READ_FIXED. A write goes out by a plain call as far as the socket takes it,
// which is the cheapest; what is left is SENDMSG, which goes on by itself. WRITE_FIXED would raise
// SIGPIPE, which a library cannot allow, when the peer is gone.

#include <liburing.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/socket_io.h"

namespace brigade {
namespace {

constexpr unsigned kEntries = 256;
// A read into registered memory ends with every part that comes; shorter ones should end once, with
// the last.
constexpr size_t kFixedReadBytes = size_t{64} << 10;
// Shorter rests of a piece are read together with what comes behind them.
constexpr size_t kWholeReadBytes = 1024;

Status RingFailure(const char* call, int error) {
  return Status(StatusCode::kUnavailable,
                std::string("io_uring: ") + call + ": " + std::strerror(-error));
}

// What the kernel may be told to do with one socket in one direction.
struct Operation {
  enum class Kind { kRead, kWrite, kWatch };
  Kind kind = Kind::kRead;
  IoSocket* socket = nullptr;
  bool under_way = false;
  bool cancelled = false;  // nobody hears of it
  msghdr message{};
  iovec targets[2] = {};
};

struct Operations {
  Operation read;
  Operation write;
  bool ended = false;  // nothing more is read
};

}  // namespace

class UringIo : public SocketIo {
 public:
  explicit UringIo(const io_uring& ring) : ring_(ring) {}
  ~UringIo() override { io_uring_queue_exit(&ring_); }

  const char* name() const override { return "io_uring"; }

  Status Add(IoSocket* socket) override {
    auto operations = std::make_unique<Operations>();
    operations->read.socket = operations->write.socket = socket;
    operations->write.kind = Operation::Kind::kWrite;
    Operations* const added = operations.get();
    sockets_[socket] = std::move(operations);
    socket->operations_ = added;
    StartRead(added);
    Submit();
    return Status();
  }

  void Remove(IoSocket* socket) override {
    Operations* const operations = OperationsOf(socket);
    Cancel(&operations->read);
    Cancel(&operations->write);
    for (Result& result : results_) {
      if (result.operation->socket == socket) result.operation->cancelled = true;
    }
    DropCancelled();
    sockets_.erase(socket);
  }

  ssize_t Write(IoSocket* socket, const iovec* ranges, int count) override {
    Operation* const write = &OperationsOf(socket)->write;
    BRIGADE_CHECK(!write->under_way);
    const ssize_t written = WriteNow(*socket, ranges, static_cast<size_t>(count));
    if (written != -EAGAIN) return written;
    write->message.msg_iov = const_cast<iovec*>(ranges);
    write->message.msg_iovlen = static_cast<size_t>(count);
    StartWrite(write);
    Submit();
    return kUnderWay;
  }

  void CancelRead(IoSocket* socket) override {
    Operations* const operations = OperationsOf(socket);
    if (!operations->read.under_way) return;
    CancelAndWait(&operations->read);
    // What had come is told as always, but now, and not by Progress.
    for (auto result = results_.begin(); result != results_.end(); ++result) {
      if (result->operation != &operations->read) continue;
      const int bytes = result->bytes;
      results_.erase(result);
      TellRead(operations, bytes);
      break;
    }
    if (!operations->ended) unarmed_.push_back(socket);
  }

  Status RegisterMemory(ByteSpan memory) override {
    DeregisterMemory();
    const iovec range{memory.data, memory.bytes};
    const int error = io_uring_register_buffers(&ring_, &range, 1);
    if (error == -ENOMEM || error == -EAGAIN) {
      return Status(StatusCode::kOutOfMemory,
                    "io_uring: no room for " + std::to_string(memory.bytes) +
                        " bytes under the limit of locked memory (RLIMIT_MEMLOCK)");
    }
    if (error != 0) return RingFailure("io_uring_register_buffers", error);
    registered_ = memory;
    return Status();
  }
  void DeregisterMemory() override {
    if (registered_.bytes > 0) io_uring_unregister_buffers(&ring_);
    registered_ = ByteSpan();
  }

  void Watch(int descriptor, void (*readable)(void*), void* context) override {
    watch_.kind = Operation::Kind::kWatch;
    watched_ = {descriptor, readable, context};
    StartWatch();
    Submit();
  }

  bool Progress() override {
    Rearm();
    Collect();
    if (results_.empty()) return false;
    // Callbacks start operations whose results may come at once; those are for the next time.
    std::vector<Result> results;
    results.swap(results_);
    for (const Result& result : results) Finish(result);
    Submit();
    return true;
  }

  // One call submits and sleeps.
  void Wait(int microseconds) override {
    Rearm();
    __kernel_timespec limit{microseconds / 1000000, microseconds % 1000000 * 1000};
    io_uring_cqe* cqe = nullptr;
    (void)io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &limit, nullptr);
    must_submit_ = io_uring_sq_ready(&ring_) > 0;
  }
  void Await(int microseconds) override { SleepUntilReadable(ring_.ring_fd, microseconds); }

 private:
  struct Result {
    Operation* operation;
    int bytes;
  };
  struct Watched {
    int descriptor = -1;
    void (*readable)(void*) = nullptr;
    void* context = nullptr;
  };

  static Operations* OperationsOf(IoSocket* socket) {
    return static_cast<Operations*>(socket->operations_);
  }

  io_uring_sqe* NextEntry() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (sqe != nullptr) return sqe;
    Submit();
    sqe = io_uring_get_sqe(&ring_);
    BRIGADE_CHECK(sqe != nullptr);
    return sqe;
  }

  void Start(io_uring_sqe* sqe, Operation* operation) {
    io_uring_sqe_set_data(sqe, operation);
    operation->under_way = true;
    must_submit_ = true;
  }

  void Submit() {
    while (must_submit_) {
      const int submitted = io_uring_submit(&ring_);
      // Busy: results must be taken first.
      if (submitted == -EBUSY || submitted == -EAGAIN) {
        Collect();
        continue;
      }
      if (submitted == -EINTR) continue;
      BRIGADE_CHECK(submitted >= 0);
      must_submit_ = io_uring_sq_ready(&ring_) > 0;
    }
  }

  void StartRead(Operations* operations) {
    Operation* const read = &operations->read;
    const int count = read->socket->ReadTargets(read->targets);
    io_uring_sqe* const sqe = NextEntry();
    const iovec& first = read->targets[0];
    const auto* const begin = static_cast<const std::byte*>(first.iov_base);
    if (first.iov_len >= kFixedReadBytes && begin >= registered_.data &&
        begin + first.iov_len <= registered_.data + registered_.bytes) {
      io_uring_prep_read_fixed(sqe, read->socket->socket(), first.iov_base,
                               static_cast<unsigned>(first.iov_len), /*offset=*/0,
                               /*buf_index=*/0);
    } else if (count == 1 || first.iov_len >= kWholeReadBytes) {
      // The rest of a piece is waited for in the kernel; a buffer takes what there is.
      io_uring_prep_recv(sqe, read->socket->socket(), first.iov_base, first.iov_len,
                         count == 1 ? 0 : MSG_WAITALL);
    } else {
      read->message = msghdr{};
      read->message.msg_iov = read->targets;
      read->message.msg_iovlen = 2;
      io_uring_prep_recvmsg(sqe, read->socket->socket(), &read->message, 0);
    }
    Start(sqe, read);
  }

  void StartWrite(Operation* write) {
    io_uring_sqe* const sqe = NextEntry();
    io_uring_prep_sendmsg(sqe, write->socket->socket(), &write->message,
                          MSG_NOSIGNAL | MSG_WAITALL);
    Start(sqe, write);
  }

  void StartWatch() {
    io_uring_sqe* const sqe = NextEntry();
    io_uring_prep_poll_add(sqe, watched_.descriptor, POLLIN);
    Start(sqe, &watch_);
  }

  // Reads that CancelRead took back.
  void Rearm() {
    for (IoSocket* socket : std::exchange(unarmed_, {})) {
      auto operations = sockets_.find(socket);
      if (operations != sockets_.end() && !operations->second->read.under_way) {
        StartRead(operations->second.get());
      }
    }
    Submit();
  }

  // Takes results from the ring.
  void Collect() {
    io_uring_cqe* cqe = nullptr;
    while (io_uring_peek_cqe(&ring_, &cqe) == 0) {
      auto* const operation = static_cast<Operation*>(io_uring_cqe_get_data(cqe));
      if (operation != nullptr) {
        operation->under_way = false;
        results_.push_back({operation, cqe->res});
      }
      io_uring_cqe_seen(&ring_, cqe);
    }
  }

  void Finish(const Result& result) {
    if (result.operation->cancelled) return;
    switch (result.operation->kind) {
      case Operation::Kind::kRead:
        FinishRead(OperationsOf(result.operation->socket), result.bytes);
        return;
      case Operation::Kind::kWrite:
        if (IsToRepeat(result.bytes)) {
          StartWrite(result.operation);
        } else {
          result.operation->socket->OnWritten(result.bytes);
        }
        return;
      case Operation::Kind::kWatch:
        watched_.readable(watched_.context);
        StartWatch();
        return;
    }
  }

  // The kernel gives up an operation whose thread has ended; here, drivers come and go.
  static bool IsToRepeat(int result) {
    return result == -EINTR || result == -EAGAIN || result == -ECANCELED;
  }

  static void TellRead(Operations* operations, int bytes) {
    if (IsToRepeat(bytes)) return;
    if (bytes <= 0) operations->ended = true;
    operations->read.socket->OnRead(bytes);
  }

  void FinishRead(Operations* operations, int bytes) {
    TellRead(operations, bytes);
    if (!operations->ended) StartRead(operations);
  }

  // Waits for an operation that the kernel was asked to give up; it does so at once.
  void CancelAndWait(Operation* operation) {
    io_uring_sqe* const sqe = NextEntry();
    io_uring_prep_cancel(sqe, operation, 0);
    io_uring_sqe_set_data(sqe, nullptr);
    must_submit_ = true;
    Submit();
    while (operation->under_way) {
      io_uring_cqe* cqe = nullptr;
      (void)io_uring_wait_cqe(&ring_, &cqe);
      Collect();
    }
  }

  void Cancel(Operation* operation) {
    if (operation->under_way) CancelAndWait(operation);
    operation->cancelled = true;
  }

  void DropCancelled() {
    std::vector<Result> kept;
    for (const Result& result : results_) {
      if (!result.operation->cancelled) kept.push_back(result);
    }
    results_.swap(kept);
  }

  io_uring ring_;
  bool must_submit_ = false;
  ByteSpan registered_;
  std::unordered_map<IoSocket*, std::unique_ptr<Operations>> sockets_;
  std::vector<IoSocket*> unarmed_;
  std::vector<Result> results_;
  Operation watch_;
  Watched watched_;
};

Status CreateUringIo(std::unique_ptr<SocketIo>* io) {
  io_uring ring;
  // The kernel finishes reads when this rank next enters it, and says that it wants to, instead of
  // interrupting it: an interrupt costs more than the read. While the rank computes that is the
  // next timer tick. Older kernels interrupt.
  int error =
      io_uring_queue_init(kEntries, &ring, IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG);
  if (error == -EINVAL) error = io_uring_queue_init(kEntries, &ring, 0);
  if (error != 0) return RingFailure("io_uring_queue_init", error);
  std::unique_ptr<io_uring_probe, decltype(&io_uring_free_probe)> probe(
      io_uring_get_probe_ring(&ring), &io_uring_free_probe);
  for (const int opcode : {IORING_OP_READ_FIXED, IORING_OP_RECV, IORING_OP_RECVMSG,
                           IORING_OP_SENDMSG, IORING_OP_POLL_ADD, IORING_OP_ASYNC_CANCEL}) {
    if (probe != nullptr && io_uring_opcode_supported(probe.get(), opcode)) continue;
    io_uring_queue_exit(&ring);
    return Status(StatusCode::kUnavailable,
                  "io_uring: this kernel lacks operation " + std::to_string(opcode));
  }
  *io = std::make_unique<UringIo>(ring);
  return Status();
}

}  // namespace brigade
