// Times the first use of memory of a segment, whose pages are not mapped yet: staging memory at
// first, and overflow memory always. By default, each page is mapped when it is first written, and
// some at once when they are read; populated, all are mapped ahead by one call; with huge pages
// there are few, if the system has any for shared memory.
//
// One process allocates, writes and frees, and another reads between. The variants alternate, so
// that a disturbance of the machine affects all; medians count.

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "transport/host_memory/shared_segment.h"

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kLengths[] = {size_t{40} << 10, size_t{2} << 20, size_t{32} << 20};
constexpr int kTurns = 101;

enum Variant { kAsItIs, kPopulated, kHuge };
constexpr const char* kVariantNames[] = {"as it is", "populated", "huge pages"};

// Between the two processes.
struct Table {
  alignas(64) std::atomic<int> written{0};
  uint64_t offset = 0;
  size_t bytes = 0;
  Variant variant = kAsItIs;
  alignas(64) std::atomic<int> read{0};
  double read_us = 0;
};

struct Times {
  double write_us;  // allocation included
  double read_us;
  double free_us;
};

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

void AwaitAtLeast(const std::atomic<int>& count, int least) {
  while (count.load(std::memory_order_acquire) < least) sched_yield();
}

// MADV_POPULATE_READ and MADV_POPULATE_WRITE, which older headers lack.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

void Read(Table* table, SharedSegment* segment, int turns) {
  std::vector<std::byte> to(kLengths[std::size(kLengths) - 1]);
  for (int turn = 1; turn <= turns; ++turn) {
    AwaitAtLeast(table->written, turn);
    std::byte* const memory = segment->At(table->offset, table->bytes);
    if (memory == nullptr) std::abort();
    const Clock::time_point start = Clock::now();
    if (table->variant == kPopulated) (void)madvise(memory, table->bytes, kPopulateRead);
    std::memcpy(to.data(), memory, table->bytes);
    table->read_us = Since(start);
    table->read.store(turn, std::memory_order_release);
  }
}

Times Write(Table* table, SharedSegment* segment, const std::byte* from, size_t bytes,
            Variant variant, int turn) {
  Times times{};
  const Clock::time_point start = Clock::now();
  uint64_t offset = 0;
  if (!segment->Allocate(bytes, &offset).ok()) std::abort();
  std::byte* const memory = segment->base() + offset;
  if (variant == kPopulated) (void)madvise(memory, bytes, kPopulateWrite);
  if (variant == kHuge) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  std::memcpy(memory, from, bytes);
  times.write_us = Since(start);
  table->offset = offset;
  table->bytes = bytes;
  table->variant = variant;
  table->written.store(turn, std::memory_order_release);
  AwaitAtLeast(table->read, turn);
  times.read_us = table->read_us;
  const Clock::time_point freeing = Clock::now();
  segment->Free(offset, bytes);
  times.free_us = Since(freeing);
  return times;
}

double Median(std::vector<Times> all, double Times::*figure) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(),
                   [&](const Times& a, const Times& b) { return a.*figure < b.*figure; });
  return (*middle).*figure;
}

void Run() {
  std::ifstream setting("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  std::string huge;
  std::getline(setting, huge);
  std::printf("Huge pages of shared memory: %s\n\n", huge.empty() ? "none" : huge.c_str());
  std::printf("| bytes | pages | us to allocate and write | us to read | us to free |\n");
  std::printf("|---|---|---|---|---|\n");
  std::fflush(stdout);  // the child would print it again
  std::shared_ptr<SharedSegment> segment;
  if (!SharedSegment::Create(&segment).ok()) std::abort();
  void* const memory =
      mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  auto* const table = new (memory) Table;
  constexpr int kVariants = static_cast<int>(std::size(kVariantNames));
  const int turns = kTurns * kVariants * static_cast<int>(std::size(kLengths));
  if (fork() == 0) {
    Read(table, segment.get(), turns);
    _exit(0);
  }
  const std::vector<std::byte> from(kLengths[std::size(kLengths) - 1], std::byte{1});
  int turn = 0;
  for (const size_t bytes : kLengths) {
    std::vector<Times> times[kVariants];
    for (int i = 0; i < kTurns; ++i) {
      for (int variant = 0; variant < kVariants; ++variant) {
        times[variant].push_back(
            Write(table, segment.get(), from.data(), bytes, static_cast<Variant>(variant), ++turn));
      }
    }
    for (int variant = 0; variant < kVariants; ++variant) {
      std::printf("| %zu | %s | %.1f | %.1f | %.1f |\n", bytes, kVariantNames[variant],
                  Median(times[variant], &Times::write_us), Median(times[variant], &Times::read_us),
                  Median(times[variant], &Times::free_us));
    }
    std::fflush(stdout);
  }
  (void)wait(nullptr);
}

}  // namespace
}  // namespace brigade

int main() {
  brigade::Run();
  return 0;
}
