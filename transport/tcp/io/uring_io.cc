// Reads and writes on sockets through io_uring.
//
// Reads are plain calls, as in PlainIo: they are faster than reads posted to the ring, with two
// exceptions. (1) A long read into registered memory is READ_FIXED, which proceeds while this rank
// computes. (2) If ranks share processors, the ring reads the rest of a segment, and completes when
// all of it has come. UseRing(false) drops both. Writes are plain calls, too: the ring would
// continue a write in the thread that began it, which may compute, instead of the thread that makes
// progress.

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/rules.h"
#include "transport/tcp/io/plain_io.h"
#include "transport/tcp/io/uring_library.h"

namespace brigade {
namespace {

constexpr unsigned kEntries = 256;
constexpr long kKickNanoseconds = 1000000;

Status RingFailure(const char* call, int error) {
  return Status(StatusCode::kUnavailable,
                std::string("io_uring: ") + call + ": " + std::strerror(-error));
}

// The pending read of a socket in the ring, if any.
struct Operation {
  IoSocket* socket = nullptr;
  bool under_way = false;
};

}  // namespace

class UringIo : public PlainIo {
 public:
  explicit UringIo(const io_uring& ring) : ring_(ring) {}
  ~UringIo() override { library_.io_uring_queue_exit(&ring_); }

  Status Open() {
    BRIGADE_RETURN_IF_ERROR(PlainIo::Open());
    return WakeBy(ring_.ring_fd);
  }

  Status Add(IoSocket* socket) override {
    BRIGADE_RETURN_IF_ERROR(PlainIo::Add(socket));
    reads_[socket] = std::make_unique<Operation>(Operation{socket});
    return Status();
  }

  void Remove(IoSocket* socket) override {
    Operation* const read = reads_[socket].get();
    if (read->under_way) CancelAndWait(read);
    results_.erase(
        std::remove_if(results_.begin(), results_.end(),
                       [&](const Result& result) { return result.operation->socket == socket; }),
        results_.end());
    reads_.erase(socket);
    PlainIo::Remove(socket);
  }

  void CancelRead(IoSocket* socket) override {
    Operation* const read = reads_[socket].get();
    if (read->under_way) CancelAndWait(read);
    // OnRead is called for bytes that had come, now instead of in Progress.
    const auto found = std::find_if(results_.begin(), results_.end(),
                                    [&](const Result& result) { return result.operation == read; });
    if (found == results_.end()) return;
    const int bytes = found->bytes;
    results_.erase(found);
    FinishRead(socket, bytes);
  }

  Status RegisterMemory(ByteSpan memory) override {
    DeregisterMemory();
    const iovec range{memory.data, memory.bytes};
    const int error = library_.io_uring_register_buffers(&ring_, &range, 1);
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
    if (registered_.bytes > 0) library_.io_uring_unregister_buffers(&ring_);
    registered_ = ByteSpan();
  }

  void UseRing(bool uses) override { uses_ring_ = uses; }

  bool Progress() override {
    bool any = PlainIo::Progress();
    if (under_way_ > 0) Collect();
    // Callbacks start operations whose results may come at once; these are handled next time.
    for (const Result& result : std::exchange(results_, {})) {
      FinishRead(result.operation->socket, result.bytes);
      any = true;
    }
    return any;
  }

 private:
  struct Result {
    Operation* operation;
    int bytes;
  };

  io_uring_sqe* NextEntry() {
    io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
    BRIGADE_CHECK(sqe != nullptr);  // each is submitted at once
    return sqe;
  }

  void Start(io_uring_sqe* sqe, Operation* operation) {
    io_uring_sqe_set_data(sqe, operation);
    operation->under_way = true;
    ++under_way_;
    Submit();
  }

  void Submit() {
    while (io_uring_sq_ready(&ring_) > 0) {
      const int submitted = library_.io_uring_submit(&ring_);
      // Busy: results must be taken first. Without memory: the kernel gets time to free some.
      if (submitted == -EBUSY || submitted == -EAGAIN) Collect();
      if (submitted == -EAGAIN) sched_yield();
      BRIGADE_CHECK(submitted >= 0 || submitted == -EBUSY || submitted == -EAGAIN ||
                    submitted == -EINTR);
    }
  }

  bool StartRead(IoSocket* socket) override {
    if (!uses_ring_ || (registered_.bytes == 0 && !shares_processor())) return false;
    iovec targets[2];
    const bool in_segment = socket->ReadTargets(targets) == 2;
    const iovec& rest = targets[0];
    const auto* const begin = static_cast<const std::byte*>(rest.iov_base);
    // READ_FIXED ends with every part that comes, the other read once.
    const bool fixed = rest.iov_len >= rules::kUringFixedReadBytes && begin >= registered_.data &&
                       begin + rest.iov_len <= registered_.data + registered_.bytes;
    const bool whole =
        in_segment && shares_processor() && rest.iov_len >= rules::kUringWholeReadBytes;
    if (!fixed && !whole) return false;
    io_uring_sqe* const sqe = NextEntry();
    if (fixed) {
      io_uring_prep_read_fixed(sqe, socket->socket(), rest.iov_base,
                               static_cast<unsigned>(rest.iov_len), /*offset=*/0,
                               /*buf_index=*/0);
    } else {
      io_uring_prep_recv(sqe, socket->socket(), rest.iov_base, rest.iov_len, MSG_WAITALL);
    }
    Start(sqe, reads_[socket].get());
    return true;
  }

  // Takes results from the ring, as io_uring_peek_cqe does, which would want the library linked.
  void Collect() {
    io_uring_cqe* cqe = nullptr;
    while (library_.__io_uring_get_cqe(&ring_, &cqe, /*submit=*/0, /*wait_nr=*/0, nullptr) == 0) {
      auto* const operation = static_cast<Operation*>(io_uring_cqe_get_data(cqe));
      --under_way_;
      if (operation != nullptr) {
        operation->under_way = false;
        results_.push_back({operation, cqe->res});
      }
      io_uring_cqe_seen(&ring_, cqe);
    }
  }

  void FinishRead(IoSocket* socket, int bytes) {
    OnReadDone(socket, IsToRepeat(bytes) ? -EAGAIN : bytes);
  }

  // The kernel cancels an operation whose thread has ended. A thread that makes progress may end
  // while the operation is pending.
  static bool IsToRepeat(int result) {
    return result == -EINTR || result == -EAGAIN || result == -ECANCELED;
  }

  // Cancels an operation and waits for its end. The kernel cancels it in the thread that began it,
  // when that enters the kernel: membarrier forces a computing thread to.
  void CancelAndWait(Operation* operation) {
    io_uring_sqe* const sqe = NextEntry();
    io_uring_prep_cancel(sqe, operation, 0);
    io_uring_sqe_set_data(sqe, nullptr);
    ++under_way_;
    Submit();
    while (operation->under_way) {
      syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
      io_uring_cqe* cqe = nullptr;
      __kernel_timespec limit{0, kKickNanoseconds};
      (void)library_.io_uring_wait_cqe_timeout(&ring_, &cqe, &limit);
      Collect();
    }
  }

  const UringLibrary& library_ = Liburing();
  io_uring ring_;
  ByteSpan registered_;
  std::unordered_map<IoSocket*, std::unique_ptr<Operation>> reads_;
  std::vector<Result> results_;
  int under_way_ = 0;  // in the ring
  bool uses_ring_ = true;
};

Status CreateUringIo(std::unique_ptr<SocketIo>* io) {
  const UringLibrary& library = Liburing();
  BRIGADE_RETURN_IF_ERROR(library.status());
  io_uring ring;
  // The kernel completes reads when this rank next enters it, and sets a flag, instead of
  // interrupting the rank: an interrupt costs more than the read. While the rank computes it enters
  // the kernel at the next timer tick. Older kernels interrupt.
  int error = library.io_uring_queue_init(kEntries, &ring,
                                          IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG);
  if (error == -EINVAL) error = library.io_uring_queue_init(kEntries, &ring, 0);
  if (error != 0) return RingFailure("io_uring_queue_init", error);
  std::unique_ptr<io_uring_probe, decltype(&io_uring_free_probe)> probe(
      library.io_uring_get_probe_ring(&ring), library.io_uring_free_probe);
  for (const int opcode : {IORING_OP_READ_FIXED, IORING_OP_RECV, IORING_OP_ASYNC_CANCEL}) {
    if (probe != nullptr && io_uring_opcode_supported(probe.get(), opcode)) continue;
    library.io_uring_queue_exit(&ring);
    return Status(StatusCode::kUnavailable,
                  "io_uring: this kernel lacks operation " + std::to_string(opcode));
  }
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);  // for CancelAndWait
  auto created = std::make_unique<UringIo>(ring);
  BRIGADE_RETURN_IF_ERROR(created->Open());
  *io = std::move(created);
  return Status();
}

}  // namespace brigade
