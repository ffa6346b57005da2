// ProgramRank: one rank of a program of the put/get study, on a machine in virtual time. It
// computes nothing, but takes the time for it; data for other ranks are marked, and checked there.
//
// Messages and puts are this library's own, puts straight to memory within a host. While a rank
// computes, it receives now and then, as its progress thread would.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_RANK_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_RANK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/sim/sim_transport.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"

namespace brigade::bench {

enum class ProgramVariant {
  kMessages,  // two-sided, or broadcasts
  kBlocking,  // by puts or gets, one after the other
  kAhead      // by puts or gets, as early as possible
};

class ProgramRank {
 public:
  // `memories`: of all ranks, by rank; empty before the first rank is made.
  ProgramRank(SimWorld* world, int rank, ProgramVariant variant, double gflops,
              std::vector<std::byte*>* memories)
      : world_(world), rank_(rank), variant_(variant), gflops_(gflops), memories_(memories) {}

  int rank() const { return rank_; }
  ProgramVariant variant() const { return variant_; }
  bool ahead() const { return variant_ == ProgramVariant::kAhead; }

  // Allocates `bytes` of memory for messages, or for gets of other ranks, and makes a grid for
  // broadcasts. Collective. Returns when all ranks have called `prepare`.
  Status Open(size_t bytes, int rows, int cols, const std::function<void()>& prepare);
  Status Close();
  // Where messages arrive.
  double* arrived() { return reinterpret_cast<double*>(in_.data()); }
  double ClockUs() const { return world_->Clock(rank_); }

  void Compute(double flops);
  // The program itself copies within its memory.
  void Copy(size_t bytes, size_t run_bytes);

  // As PairExchange's. Messages are whole doubles, and have equal places on both sides.
  Status Begin(int to, size_t place, size_t bytes);
  Status Await(int from, size_t place, size_t bytes);

  // Exposes memory that other ranks get, or receive by a broadcast.
  void Expose(size_t place, size_t bytes) { Mark(&in_[place], bytes, MarkOf(rank_, place)); }
  // The destination of data from another rank.
  struct PendingGet {
    std::vector<std::byte> data;
    int source = -1;  // of the get; -1: none
    size_t place = 0;
    std::atomic<bool> over{false};
  };
  Status StartGet(int source, size_t place, size_t bytes, PendingGet* pending);
  Status AwaitGet(PendingGet* pending);
  Status AwaitOver(const std::atomic<bool>& over) { return window_->WaitFor(over); }
  // Adds `*value`, which stays until `*over` is true; then the old value is in `*old`.
  Status StartFetchAndAdd(int rank, size_t place, const double* value, double* old,
                          std::atomic<bool>* over);
  // `values`, which are read, are this rank's again once `*over` is true.
  Status StartAdd(int rank, size_t place, const double* values, int64_t count,
                  std::atomic<bool>* over);
  // Ends what was begun. Collective.
  Status Meet();
  // Gathers `bytes` of each rank of this rank's row (if `along_row`) or column of the grid on all
  // of them, or sums as many for each.
  Status Collect(Pattern pattern, bool along_row, size_t bytes);
  // Broadcasts from member `root` of this rank's row (if `along_row`) or column of the grid.
  Status Broadcast(bool along_row, int root, size_t place, size_t bytes);

 private:
  bool IsOnMyHost(int peer) const {
    return world_->machine().HostOf(peer) == world_->machine().HostOf(rank_);
  }
  Status RunPair(Pattern pattern, int peer, std::byte* data, size_t bytes);
  // The first and the last double of a message.
  static void Mark(std::byte* data, size_t bytes, uint64_t mark);
  Status CheckMark(const std::byte* data, size_t bytes, uint64_t mark, int from) const;
  // `number`: of the message, or the place of exposed memory.
  static uint64_t MarkOf(int from, size_t number) {
    return static_cast<uint64_t>(from + 1) << 32 | number;
  }

  SimWorld* const world_;
  const int rank_;
  const ProgramVariant variant_;
  const double gflops_;
  std::vector<std::byte*>* const memories_;
  std::vector<std::byte> out_, in_;
  std::map<int, uint32_t> sent_, taken_;  // messages, by peer
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Window> window_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_RANK_H_
