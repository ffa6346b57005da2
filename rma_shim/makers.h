// Makers: the threads of a process that make windows, which is collective. Only one thread does so
// at a time, and for one window on all its ranks: otherwise two threads could each wait for a rank
// whose thread waits for the other.

#ifndef BRIGADE_RMA_SHIM_MAKERS_H_
#define BRIGADE_RMA_SHIM_MAKERS_H_

#include <cstdint>
#include <mutex>
#include <set>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/host/host.h"

namespace brigade {
namespace rma {

class Makers {
 public:
  // Which window it is, as one of its ranks says: no two have the same. Compared by number first,
  // so that none waits for ever behind those of a process that makes many.
  struct Key {
    uint64_t number = 0;  // of those that the process has said
    int64_t process = 0;
    Host host;

    static Key New();
    bool operator<(const Key& other) const;
  };

  // One thread's. `key` is equal on all ranks of its window. The least comes first, so that there
  // is always one whom nobody keeps waiting.
  class Turn {
   public:
    Turn(Makers* makers, const Key& key);
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
    const Key key_;
    bool is_mine_ = false;
  };

 private:
  std::mutex mutex_;
  std::set<Key> keys_;  // of all turns
  bool is_taken_ = false;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_MAKERS_H_
