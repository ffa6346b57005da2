#include "transport/host_memory/copy_trial.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "membuf/strided_layout.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kSegmentBytes = size_t{32} << 10;
constexpr uint32_t kSlots = 8;
// A staged message before all others, so that neither side's page tables lack a slot.
constexpr size_t kAllSlotsBytes = kSlots * kSegmentBytes;
constexpr double kNever = std::numeric_limits<double>::infinity();

template <typename Body>
bool ForEachLength(const Body& body) {
  for (size_t bytes = rules::kLeastKernelCopyBytes; bytes <= rules::kMostKernelCopyBytes;
       bytes *= 2) {
    if (!body(bytes)) return false;
  }
  return true;
}

// Returns the time of the fastest of some copies.
template <typename Copy>
double MicrosecondsOf(const Copy& copy) {
  using Clock = std::chrono::steady_clock;
  double best = kNever;
  for (int i = 0; i < rules::kKernelCopyTrials; ++i) {
    const Clock::time_point start = Clock::now();
    copy();
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return best;
}

KernelCopyRange Estimate() {
  const std::vector<std::byte> from(rules::kMostKernelCopyBytes, std::byte{1});
  std::vector<std::byte> to(rules::kMostKernelCopyBytes);
  const ProcessWatch none;
  bool is_refused = false;
  std::vector<CopyTimes> all;
  (void)ForEachLength([&](size_t bytes) {
    const StridedLayout layout = StridedLayout::Contiguous(bytes);
    const RemoteStretches there{reinterpret_cast<uint64_t>(to.data()), bytes, bytes, bytes};
    const double by_kernel = MicrosecondsOf([&] {
      is_refused = is_refused || !CopyToProcess(getpid(), &none, layout, from.data(), there);
    });
    const double copied = MicrosecondsOf([&] { std::memcpy(to.data(), from.data(), bytes); });
    all.push_back({bytes, by_kernel, rules::kStagedInCopies * copied});
    const bool is_slower = by_kernel > all.back().staged_us;
    return !is_refused && !(is_slower && FasterByKernel(all).most_bytes > 0);
  });
  return is_refused ? KernelCopyRange() : FasterByKernel(all);
}

}  // namespace

KernelCopyRange FasterByKernel(const std::vector<CopyTimes>& times) {
  KernelCopyRange range;
  for (const CopyTimes& time : times) {
    if (time.by_kernel_us > time.staged_us) {
      if (range.most_bytes > 0) break;
      continue;
    }
    range.least_bytes = std::min(range.least_bytes, time.bytes);
    range.most_bytes = time.bytes;
  }
  return range;
}

const KernelCopyRange& GuessedKernelCopyRange() {
  static const KernelCopyRange range = Estimate();
  return range;
}

// Each counter has one writer; a rank that reads its new value sees the writer's earlier stores.
struct CopyTrial::Shared {
  // The receiver is ready for a message, and has received all earlier ones; and the address for the
  // messages.
  alignas(kLine) std::atomic<uint32_t> ready{0};
  uint64_t target = 0;
  alignas(kLine) std::atomic<uint32_t> sent{0};   // messages that the kernel has copied
  alignas(kLine) std::atomic<uint32_t> full{0};   // segments
  alignas(kLine) std::atomic<uint32_t> taken{0};  // segments
  alignas(kLine) std::byte slots[kSlots][kSegmentBytes];
};

size_t CopyTrial::Bytes() { return sizeof(Shared); }

CopyTrial::CopyTrial(std::byte* shared)
    : shared_(reinterpret_cast<Shared*>(shared)),
      data_(rules::kMostKernelCopyBytes, std::byte{1}) {}

template <typename Over>
bool CopyTrial::Await(const Over& over) const {
  constexpr int kPollsPerYield = 1000;
  for (;;) {
    for (int i = 0; i < kPollsPerYield; ++i) {
      if (over()) return true;
    }
    if (std::chrono::steady_clock::now() > end_) return false;
    sched_yield();
  }
}

template <typename Move>
double CopyTrial::Time(const Move& move) {
  using Clock = std::chrono::steady_clock;
  const auto is_ready = [this] {
    return shared_->ready.load(std::memory_order_acquire) == messages_ + 1;
  };
  if (!Await(is_ready)) return -1;
  const Clock::time_point start = Clock::now();
  if (!move()) return -1;
  ++messages_;
  if (!Await(is_ready)) return -1;
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

bool CopyTrial::SendStaged(size_t bytes) {
  for (size_t at = 0; at < bytes; at += kSegmentBytes) {
    const auto is_free = [this] {
      return segments_ - shared_->taken.load(std::memory_order_acquire) < kSlots;
    };
    if (!Await(is_free)) return false;
    std::memcpy(shared_->slots[segments_ % kSlots], &data_[at],
                std::min(kSegmentBytes, bytes - at));
    shared_->full.store(++segments_, std::memory_order_release);
  }
  return true;
}

bool CopyTrial::ReceiveStaged(size_t bytes) {
  for (size_t at = 0; at < bytes; at += kSegmentBytes) {
    const auto is_full = [this] {
      return shared_->full.load(std::memory_order_acquire) != segments_;
    };
    if (!Await(is_full)) return false;
    std::memcpy(&data_[at], shared_->slots[segments_ % kSlots],
                std::min(kSegmentBytes, bytes - at));
    shared_->taken.store(++segments_, std::memory_order_release);
  }
  return true;
}

bool CopyTrial::Send(pid_t receiver, const ProcessWatch* watch, std::chrono::milliseconds most,
                     KernelCopyRange* range) {
  end_ = std::chrono::steady_clock::now() + most;
  if (Time([&] { return SendStaged(kAllSlotsBytes); }) < 0) return false;
  bool is_refused = false;
  std::vector<CopyTimes> all;
  const bool came = ForEachLength([&](size_t bytes) {
    const StridedLayout layout = StridedLayout::Contiguous(bytes);
    const auto by_kernel = [&] {
      const RemoteStretches to{shared_->target, bytes, bytes, bytes};
      is_refused = is_refused || !CopyToProcess(receiver, watch, layout, data_.data(), to);
      shared_->sent.store(messages_ + 1, std::memory_order_release);
      return true;
    };
    CopyTimes times{bytes, kNever, kNever};
    for (int i = 0; i < rules::kKernelCopyTrials; ++i) {
      const double kernel = Time(by_kernel);
      const double staged = Time([&] { return SendStaged(bytes); });
      if (kernel < 0 || staged < 0) return false;
      times.by_kernel_us = std::min(times.by_kernel_us, kernel);
      times.staged_us = std::min(times.staged_us, rules::kStagedOverBare * staged);
    }
    all.push_back(times);
    return true;
  });
  if (!came) return false;
  *range = is_refused ? KernelCopyRange() : FasterByKernel(all);
  range->is_tried = true;
  return true;
}

void CopyTrial::Receive(std::chrono::milliseconds most) {
  end_ = std::chrono::steady_clock::now() + most;
  shared_->target = reinterpret_cast<uint64_t>(data_.data());
  const auto say_ready = [this] { shared_->ready.store(++messages_, std::memory_order_release); };
  say_ready();
  if (!ReceiveStaged(kAllSlotsBytes)) return;
  say_ready();
  // A receiver reads the data, so that its processor has them at the latest then.
  const auto read = [this](size_t bytes) {
    for (size_t at = 0; at < bytes; at += kLine) {
      (void)*static_cast<const volatile std::byte*>(&data_[at]);
    }
  };
  (void)ForEachLength([&](size_t bytes) {
    for (int i = 0; i < rules::kKernelCopyTrials; ++i) {
      const auto is_sent = [this] {
        return shared_->sent.load(std::memory_order_acquire) == messages_;
      };
      if (!Await(is_sent)) return false;
      read(bytes);
      say_ready();
      if (!ReceiveStaged(bytes)) return false;
      say_ready();
    }
    return true;
  });
}

}  // namespace brigade
