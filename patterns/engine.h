// Engine: runs schedules over an endpoint. One per process and transport; it owns the staging pool,
// the overflow memory and every send that has returned to its caller and is still on its way.

#ifndef BRIGADE_PATTERNS_ENGINE_H_
#define BRIGADE_PATTERNS_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/overflow_arena.h"
#include "membuf/staging_pool.h"
#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

struct EngineOptions {
  size_t chunk_bytes = size_t{32} << 10;   // equal on all ranks of a group
  size_t staging_bytes = size_t{2} << 20;  // equal on all ranks of a group
  size_t overflow_bytes = OverflowArena::kAvailableMemory;
  double overflow_wait_seconds = 120;
};

class Engine {
 public:
  // kInvalidArgument naming value and minimum if the budget is below what the schedules need.
  static Status Create(Endpoint* endpoint, const EngineOptions& options,
                       std::unique_ptr<Engine>* engine);
  ~Engine();

  // Moves everything that can move without waiting. True if anything did.
  bool Progress();
  // Waits until every returned send has left. kPeerLost if one never can.
  Status Drain();
  // Gives unused overflow memory back to the system.
  void Trim();

  StagingStatistics staging() const;
  OverflowStatistics overflow() const;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_H_
