// Ranks are processes, and one of them is killed while all multiply: the others get an error.

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "test/support/load_blas.h"
#include "test/support/run_processes.h"
#include "test/support/stress.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"
#include "windows/message/window_space.h"
#include "windows/multiply/multiply.h"

namespace brigade {
namespace {

constexpr int kRanks = 4;
constexpr int kVictim = 2;
constexpr int64_t kSize = 100;

const bool kBlasIsLoaded = [] {
  LoadBlas();
  return true;
}();

struct Setup {
  std::string name;
  bool over_tcp;
  bool goes_directly;
};

class MultiplyDeaths : public testing::TestWithParam<Setup> {};

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  _exit(2);
}

// Products until one fails: how.
Status MultiplyOn(Multiplier* multiplier) {
  std::vector<double> memory(3 * kSize * kSize, 1.0);
  const double one = 1;
  MultiplyCall call;
  call.m = call.n = call.k = kSize;
  call.alpha = call.beta = &one;
  for (DistributedMatrix* const matrix : {&call.a, &call.b, &call.c}) {
    matrix->data = reinterpret_cast<std::byte*>(memory.data() + (matrix - &call.a) * kSize * kSize);
    matrix->rows = matrix->cols = matrix->ld = kSize;
    matrix->row_block = matrix->col_block = 7;
  }
  Status status;
  while (status.ok()) status = multiplier->Multiply(call);
  return status;
}

TEST_P(MultiplyDeaths, EndTheMultiplicationsOfAllRanks) {
  void* const shared = mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const over = new (shared) std::atomic<int>;
  const int trials = StressRounds(5, 300);
  for (int i = 0; i < trials && !HasFailure(); ++i) {
    const unsigned seed = StressSeed() + static_cast<unsigned>(i);
    SCOPED_TRACE("seed " + std::to_string(seed));
    *over = 0;
    const std::vector<int> ends = RunProcesses(kRanks, [&](Bootstrap* bootstrap) {
      TcpOptions loopback;
      loopback.interface = "lo";
      std::unique_ptr<Endpoint> endpoint;
      std::unique_ptr<Engine> engine;
      std::unique_ptr<WindowSpace> space;
      std::unique_ptr<Multiplier> multiplier;
      Require(GetParam().over_tcp ? CreateTcpEndpoint(loopback, &endpoint)
                                  : CreateShmEndpoint(&endpoint));
      Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
      Require(WindowSpace::Create(engine.get(), &space));
      MultiplierOptions options;
      options.rows = options.cols = 2;
      options.buffer_bytes = size_t{1} << 14;
      options.goes_directly = GetParam().goes_directly;
      Require(Multiplier::Create(space.get(), bootstrap, options, &multiplier));
      if (bootstrap->rank() == kVictim) ualarm(1 + std::mt19937(seed)() % 30000, 0);
      const Status status = MultiplyOn(multiplier.get());
      const bool is_told = status.code() == StatusCode::kPeerLost &&
                           status.message().find("rank 2") != std::string::npos;
      if (!is_told) {
        std::fprintf(stderr, "rank %d: %s\n", bootstrap->rank(), status.ToString().c_str());
      }
      // A process that ends is lost, too: not before all others know of the first.
      for (++*over; *over < kRanks - 1;) usleep(200);
      _exit(is_told ? 0 : 1);
      return 1;
    });
    for (int rank = 0; rank < kRanks; ++rank) {
      const int end = ends[static_cast<size_t>(rank)];
      if (rank == kVictim) {
        EXPECT_TRUE(WIFSIGNALED(end) && WTERMSIG(end) == SIGALRM) << "it did not die: " << end;
      } else {
        EXPECT_EQ(end, 0) << "rank " << rank;
      }
    }
  }
  munmap(shared, sizeof(std::atomic<int>));
}

INSTANTIATE_TEST_SUITE_P(Over, MultiplyDeaths,
                         testing::Values(Setup{"shm", false, true},
                                         Setup{"shm_by_messages", false, false},
                                         Setup{"tcp_by_messages", true, false}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade
