#include "transport/mpi/mpi_time.h"

#include <atomic>
#include <chrono>

namespace brigade {
namespace {

std::atomic<bool> counts{false};
std::atomic<uint64_t> calls{0};
std::atomic<uint64_t> elapsed_ns{0};

uint64_t NowNs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

void CountMpiTime() { counts.store(true, std::memory_order_relaxed); }

MpiTime MpiTimeSoFar() {
  return {calls.load(std::memory_order_relaxed), elapsed_ns.load(std::memory_order_relaxed)};
}

MpiCall::MpiCall() {
  if (counts.load(std::memory_order_relaxed)) begin_ns_ = NowNs();
}

MpiCall::~MpiCall() {
  if (begin_ns_ == 0) return;
  calls.fetch_add(1, std::memory_order_relaxed);
  elapsed_ns.fetch_add(NowNs() - begin_ns_, std::memory_order_relaxed);
}

}  // namespace brigade
