#include "transport/host_memory/kernel_copy.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>
#include <vector>

#include "transport/host_memory/process_copy.h"
#include "transport/rules.h"

namespace brigade {
namespace {

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
  const ProcessWatch none;
  ProcessCopy copy(getpid(), &none, ProcessCopy::Direction::kWrite);
  (void)copy.Add(reinterpret_cast<uint64_t>(from), reinterpret_cast<uint64_t>(to), bytes);
  (void)copy.Finish();
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

uint64_t AddressOf(const RemoteStretches& there, uint64_t offset) {
  return there.address + offset / there.stretch_bytes * there.stride_bytes +
         offset % there.stretch_bytes;
}

// Packed bytes of a matrix here, from `at` on, and of `there`, from `offset` on.
int Copy(ProcessCopy* copy, const StridedLayout& layout, const std::byte* base, size_t at,
         const RemoteStretches& there, uint64_t offset, size_t bytes) {
  if (there.stretch_bytes == 0) return EFAULT;
  StridedLayout::Cursor here(layout, at);
  while (bytes > 0) {
    const StridedLayout::Run run = here.Next();
    const size_t now =
        std::min<size_t>({run.bytes, bytes, there.stretch_bytes - offset % there.stretch_bytes});
    const int error = copy->Add(reinterpret_cast<uint64_t>(base + run.memory_offset),
                                AddressOf(there, offset), now);
    if (error != 0) return error;
    here.Advance(now);
    offset += now;
    bytes -= now;
  }
  return copy->Finish();
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

bool CopyToProcess(pid_t process, const ProcessWatch* watch, const StridedLayout& layout,
                   const std::byte* base, const RemoteStretches& to, size_t from) {
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kWrite);
  return Copy(&copy, layout, base, from, to, from, layout.bytes() - from) == 0;
}

int CopyRangeFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from,
                         size_t offset, size_t bytes, const StridedLayout& layout, std::byte* base,
                         size_t at) {
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kRead);
  return Copy(&copy, layout, base, at, from, offset, bytes);
}

int TryToReadFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from) {
  std::byte ends[2];
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kRead);
  (void)copy.Add(reinterpret_cast<uint64_t>(&ends[0]), AddressOf(from, 0), 1);
  (void)copy.Add(reinterpret_cast<uint64_t>(&ends[1]), AddressOf(from, from.bytes - 1), 1);
  return copy.Finish();
}

const KernelCopyRange& GuessedKernelCopyRange() {
  static const KernelCopyRange range = Measure();
  return range;
}

}  // namespace brigade
