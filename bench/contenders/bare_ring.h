// BareRing: two processes, a ring of slots in shared memory, memcpy in and memcpy out, and nothing
// else. A lower bound for messages that take two copies through shared memory: the yardstick of a
// transport, and of the machine.

#ifndef BRIGADE_BENCH_CONTENDERS_BARE_RING_H_
#define BRIGADE_BENCH_CONTENDERS_BARE_RING_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "bench/runner/panel.h"

namespace brigade::bench {

class BareRing {
 public:
  static constexpr size_t kLargestSlotBytes = size_t{64} << 10;
  // Messages up to here travel in one cache line with their flag.
  static constexpr size_t kLineBytes = 48;

  // Collective over `comm`, of at least two ranks, which share memory. Ranks above 1 take no part.
  explicit BareRing(MPI_Comm comm);
  ~BareRing();
  BareRing(const BareRing&) = delete;
  BareRing& operator=(const BareRing&) = delete;

  // Between ranks 0 and 1, alternately: the sender receives next. Sender and receiver pass equal
  // bytes and equal `slot_bytes`, up to kLargestSlotBytes.
  void Send(const PanelView& panel, size_t slot_bytes);
  void Receive(const PanelView& panel, size_t slot_bytes);

 private:
  struct Lane;  // one direction
  // This side's end of a lane.
  struct End {
    Lane* lane = nullptr;
    uint64_t messages = 0;  // in lines
    uint64_t slots = 0;     // used so far
  };

  MPI_Comm pair_;
  MPI_Win window_;
  End out_;
  End in_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BARE_RING_H_
