#include "transport/edge/kernel_copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <limits>
#include <vector>

#include "membuf/rules.h"

namespace brigade {
namespace {

// Ranges of one side, in packed order.
class Ranges {
 public:
  bool is_full() const { return count_ == IOV_MAX; }
  void Append(uint64_t address, size_t bytes) {
    ranges_[count_++] = {reinterpret_cast<void*>(address), bytes};
  }
  const iovec* data() const { return ranges_; }
  unsigned long count() const { return count_; }

 private:
  iovec ranges_[IOV_MAX];
  unsigned long count_ = 0;
};

// Of packed bytes [from, ...): as many as there is room for, `most` at most; how many.
size_t Collect(const StridedLayout& layout, const std::byte* base, size_t from, size_t most,
               Ranges* ranges) {
  StridedLayout::Cursor cursor(layout, from);
  size_t collected = 0;
  while (collected < most && !ranges->is_full()) {
    const StridedLayout::Run run = cursor.Next();
    const size_t bytes = std::min(run.bytes, most - collected);
    ranges->Append(reinterpret_cast<uint64_t>(base + run.memory_offset), bytes);
    cursor.Advance(bytes);
    collected += bytes;
  }
  return collected;
}

size_t Collect(const RemoteStretches& to, size_t from, size_t most, Ranges* ranges) {
  size_t collected = 0;
  while (collected < most && !ranges->is_full()) {
    const uint64_t at = from + collected;
    const uint64_t within = at % to.stretch_bytes;
    const size_t bytes = std::min<size_t>(to.stretch_bytes - within, most - collected);
    ranges->Append(to.address + at / to.stretch_bytes * to.stride_bytes + within, bytes);
    collected += bytes;
  }
  return collected;
}

double SecondsOf(void (*copy)(std::byte* to, const std::byte* from, size_t bytes), std::byte* to,
                 const std::byte* from, size_t bytes) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < rules::kKernelCopyTrials; ++i) {
    const Clock::time_point start = Clock::now();
    copy(to, from, bytes);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

void CopyByKernel(std::byte* to, const std::byte* from, size_t bytes) {
  const iovec local{const_cast<std::byte*>(from), bytes};
  const iovec remote{to, bytes};
  (void)process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}

void CopyHere(std::byte* to, const std::byte* from, size_t bytes) { std::memcpy(to, from, bytes); }

KernelCopyRange Measure() {
  std::vector<std::byte> from(rules::kMostKernelCopyBytes, std::byte{1});
  std::vector<std::byte> to(rules::kMostKernelCopyBytes);
  KernelCopyRange range;
  for (size_t bytes = rules::kLeastKernelCopyBytes; bytes <= rules::kMostKernelCopyBytes;
       bytes *= 2) {
    const double by_kernel = SecondsOf(CopyByKernel, to.data(), from.data(), bytes);
    if (to[bytes - 1] != from[bytes - 1]) return KernelCopyRange();  // it is refused
    const double staged =
        rules::kStagedInCopies * SecondsOf(CopyHere, to.data(), from.data(), bytes);
    if (by_kernel > staged) {
      if (range.most_bytes > 0) break;
      continue;
    }
    range.least_bytes = std::min(range.least_bytes, bytes);
    range.most_bytes = bytes;
  }
  return range;
}

}  // namespace

bool AsStretches(const StridedLayout& layout, const std::byte* base, RemoteStretches* stretches) {
  if (layout.bytes() == 0 || layout.part() != StridedLayout::Part::kGeneral) return false;
  stretches->address = reinterpret_cast<uint64_t>(base);
  stretches->stretch_bytes = layout.run_bytes();
  stretches->stride_bytes = static_cast<uint64_t>(layout.ld()) * layout.elem_bytes();
  stretches->bytes = layout.bytes();
  return true;
}

bool CopyToProcess(pid_t process, const StridedLayout& layout, const std::byte* base,
                   const RemoteStretches& to) {
  if (to.stretch_bytes == 0) return false;
  for (size_t done = 0; done < layout.bytes();) {
    Ranges local;
    Ranges remote;
    const size_t here = Collect(layout, base, done, layout.bytes() - done, &local);
    // The kernel stops where one side ends.
    (void)Collect(to, done, here, &remote);
    const ssize_t moved =
        process_vm_writev(process, local.data(), local.count(), remote.data(), remote.count(), 0);
    if (moved <= 0) return false;
    done += static_cast<size_t>(moved);
  }
  return true;
}

const KernelCopyRange& MeasuredKernelCopyRange() {
  static const KernelCopyRange range = Measure();
  return range;
}

}  // namespace brigade
