// Makers: the threads of a process that make windows, each with other ranks. One at a time does,
// and for one window on all its ranks: else one could wait here for a rank where another waits for
// us.

#ifndef BRIGADE_RMA_SHIM_MAKERS_H_
#define BRIGADE_RMA_SHIM_MAKERS_H_

#include <cstdint>
#include <mutex>
#include <set>

#include "membuf/status.h"
#include "transport/bootstrap.h"

namespace brigade {
namespace rma {

class Makers {
 public:
  // One thread's. `key` is equal on all ranks of its window, and of no other window. The least
  // comes first, so that there is always one whom nobody keeps waiting.
  class Turn {
   public:
    Turn(Makers* makers, uint64_t key);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Collective: until it is this window's turn on all its ranks.
    Status Await(Bootstrap* bootstrap);

   private:
    // Whether it is on this rank.
    bool Take();
    void GiveBack();

    Makers* const makers_;
    const uint64_t key_;
    bool is_mine_ = false;
  };

 private:
  std::mutex mutex_;
  std::multiset<uint64_t> keys_;  // of all turns
  bool is_taken_ = false;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_MAKERS_H_
