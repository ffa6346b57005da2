#include "bench/contenders/bare_ring.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>

namespace brigade::bench {
namespace {

constexpr size_t kCacheLineBytes = 64;
constexpr int kSlots = 8;

// On a line of its own, so that a side's stores disturb the other only when they mean something.
struct alignas(kCacheLineBytes) Counter {
  std::atomic<uint64_t> count{0};
};

void WaitFor(const std::atomic<uint64_t>& count, uint64_t wanted) {
  constexpr int kSpins = 10000;
  for (int polls = 0; count.load(std::memory_order_acquire) != wanted; ++polls) {
    if (polls >= kSpins) {
      sched_yield();
      continue;
    }
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

// Walks over the bytes of a panel, column after column.
class Cursor {
 public:
  explicit Cursor(const PanelView& panel)
      : run_bytes_(panel.contiguous() ? panel.bytes() : panel.rows * sizeof(double)),
        stride_bytes_(panel.ld * sizeof(double)),
        run_(reinterpret_cast<std::byte*>(panel.data)) {}

  void CopyTo(std::byte* packed, size_t bytes) {
    Walk(bytes, [&packed](std::byte* user, size_t here) {
      std::memcpy(packed, user, here);
      packed += here;
    });
  }
  void CopyFrom(const std::byte* packed, size_t bytes) {
    Walk(bytes, [&packed](std::byte* user, size_t here) {
      std::memcpy(user, packed, here);
      packed += here;
    });
  }

 private:
  template <typename Copy>
  void Walk(size_t bytes, Copy copy) {
    while (bytes > 0) {
      const size_t here = std::min(run_bytes_ - offset_, bytes);
      copy(run_ + offset_, here);
      bytes -= here;
      offset_ += here;
      if (offset_ == run_bytes_) {
        offset_ = 0;
        run_ += stride_bytes_;
      }
    }
  }

  const size_t run_bytes_;
  const size_t stride_bytes_;
  std::byte* run_;
  size_t offset_ = 0;
};

}  // namespace

struct BareRing::Lane {
  // The lap in which a slot was last filled, and last emptied, counted from 1.
  Counter full[kSlots];
  Counter empty[kSlots];
  struct alignas(kCacheLineBytes) {
    std::atomic<uint64_t> message{0};
    std::byte payload[kLineBytes];
  } line;
  alignas(kCacheLineBytes) std::byte slots[kSlots][kLargestSlotBytes];
};

BareRing::BareRing(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_split(comm, rank <= 1 ? 0 : MPI_UNDEFINED, rank, &pair_);
  if (pair_ == MPI_COMM_NULL) return;

  size_t room = 2 * sizeof(Lane) + kCacheLineBytes;
  void* memory;
  MPI_Win_allocate_shared(rank == 0 ? static_cast<MPI_Aint>(room) : 0, 1, MPI_INFO_NULL, pair_,
                          &memory, &window_);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(window_, 0, &bytes, &unit, &memory);
  // Both sides map it at the same place in a page, hence align it alike.
  Lane* lanes = static_cast<Lane*>(std::align(kCacheLineBytes, 2 * sizeof(Lane), memory, room));
  if (rank == 0) {
    new (&lanes[0]) Lane;
    new (&lanes[1]) Lane;
  }
  MPI_Barrier(pair_);
  out_.lane = &lanes[rank];
  in_.lane = &lanes[1 - rank];
}

BareRing::~BareRing() {
  if (pair_ == MPI_COMM_NULL) return;
  MPI_Win_free(&window_);
  MPI_Comm_free(&pair_);
}

void BareRing::Send(const PanelView& panel, size_t slot_bytes) {
  Lane& lane = *out_.lane;
  Cursor cursor(panel);
  const size_t bytes = panel.bytes();
  if (bytes <= kLineBytes) {
    cursor.CopyTo(lane.line.payload, bytes);
    lane.line.message.store(++out_.messages, std::memory_order_release);
    return;
  }
  for (size_t sent = 0; sent < bytes; sent += slot_bytes) {
    const uint64_t lap = out_.slots / kSlots;
    const size_t slot = out_.slots++ % kSlots;
    WaitFor(lane.empty[slot].count, lap);
    cursor.CopyTo(lane.slots[slot], std::min(slot_bytes, bytes - sent));
    lane.full[slot].count.store(lap + 1, std::memory_order_release);
  }
}

void BareRing::Receive(const PanelView& panel, size_t slot_bytes) {
  Lane& lane = *in_.lane;
  Cursor cursor(panel);
  const size_t bytes = panel.bytes();
  if (bytes <= kLineBytes) {
    WaitFor(lane.line.message, ++in_.messages);
    cursor.CopyFrom(lane.line.payload, bytes);
    return;
  }
  for (size_t received = 0; received < bytes; received += slot_bytes) {
    const uint64_t lap = in_.slots / kSlots;
    const size_t slot = in_.slots++ % kSlots;
    WaitFor(lane.full[slot].count, lap + 1);
    cursor.CopyFrom(lane.slots[slot], std::min(slot_bytes, bytes - received));
    lane.empty[slot].count.store(lap + 1, std::memory_order_release);
  }
}

}  // namespace brigade::bench
