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
constexpr double kNever = std::numeric_limits<double>::infinity();

template <typename Body>
bool ForEachLength(size_t most_bytes, const Body& body) {
  for (size_t bytes = rules::kLeastKernelCopyBytes; bytes <= most_bytes; bytes *= 2) {
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

KernelCopies Estimate() {
  const std::vector<std::byte> from(rules::kMostKernelCopyBytes, std::byte{1});
  std::vector<std::byte> to(rules::kMostKernelCopyBytes);
  const ProcessWatch none;
  bool is_refused = false;
  std::vector<CopyTimes> all;
  (void)ForEachLength(rules::kMostKernelCopyBytes, [&](size_t bytes) {
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
  // One rank cannot measure an exchange.
  return is_refused ? KernelCopies() : KernelCopies::Both(FasterByKernel(all));
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

KernelCopyRange FasterByKernelFrom(const std::vector<CopyTimes>& times) {
  KernelCopyRange range;
  for (auto time = times.rbegin(); time != times.rend(); ++time) {
    if (time->by_kernel_us > time->staged_us) break;
    range = {time->bytes, SIZE_MAX};
  }
  return range;
}

const KernelCopies& GuessedKernelCopies() {
  static const KernelCopies copies = Estimate();
  return copies;
}

// The part that one side writes. Each counter has one writer; a side that reads its new value sees
// the writer's earlier stores.
struct CopyTrial::Half {
  alignas(kLine) std::atomic<uint32_t> meetings{0};
  uint64_t from = 0;  // addresses of its messages
  uint64_t to = 0;
  uint32_t is_refused = 0;                        // the system refuses its copies
  alignas(kLine) std::atomic<uint32_t> full{0};   // segments that it has sent
  alignas(kLine) std::atomic<uint32_t> taken{0};  // segments that it has received
  alignas(kLine) std::byte slots[kSlots][kSegmentBytes];
};

size_t CopyTrial::Bytes() { return 2 * sizeof(Half); }

CopyTrial::CopyTrial(std::byte* shared, Side side, pid_t peer, const ProcessWatch* watch)
    : side_(side),
      mine_(reinterpret_cast<Half*>(shared)[side]),
      theirs_(reinterpret_cast<Half*>(shared)[1 - side]),
      peer_(peer),
      watch_(watch),
      from_(rules::kMostKernelCopyBytes, std::byte{1}),
      to_(from_) {}

template <typename Condition>
bool CopyTrial::Await(const Condition& holds) const {
  constexpr int kPollsPerYield = 1000;
  for (;;) {
    for (int i = 0; i < kPollsPerYield; ++i) {
      if (holds()) return true;
    }
    if (std::chrono::steady_clock::now() > end_) return false;
    sched_yield();
  }
}

bool CopyTrial::Meet() {
  mine_.meetings.store(++meetings_, std::memory_order_release);
  return Await([this] {
    const uint32_t ahead = theirs_.meetings.load(std::memory_order_acquire) - meetings_;
    return ahead <= 1;
  });
}

template <typename Copy>
double CopyTrial::Time(size_t bytes, const Copy& copy) {
  using Clock = std::chrono::steady_clock;
  // A program has written its messages: they are in no other cache.
  for (size_t at = 0; at < bytes; at += kLine) {
    *static_cast<volatile std::byte*>(&from_[at]) = std::byte{2};
  }
  if (!Meet()) return -1;
  const Clock::time_point start = Clock::now();
  if (!copy(bytes) || !Meet()) return -1;
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

template <typename ByKernel, typename Staged>
bool CopyTrial::Compare(size_t most_bytes, const ByKernel& by_kernel, const Staged& staged,
                        std::vector<CopyTimes>* all) {
  return ForEachLength(most_bytes, [&](size_t bytes) {
    CopyTimes times{bytes, kNever, kNever};
    for (int i = 0; i < rules::kKernelCopyTrials; ++i) {
      const double by_kernel_us = Time(bytes, by_kernel);
      if (by_kernel_us < 0) return false;
      const double staged_us = Time(bytes, staged);
      if (staged_us < 0) return false;
      times.by_kernel_us = std::min(times.by_kernel_us, by_kernel_us);
      times.staged_us = std::min(times.staged_us, staged_us);
    }
    all->push_back(times);
    return true;
  });
}

bool CopyTrial::WriteByKernel(size_t bytes) {
  if (side_ == kSender) {
    const RemoteStretches to{theirs_.to, bytes, bytes, bytes};
    if (mine_.is_refused == 0) {
      const bool is_copied =
          CopyToProcess(peer_, watch_, StridedLayout::Contiguous(bytes), from_.data(), to);
      mine_.is_refused = is_copied ? 0 : 1;
    }
    return Meet();
  }
  // A receiver reads the data, so that its processor has them at the latest then.
  if (!Meet()) return false;
  for (size_t at = 0; at < bytes; at += kLine) {
    (void)*static_cast<const volatile std::byte*>(&to_[at]);
  }
  return true;
}

bool CopyTrial::ReadByKernel(size_t bytes) {
  const RemoteStretches from{theirs_.from, bytes, bytes, bytes};
  if (mine_.is_refused == 0) {
    const int error = CopyRangeFromProcess(peer_, watch_, from, 0, bytes,
                                           StridedLayout::Contiguous(bytes), to_.data(), 0);
    mine_.is_refused = error == 0 ? 0 : 1;
  }
  return true;
}

bool CopyTrial::SendSegment(size_t at, size_t bytes) {
  const auto is_free = [this] {
    return sent_ - theirs_.taken.load(std::memory_order_acquire) < kSlots;
  };
  if (!Await(is_free)) return false;
  std::memcpy(mine_.slots[sent_ % kSlots], &from_[at], bytes);
  mine_.full.store(++sent_, std::memory_order_release);
  return true;
}

bool CopyTrial::ReceiveSegment(size_t at, size_t bytes) {
  const auto is_full = [this] { return theirs_.full.load(std::memory_order_acquire) != received_; };
  if (!Await(is_full)) return false;
  std::memcpy(&to_[at], theirs_.slots[received_ % kSlots], bytes);
  mine_.taken.store(++received_, std::memory_order_release);
  return true;
}

bool CopyTrial::CopyStaged(size_t bytes, bool sends, bool receives) {
  for (size_t at = 0; at < bytes; at += kSegmentBytes) {
    const size_t now = std::min(kSegmentBytes, bytes - at);
    if ((sends && !SendSegment(at, now)) || (receives && !ReceiveSegment(at, now))) return false;
  }
  return true;
}

bool CopyTrial::Run(std::chrono::milliseconds most, KernelCopies* copies) {
  end_ = std::chrono::steady_clock::now() + most;
  mine_.from = reinterpret_cast<uint64_t>(from_.data());
  mine_.to = reinterpret_cast<uint64_t>(to_.data());
  const auto by_writes = [this](size_t bytes) { return WriteByKernel(bytes); };
  const auto by_reads = [this](size_t bytes) { return ReadByKernel(bytes); };
  const auto staged_message = [this](size_t bytes) {
    return CopyStaged(bytes, side_ == kSender, side_ == kReceiver);
  };
  const auto staged_exchange = [this](size_t bytes) { return CopyStaged(bytes, true, true); };
  std::vector<CopyTimes> one_way;
  std::vector<CopyTimes> both_ways;
  // One exchange of all slots before all others, so that neither side's page tables lack one.
  const bool came = Meet() && staged_exchange(kSlots * kSegmentBytes) &&
                    Compare(rules::kMostKernelCopyBytes, by_writes, staged_message, &one_way) &&
                    Compare(rules::kMostTriedReadBytes, by_reads, staged_exchange, &both_ways);
  if (!came) return false;
  // Of a read, the ranks' agreement costs about as much.
  for (CopyTimes& times : one_way) times.staged_us *= rules::kStagedOverBare;
  *copies = KernelCopies();
  if (mine_.is_refused == 0 && theirs_.is_refused == 0) {
    copies->writes = FasterByKernel(one_way);
    copies->reads = FasterByKernelFrom(both_ways);
  }
  copies->is_tried = 1;
  return true;
}

}  // namespace brigade
