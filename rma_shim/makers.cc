#include "rma_shim/makers.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace brigade {
namespace rma {

Makers::Turn::Turn(Makers* makers, uint64_t key) : makers_(makers), key_(key) {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  makers_->keys_.insert(key_);
}

Makers::Turn::~Turn() {
  GiveBack();
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  makers_->keys_.erase(makers_->keys_.find(key_));
}

bool Makers::Turn::Take() {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  is_mine_ = !makers_->is_taken_ && *makers_->keys_.begin() == key_;
  makers_->is_taken_ = makers_->is_taken_ || is_mine_;
  return is_mine_;
}

void Makers::Turn::GiveBack() {
  const std::lock_guard<std::mutex> lock(makers_->mutex_);
  if (is_mine_) makers_->is_taken_ = is_mine_ = false;
}

Status Makers::Turn::Await(Bootstrap* bootstrap) {
  std::vector<uint8_t> all(static_cast<size_t>(bootstrap->size()));
  for (;;) {
    const uint8_t mine = Take() ? 1 : 0;
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
    if (std::count(all.begin(), all.end(), 0) == 0) return Status();
    GiveBack();
    std::this_thread::yield();
  }
}

}  // namespace rma
}  // namespace brigade
