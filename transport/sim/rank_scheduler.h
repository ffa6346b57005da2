// RankScheduler: the ranks of a simulation, one fiber each, and how far the processor of each has
// come in virtual time.
//
// A rank runs while its clock is ahead of, or at, the time of the events; it is put aside until
// they have caught up before it looks at what others did. So nothing it sees is from its future,
// and nothing it has missed from its past.

#ifndef BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_
#define BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <exception>
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
  // naming a rank, if nothing will ever happen again that they wait for: what is on their stacks is
  // then never destroyed. The first exception of a body is thrown again.
  Status Run(const std::function<void(int rank)>& body);

  SimTime clock(int rank) const { return ranks_[static_cast<size_t>(rank)].clock; }
  // The rank's processor is busy for so long.
  void Spend(int rank, SimTime time) { ranks_[static_cast<size_t>(rank)].clock += time; }

  // The following are called by the rank itself, inside its body.

  // Until all events before its clock have happened. Outside of Run, at once.
  void CatchUp(int rank);
  // Until Wake, or until nothing more will happen unless some rank does something.
  void Sleep(int rank);
  // Until all ranks of lower number whose turn it is have had it.
  void Yield(int rank);
  // Until the event (this object, ResumeAt(rank)) happens.
  void Await(int rank);
  static uint64_t ResumeAt(int rank) { return static_cast<uint64_t>(rank) << 1 | 1; }

  // Something has happened now that concerns the rank; if it is asleep, it wakes up.
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
  // Lets events happen, until it is the turn of a rank, or of Run: the fiber to go on in. Whoever
  // waits does so himself, so that between two turns there is one switch at most.
  Fiber* NextTurn();
  // Puts the rank aside.
  void Suspend(int rank);
  void ScheduleTurn(int rank, SimTime at) {
    queue_->Schedule(at, EventQueue::Phase::kRank, rank, this, static_cast<uint64_t>(rank) << 1);
  }
  // Lets those that sleep look again. False if they did so often enough.
  bool WakeAll();

  EventQueue* const queue_;
  const size_t stack_bytes_;
  ByteSpan stacks_;
  std::vector<Rank> ranks_;
  Fiber run_;              // who called Run
  Fiber* next_ = nullptr;  // whose turn it is
  const std::function<void(int)>* body_ = nullptr;
  bool in_run_ = false;
  size_t running_ = 0;  // bodies that have not returned
  int fruitless_ = 0;   // times in a row that all were woken for nothing
  std::exception_ptr failure_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_RANK_SCHEDULER_H_
