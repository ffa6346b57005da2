#include "rma_shim/makers.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace brigade {
namespace rma {

Makers::Key Makers::Key::New() {
  static std::atomic<uint64_t> numbers{0};
  return {++numbers, getpid(), Host::Here()};
}

bool Makers::Key::operator<(const Key& other) const {
  if (number != other.number) return number < other.number;
  if (process != other.process) return process < other.process;
  return std::memcmp(&host, &other.host, sizeof(host)) < 0;
}

Makers::Turn::Turn(Makers* makers, const Key& key) : makers_(makers), key_(key) {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  makers_->keys_.insert(key_);
}

Makers::Turn::~Turn() {
  GiveBack();
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  makers_->keys_.erase(key_);
}

bool Makers::Turn::Take() {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  is_mine_ = !makers_->is_taken_ && !(*makers_->keys_.begin() < key_);
  makers_->is_taken_ = makers_->is_taken_ || is_mine_;
  return is_mine_;
}

void Makers::Turn::GiveBack() {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  if (is_mine_) makers_->is_taken_ = is_mine_ = false;
}

Status Makers::Turn::Await(Bootstrap* bootstrap) {
  // Then it sleeps, on all ranks at the same time: who waited awake for one that sleeps would gain
  // nothing.
  constexpr int kYields = 100;
  constexpr std::chrono::milliseconds kNap(1);
  std::vector<uint8_t> all(static_cast<size_t>(bootstrap->size()));
  for (int tries = 0;; ++tries) {
    const uint8_t mine = Take() ? 1 : 0;
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
    if (std::count(all.begin(), all.end(), 0) == 0) return Status();
    GiveBack();
    tries < kYields ? std::this_thread::yield() : std::this_thread::sleep_for(kNap);
  }
}

}  // namespace rma
}  // namespace brigade
