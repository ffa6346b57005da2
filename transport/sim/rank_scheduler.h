// RankScheduler: the ranks of a simulation, one fiber each, and the virtual time of each rank's
// processor.
//
// A rank runs while its clock is at or ahead of the time of the events; before it observes other
// ranks, it is suspended until the events have caught up. A rank therefore sees no event of its
// future, and misses none of its past.

#ifndef BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_
#define BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/sim/event_queue.h"
#include "transport/sim/fiber.h"

namespace brigade {

class RankScheduler final : public EventHandler {
 public:
  // `queue` must outlive the object.
  RankScheduler(EventQueue* queue, int ranks, size_t stack_bytes);
  ~RankScheduler();
  RankScheduler(const RankScheduler&) = delete;
  RankScheduler& operator=(const RankScheduler&) = delete;

  // Runs body(rank) for every rank until all have returned; each begins at its clock. kInternal,
  // with a rank, if ranks wait for an event that cannot happen: objects on their stacks are never
  // destroyed then. The first exception of a body is rethrown.
  Status Run(const std::function<void(int rank)>& body);

  SimTime clock(int rank) const { return ranks_[static_cast<size_t>(rank)].clock; }
  // Advances the rank's clock: its processor is busy.
  void Spend(int rank, SimTime time) { ranks_[static_cast<size_t>(rank)].clock += time; }

  // The functions below are called by the rank itself, inside its body. CatchUp waits until all
  // events before its clock have happened. Returns at once outside of Run.

  // Until all events before its clock have happened. Outside of Run, at once.
  void CatchUp(int rank);
  // Waits until Wake, or until no event is left unless some rank acts.
  void Sleep(int rank);
  // Waits until all ready ranks of lower number have run.
  void Yield(int rank);
  // Waits until the event (this object, ResumeAt(rank)) happens.
  void Await(int rank);
  static uint64_t ResumeAt(int rank) { return static_cast<uint64_t>(rank) << 1 | 1; }

  // Wakes the rank if it sleeps: an event now concerns it.
  void Wake(int rank);

  void OnEvent(uint64_t argument) override;

 private:
  struct Rank {
    RankScheduler* scheduler = nullptr;
    int number = 0;
    SimTime clock = 0;
    bool asleep = false;
    bool ended = false;
    std::unique_ptr<Fiber> fiber;
  };

  static void RunBody(void* rank);
  // Runs events until a rank, or Run, is to continue, and returns its fiber. The waiting fiber
  // calls this itself, so there is at most one switch between two turns.
  Fiber* NextTurn();
  // Suspends the rank.
  void Suspend(int rank);
  void ScheduleTurn(int rank, SimTime at) {
    queue_->Schedule(at, EventQueue::Phase::kRank, rank, this, static_cast<uint64_t>(rank) << 1);
  }
  // Wakes all sleeping ranks. False if that was in vain often enough.
  bool WakeAll();

  EventQueue* const queue_;
  const size_t stack_bytes_;
  ByteSpan stacks_;
  std::vector<Rank> ranks_;
  Fiber run_;              // the caller of Run
  Fiber* next_ = nullptr;  // the next to run
  const std::function<void(int)>* body_ = nullptr;
  bool in_run_ = false;
  size_t running_ = 0;  // bodies that have not returned
  int fruitless_ = 0;   // times in a row that all ranks were woken in vain
  std::exception_ptr failure_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_
