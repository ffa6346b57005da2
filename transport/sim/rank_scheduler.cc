#include "transport/sim/rank_scheduler.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "membuf/check.h"

namespace brigade {
namespace {

// A program may look a number of times, though nothing happens, before it does something else.
constexpr int kMostFruitless = 300;
// A page below each stack that must not be touched. Each costs the system a mapping, of which a
// process may have some 65,000.
const auto kGuardBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr int kMostGuarded = 4096;

}  // namespace

RankScheduler::RankScheduler(EventQueue* queue, int ranks, size_t stack_bytes)
    : queue_(queue), stack_bytes_(stack_bytes), ranks_(static_cast<size_t>(ranks)) {
  // Untouched memory costs nothing.
  const size_t bytes = stack_bytes * ranks_.size();
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  BRIGADE_CHECK(memory != MAP_FAILED);
  stacks_ = {static_cast<std::byte*>(memory), bytes};
  for (int rank = 0; rank < ranks; ++rank) {
    ranks_[static_cast<size_t>(rank)].scheduler = this;
    ranks_[static_cast<size_t>(rank)].number = rank;
    if (ranks > kMostGuarded) continue;
    std::byte* const stack = stacks_.data + stack_bytes * static_cast<size_t>(rank);
    BRIGADE_CHECK_EQ(mprotect(stack, kGuardBytes, PROT_NONE), 0);
  }
}

RankScheduler::~RankScheduler() {
  ranks_.clear();
  munmap(stacks_.data, stacks_.bytes);
}

Status RankScheduler::Run(const std::function<void(int rank)>& body) {
  BRIGADE_CHECK_EQ(running_, size_t{0});
  body_ = &body;
  running_ = ranks_.size();
  fruitless_ = 0;
  for (Rank& rank : ranks_) {
    const ByteSpan stack{stacks_.data + stack_bytes_ * static_cast<size_t>(rank.number),
                         stack_bytes_};
    rank.ended = false;
    rank.fiber = std::make_unique<Fiber>(
        ByteSpan{stack.data + kGuardBytes, stack.bytes - kGuardBytes}, &RunBody, &rank);
    ScheduleTurn(rank.number, std::max(rank.clock, queue_->now()));
  }
  in_run_ = true;
  if (Fiber* const next = NextTurn(); next != &run_) run_.SwitchTo(next);
  in_run_ = false;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  if (running_ == 0) return Status();
  const auto waiting =
      std::find_if(ranks_.begin(), ranks_.end(), [](const Rank& r) { return !r.ended; });
  return Status(StatusCode::kInternal, "sim: rank " + std::to_string(waiting->number) + " and " +
                                           std::to_string(running_ - 1) +
                                           " others wait for what will never happen");
}

void RankScheduler::RunBody(void* argument) {
  Rank* const rank = static_cast<Rank*>(argument);
  RankScheduler* const self = rank->scheduler;
  try {
    (*self->body_)(rank->number);
  } catch (...) {
    if (!self->failure_) self->failure_ = std::current_exception();
  }
  --self->running_;
  self->fruitless_ = 0;
  rank->ended = true;
  rank->fiber->EndWith(self->NextTurn());
}

Fiber* RankScheduler::NextTurn() {
  while (next_ == nullptr) {
    if (running_ == 0 || (!queue_->RunNext() && !WakeAll())) return &run_;
  }
  return std::exchange(next_, nullptr);
}

void RankScheduler::Suspend(int rank) {
  Fiber* const self = ranks_[static_cast<size_t>(rank)].fiber.get();
  if (Fiber* const next = NextTurn(); next != self) self->SwitchTo(next);
}

void RankScheduler::CatchUp(int rank) {
  if (in_run_ && clock(rank) > queue_->now()) Yield(rank);
}

void RankScheduler::Yield(int rank) {
  ScheduleTurn(rank, std::max(clock(rank), queue_->now()));
  Suspend(rank);
}

void RankScheduler::Sleep(int rank) {
  ranks_[static_cast<size_t>(rank)].asleep = true;
  Suspend(rank);
}

void RankScheduler::Await(int rank) { Suspend(rank); }

void RankScheduler::Wake(int rank) {
  fruitless_ = 0;
  Rank& woken = ranks_[static_cast<size_t>(rank)];
  if (std::exchange(woken.asleep, false)) {
    ScheduleTurn(rank, std::max(woken.clock, queue_->now()));
  }
}

bool RankScheduler::WakeAll() {
  if (++fruitless_ > kMostFruitless) return false;
  bool any = false;
  for (Rank& rank : ranks_) {
    if (!std::exchange(rank.asleep, false)) continue;
    ScheduleTurn(rank.number, std::max(rank.clock, queue_->now()));
    any = true;
  }
  return any;
}

void RankScheduler::OnEvent(uint64_t argument) {
  const int number = static_cast<int>(argument >> 1);
  if ((argument & 1) != 0) {  // of a machine; ranks come after all of these
    ScheduleTurn(number, queue_->now());
    return;
  }
  Rank& rank = ranks_[static_cast<size_t>(number)];
  rank.clock = std::max(rank.clock, queue_->now());
  next_ = rank.fiber.get();
}

}  // namespace brigade
