// The exchange of the MPI/SX paper: its neighbours and its epochs, over any windows, measured or
// simulated.

#ifndef BRIGADE_BENCH_STUDIES_EXCHANGE_EPOCHS_H_
#define BRIGADE_BENCH_STUDIES_EXCHANGE_EPOCHS_H_

#include <cstddef>
#include <vector>

#include "membuf/status.h"

namespace brigade::bench {

// Rank i supplies the ranks i + 1 to i + count, and is supplied by i - 1 to i - count.
struct Neighbours {
  Neighbours(int rank, int ranks, int count) {
    for (int j = 1; j <= count; ++j) {
      targets.push_back((rank + j) % ranks);
      sources.push_back((rank + ranks - j % ranks) % ranks);
    }
  }
  // The ranks whose memory this rank accesses, and the ranks that access its memory.
  const std::vector<int>& accessed(bool puts) const { return puts ? targets : sources; }
  const std::vector<int>& accessing(bool puts) const { return puts ? sources : targets; }

  std::vector<int> targets;
  std::vector<int> sources;
};

enum class EpochKind { kFence, kPostStart, kLock };

// Runs one epoch; with locks, one for each neighbour in turn. `move`: from j, puts to the j-th
// target or gets from the j-th source.
template <typename Window, typename Move>
Status RunEpoch(Window* window, EpochKind kind, bool puts, const Neighbours& neighbours,
                const Move& move) {
  const std::vector<int>& accessed = neighbours.accessed(puts);
  if (kind == EpochKind::kFence) BRIGADE_RETURN_IF_ERROR(window->Fence());
  if (kind == EpochKind::kPostStart) {
    BRIGADE_RETURN_IF_ERROR(window->Post(neighbours.accessing(puts)));
    BRIGADE_RETURN_IF_ERROR(window->Start(accessed));
  }
  for (size_t j = 0; j < accessed.size(); ++j) {
    if (kind == EpochKind::kLock) BRIGADE_RETURN_IF_ERROR(window->Lock(accessed[j]));
    BRIGADE_RETURN_IF_ERROR(move(j));
    if (kind == EpochKind::kLock) BRIGADE_RETURN_IF_ERROR(window->Unlock(accessed[j]));
  }
  if (kind == EpochKind::kFence) return window->Fence();
  if (kind == EpochKind::kLock) return Status();
  BRIGADE_RETURN_IF_ERROR(window->Complete());
  return window->Wait();
}

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_EXCHANGE_EPOCHS_H_
