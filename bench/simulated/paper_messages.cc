#include "bench/simulated/paper_messages.h"

#include <memory>

#include "bench/simulated/timed_group.h"
#include "membuf/check.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/schedule/topology.h"
#include "transport/simulated_processor.h"

namespace brigade::bench {
namespace {

constexpr int kRoundTrips = 4;

StridedLayout LayoutOf(size_t bytes, size_t run_bytes) {
  if (run_bytes == 0) return StridedLayout::Contiguous(bytes);
  const auto rows = static_cast<int64_t>(run_bytes / sizeof(double));
  StridedLayout layout;
  const Status status = StridedLayout::General(rows, static_cast<int64_t>(bytes / run_bytes),
                                               2 * rows, sizeof(double), &layout);
  BRIGADE_CHECK(status.ok());
  return layout;
}

// The matrix and the buffer of one rank, in lengths only: no byte is touched.
class MessageRank {
 public:
  MessageRank(Library library, Endpoint* endpoint, Group* group, const StridedLayout& layout)
      : library_(library),
        processor_(endpoint->simulated_processor()),
        group_(group),
        layout_(layout),
        matrix_(new std::byte[2 * layout.bytes() + 1]),
        buffer_(new std::byte[layout.bytes() + 1]) {}

  Status Send(int peer) {
    if (library_ == Library::kBrigade) return Run(Pattern::kSend, peer, matrix_.get(), layout_);
    Copy(buffer_.get(), matrix_.get());
    return Run(Pattern::kSend, peer, buffer_.get(), Packed());
  }
  Status Receive(int peer) {
    if (library_ == Library::kBrigade) return Run(Pattern::kReceive, peer, matrix_.get(), layout_);
    if (layout_.contiguous()) return Run(Pattern::kReceive, peer, matrix_.get(), layout_);
    BRIGADE_RETURN_IF_ERROR(Run(Pattern::kReceive, peer, buffer_.get(), Packed()));
    Copy(matrix_.get(), buffer_.get());
    return Status();
  }
  // Of a contiguous matrix.
  Status Broadcast(int root, int ranks) {
    if (library_ == Library::kBrigade) {
      PatternCall call;
      call.topology = {Shape::kIncreasingRings, 1};
      return Run(Pattern::kBroadcast, root, matrix_.get(), layout_, call);
    }
    const int rank = group_->rank();
    const int next = (rank + 1) % ranks;
    if (rank == root) return Send(next);
    BRIGADE_RETURN_IF_ERROR(Receive((rank + ranks - 1) % ranks));
    return next == root ? Status() : Run(Pattern::kSend, next, matrix_.get(), layout_);
  }

 private:
  StridedLayout Packed() const { return StridedLayout::Contiguous(layout_.bytes()); }
  void Copy(std::byte* to, const std::byte* from) {
    processor_->Copy(to, from, layout_.bytes(), layout_.run_bytes());
  }
  Status Run(Pattern pattern, int root, std::byte* data, const StridedLayout& layout,
             PatternCall call = PatternCall()) {
    call.pattern = pattern;
    call.root = root;
    call.matrix = {data, layout};
    return group_->Run(call);
  }

  const Library library_;
  SimulatedProcessor* const processor_;
  Group* const group_;
  const StridedLayout layout_;
  const std::unique_ptr<std::byte[]> matrix_;
  const std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace

Status SimulateSend(const MachineDescription& machine, Library library, size_t bytes,
                    size_t run_bytes, double* us) {
  const auto body = [&](Endpoint* endpoint, Group* group, const StartClock& start) -> Status {
    MessageRank rank(library, endpoint, group, LayoutOf(bytes, run_bytes));
    const int peer = 1 - group->rank();
    start();
    for (int i = 0; i < 2 * kRoundTrips; ++i) {
      BRIGADE_RETURN_IF_ERROR(i % 2 == group->rank() ? rank.Send(peer) : rank.Receive(peer));
    }
    return Status();
  };
  BRIGADE_RETURN_IF_ERROR(RunTimed(machine, 2, /*carries_payload=*/false, body, us));
  *us /= 2 * kRoundTrips;
  return Status();
}

Status SimulateRingBroadcasts(const MachineDescription& machine, Library library, int ranks,
                              size_t bytes, double* us) {
  const auto body = [&](Endpoint* endpoint, Group* group, const StartClock& start) -> Status {
    MessageRank rank(library, endpoint, group, LayoutOf(bytes, 0));
    start();
    for (int root = 0; root < ranks; ++root) {
      BRIGADE_RETURN_IF_ERROR(rank.Broadcast(root, ranks));
    }
    return Status();
  };
  return RunTimed(machine, ranks, /*carries_payload=*/false, body, us);
}

}  // namespace brigade::bench
