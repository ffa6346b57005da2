#include "bench/cases/barrier_case.h"

#include <mpi.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "bench/runner/machine.h"

namespace brigade::bench {

void MeasureBarrier(const Contenders& all) {
  using Clock = std::chrono::steady_clock;
  Session* session = all.session;
  const bool share_clock = OnOneMachine(session->comm());
  bool verifying = false;
  Clock::time_point came, left;
  Case the_case;
  the_case.name = kBarrier;
  the_case.prepare = [&](int) { verifying = true; };
  the_case.before_timing = [&] { verifying = false; };
  const auto add = [&](const std::string& name, const std::string& pattern, bool tells_cost,
                       const std::function<Status(OperationStatistics*)>& barrier) {
    const auto run = [&, barrier](int turn, OperationStatistics* statistics) {
      if (!verifying) return barrier(statistics);
      if (turn == session->rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      came = Clock::now();
      BRIGADE_RETURN_IF_ERROR(barrier(statistics));
      left = Clock::now();
      return Status();
    };
    const auto check = [&](int) -> std::string {
      int64_t last = came.time_since_epoch().count();
      MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, session->comm());
      const bool is_right = !share_clock || left.time_since_epoch().count() >= last;
      return is_right ? "" : "left before all had come";
    };
    AddSubject(all, name, pattern, tells_cost, run, check, &the_case);
  };
  add("brigade", kBarrier, /*tells_cost=*/true,
      [&](OperationStatistics* statistics) { return all.brigade->Barrier(statistics); });
  if (all.mpi) {
    add(session->PeerName("mpi"), "MPI_Barrier", /*tells_cost=*/false, [&](OperationStatistics*) {
      all.mpi->Barrier();
      return Status();
    });
  }
  session->Measure(the_case);
}

}  // namespace brigade::bench
