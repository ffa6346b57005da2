// One rank of a job that has no launcher and no MPI (job_without_mpi_test.sh, tcp_cluster_test.sh).
//
//   job_without_mpi TRANSPORT ADDRESS RANK SIZE SECONDS run|die
//
// The ranks meet at ADDRESS within SECONDS. BRIGADE_TEST_SECRET and BRIGADE_TEST_JOB are the secret
// and the name of the job.
//   run   Random calls and all patterns over the group of all ranks, then all patterns over parts,
//         copies and grids of it.
//   die   Rank 1 kills itself once all ranks have met.
// The last line says how it ended.

#include <dlfcn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "membuf/check.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/all_patterns.h"
#include "test/support/random_calls.h"
#include "test/support/stress.h"
#include "transport/bootstrap/tcp_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void UseAll(Group* group) {
  for (const int64_t elems : {1, 100, 5000, 100000}) RunAllPatterns(group, elems);
}

void UseGroupsOf(Group* all) {
  const int size = all->cols();
  std::unique_ptr<Group> part;
  Require(all->Split(all->rank() % 2, -all->rank(), &part));
  UseAll(part.get());
  std::unique_ptr<Group> copy;
  Require(all->Duplicate(&copy));
  UseAll(copy.get());
  std::vector<int> list(static_cast<size_t>(size / 2 * 2));
  std::iota(list.rbegin(), list.rend(), 0);
  std::unique_ptr<Group> grid;
  Require(all->FromRanks(list, 2, size / 2, &grid));
  if (grid != nullptr) UseAll(grid.get());
  for (Group* const group : {part.get(), all, copy.get()}) RunAllPatterns(group, 300);
}

void CheckThatThereIsNoMpi() {
  BRIGADE_CHECK(dlsym(RTLD_DEFAULT, "MPI_Init") == nullptr);
  BRIGADE_CHECK_EQ(PositionInJob().rank, -1);
  std::unique_ptr<Endpoint> endpoint;
  const std::string refusal = CreateEndpoint("mpi", &endpoint).ToString();
  if (refusal !=
      "unavailable: mpi: MPI is not initialised in this process; call MPI_Init first, or choose "
      "another transport: auto, shm, tcp or sockets") {
    CheckFailed(__FILE__, __LINE__, refusal);
  }
  std::unique_ptr<Bootstrap> bootstrap;
  BRIGADE_CHECK(CreateBootstrap(0, &bootstrap).code() == StatusCode::kUnavailable);
}

std::string Run(char** argv) {
  CheckThatThereIsNoMpi();
  const std::string what = argv[6];
  const int rank = std::atoi(argv[3]);
  TcpBootstrapOptions options;
  options.secret = Variable("BRIGADE_TEST_SECRET");
  options.job = Variable("BRIGADE_TEST_JOB");
  options.time_limit_seconds = std::atof(argv[5]);
  std::unique_ptr<Bootstrap> bootstrap;
  Require(TcpBootstrap::Create(argv[2], rank, std::atoi(argv[4]), options, &bootstrap));
  if (what == "die" && rank == 1) raise(SIGKILL);
  std::unique_ptr<Endpoint> endpoint;
  Require(CreateEndpoint(argv[1], &endpoint));
  std::unique_ptr<Engine> engine;
  Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
  std::unique_ptr<Group> group;
  Require(Group::Create(engine.get(), bootstrap.get(), 1, bootstrap->size(), &group));
  RandomCalls(group.get(), StressSeed()).Play(StressRounds(150, 20000));
  UseAll(group.get());
  UseGroupsOf(group.get());
  UseAll(group.get());
  const std::string transport = group->transport();
  Require(group->Run(PatternCall()));
  Require(engine->Drain());
  // An endpoint that goes is a lost rank.
  std::vector<char> all(static_cast<size_t>(bootstrap->size()));
  Require(bootstrap->AllGather("", 1, all.data()));
  group.reset();
  CheckThatThereIsNoMpi();
  return "well over " + transport;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s TRANSPORT ADDRESS RANK SIZE SECONDS run|die\n", argv[0]);
    return 2;
  }
  try {
    std::printf("rank %s: %s\n", argv[3], brigade::Run(argv).c_str());
  } catch (const std::exception& e) {
    std::printf("rank %s: %s\n", argv[3], e.what());
    return 1;
  }
  return 0;
}
