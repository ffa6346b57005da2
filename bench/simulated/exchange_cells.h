// The cells of Tables 1 to 4 of the MPI/SX paper on a simulated machine.

#ifndef BRIGADE_BENCH_SIMULATED_EXCHANGE_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_EXCHANGE_CELLS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "bench/studies/exchange_epochs.h"
#include "membuf/status.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

struct ExchangeCell {
  int table = 1;
  int ranks = 8;
  int neighbours = 1;
  // Of windows: shared memory is copied to or from by the origin, private memory by messages.
  bool is_shared = false;
  size_t bytes = 0;         // of a block; 0: synchronisation alone
  bool is_message = false;  // sends and receives, without a window; the next two do not count then
  bool puts = true;
  EpochKind epoch = EpochKind::kFence;
  std::string datatype;  // "": contiguous; vector or struct: as BlockLayout
  bool forgets = false;  // the target has not kept the datatype
};

// All 48 + 98 + 70 + 30, table by table.
std::vector<ExchangeCell> ExchangeCells();

// Virtual microseconds of the fastest of some epochs, from when all have met until the last rank is
// done. With payload the blocks are checked; datatypes need it. `cache_clear_us`: the machine's
// processor takes so long to clear its cache at the end of each epoch, and of each lock, of a
// window in shared memory.
Status SimulateExchange(const MachineDescription& machine, const ExchangeCell& cell,
                        double cache_clear_us, bool carries_payload, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_EXCHANGE_CELLS_H_
