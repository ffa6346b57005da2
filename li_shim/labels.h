// Labels: which slot an address stands for. The slots are the same on all processes, for all
// insert and remove in the same order, though their addresses differ.

#ifndef BRIGADE_LI_SHIM_LABELS_H_
#define BRIGADE_LI_SHIM_LABELS_H_

#include <algorithm>
#include <iterator>

#include "li_shim/backend/backend.h"

namespace brigade {
namespace li {

class Labels {
 public:
  static constexpr int kNone = -1;

  // The lowest slot that is free, whatever this process alone has searched for; kNone if none is.
  // REQUIRES: not null, and in no slot.
  int Insert(const void* address) {
    const void** const free = std::find(std::begin(addresses_), std::end(addresses_), nullptr);
    if (free == std::end(addresses_)) return kNone;
    *free = address;
    return static_cast<int>(free - addresses_);
  }
  // kNone: in no slot. REQUIRES: not null.
  int Search(const void* address) const {
    if (addresses_[last_] == address) return last_;
    for (int slot = 0; slot < kProgramSlots; ++slot) {
      if (addresses_[slot] == address) return last_ = slot;
    }
    return kNone;
  }
  void Remove(int slot) { addresses_[slot] = nullptr; }

 private:
  const void* addresses_[kProgramSlots] = {};
  mutable int last_ = 0;  // found
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_LABELS_H_
