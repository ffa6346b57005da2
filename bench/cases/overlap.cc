#include "bench/cases/overlap.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders/brigade_group.h"
#include "bench/contenders/mpi_peer.h"
#include "bench/runner/barrier.h"
#include "bench/runner/compute.h"
#include "bench/runner/panel.h"
#include "bench/runner/statistics.h"

namespace brigade::bench {
namespace {

// All contenders, made once per launch. Null where left out.
struct Contenders {
  Session* session;
  std::unique_ptr<BrigadeGroup> brigade;
  std::unique_ptr<MpiPeer> mpi;
};

using Wait = std::function<Status()>;
// Starts one side of a transfer and returns a function that waits for its end.
using Start = std::function<Status(int turn, Wait*)>;

Wait WaitFor(std::unique_ptr<Operation> operation) {
  return [shared = std::shared_ptr<Operation>(std::move(operation))] { return shared->Wait(); };
}

Wait WaitFor(MPI_Request request) {
  return [request]() mutable {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return Status();
  };
}

// The slowest rank's time of `run`, the median of a few.
double Microseconds(const Contenders& all, DisseminationBarrier* barrier,
                    const std::function<Status(int turn)>& run) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 5;
  std::vector<double> samples(kRuns);
  for (int i = 0; i < kRuns; ++i) {
    barrier->Wait();
    const Clock::time_point start = Clock::now();
    AbortUnlessOk(run(i));
    samples[i] = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  }
  MPI_Allreduce(MPI_IN_PLACE, samples.data(), kRuns, MPI_DOUBLE, MPI_MAX, all.session->comm());
  return MedianOf(samples).median;
}

// Returns the steps that take `microseconds` when all ranks compute at once; they may share
// processors.
uint64_t StepsFor(const Contenders& all, DisseminationBarrier* barrier, double microseconds) {
  constexpr double kTrialSteps = 1 << 20;
  const double trial = Microseconds(all, barrier, [](int) {
    Compute(static_cast<uint64_t>(kTrialSteps));
    return Status();
  });
  return static_cast<uint64_t>(kTrialSteps * microseconds / trial);
}

void AddContender(const Contenders& all, const std::string& name, const Start& start,
                  const std::function<std::string(int turn)>& check, Case* the_case) {
  const auto transfer = [start](int turn) {
    Wait wait;
    BRIGADE_RETURN_IF_ERROR(start(turn, &wait));
    return wait();
  };
  DisseminationBarrier barrier(all.session->comm());
  const uint64_t steps = StepsFor(all, &barrier, Microseconds(all, &barrier, transfer));
  const auto both = [start, steps](int turn) {
    Wait wait;
    BRIGADE_RETURN_IF_ERROR(start(turn, &wait));
    Compute(steps);
    return wait();
  };
  const auto computation = [steps](int) {
    Compute(steps);
    return Status();
  };
  the_case->subjects.push_back({name, "transfer", transfer, check, {}});
  the_case->subjects.push_back({name, "both", both, check, {}});
  the_case->subjects.push_back(
      {name, "computation", computation, [](int) { return std::string(); }, {}});
}

void MeasureSend(const Contenders& all, size_t bytes) {
  Session* session = all.session;
  const int rank = session->rank();
  const bool sends = rank % 2 == 0;
  const int peer = sends ? rank + 1 : rank - 1;
  const auto elements = static_cast<int64_t>(bytes / sizeof(double));
  Panel panel(elements, 1, elements);
  Case the_case;
  the_case.name = "overlap send";
  the_case.bytes = panel.view().bytes();
  the_case.rows = the_case.ld = elements;
  the_case.cols = 1;
  the_case.prepare = [&](int) {
    panel.Poison();
    if (sends) Fill(panel.view(), rank);
  };
  const auto check = [&](int) { return CheckSum(panel.view(), sends ? rank : peer, 1); };

  AddContender(
      all, "brigade",
      [&](int, Wait* wait) {
        std::unique_ptr<Operation> operation;
        BRIGADE_RETURN_IF_ERROR(sends ? all.brigade->StartSend(panel.view(), peer, &operation)
                                      : all.brigade->StartReceive(panel.view(), peer, &operation));
        *wait = WaitFor(std::move(operation));
        return Status();
      },
      check, &the_case);
  if (all.mpi) {
    AddContender(
        all, session->PeerName("mpi"),
        [&](int, Wait* wait) {
          *wait = WaitFor(sends ? all.mpi->StartSend(panel.view(), peer)
                                : all.mpi->StartReceive(panel.view(), peer));
          return Status();
        },
        check, &the_case);
  }
  session->Measure(the_case);
}

void MeasureBroadcast(const Contenders& all, size_t bytes) {
  Session* session = all.session;
  const int rank = session->rank();
  const int ranks = session->ranks();
  const auto elements = static_cast<int64_t>(bytes / sizeof(double));
  Panel panel(elements, 1, elements);
  Case the_case;
  the_case.name = "overlap broadcast";
  the_case.bytes = panel.view().bytes();
  the_case.rows = the_case.ld = elements;
  the_case.cols = 1;
  the_case.prepare = [&](int turn) {
    panel.Poison();
    if (turn % ranks == rank) Fill(panel.view(), rank);
  };
  const auto check = [&](int turn) { return CheckSum(panel.view(), turn % ranks, 1); };

  AddContender(
      all, "brigade",
      [&](int turn, Wait* wait) {
        std::unique_ptr<Operation> operation;
        BRIGADE_RETURN_IF_ERROR(all.brigade->StartBroadcast(Topology{Shape::kFree, 0}, turn % ranks,
                                                            panel.view(), &operation));
        *wait = WaitFor(std::move(operation));
        return Status();
      },
      check, &the_case);
  if (all.mpi) {
    AddContender(
        all, session->PeerName("mpi"),
        [&](int turn, Wait* wait) {
          *wait = WaitFor(all.mpi->StartBroadcast(turn % ranks, panel.view()));
          return Status();
        },
        check, &the_case);
  }
  session->Measure(the_case);
}

}  // namespace

void RunOverlap(Session* session) {
  const Options& options = session->options();
  if (session->ranks() % 2 != 0) {
    AbortUnlessOk(Status(StatusCode::kInvalidArgument, "overlap needs an even number of ranks"));
  }
  Contenders all;
  all.session = session;
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &all.brigade));
  if (options.HasPeer("mpi")) all.mpi = std::make_unique<MpiPeer>(session->comm());
  for (const size_t bytes : options.overlap_bytes) {
    session->StartTable("Overlap of " + std::to_string(bytes) + " bytes with computation");
    MeasureSend(all, bytes);
    MeasureBroadcast(all, bytes);
  }
}

}  // namespace brigade::bench
