// Tests of the TCP transports that need a job of several processes (tcp_cluster_test.sh).
//
//   tcp_job TRANSPORT flood MESSAGES SECONDS WAIT
//     Rank 0 sends so many messages of 1 KiB to rank 1, which sleeps for SECONDS before it receives
//     them, with 64 MiB of overflow memory and waiting WAIT seconds for room in it.
//   tcp_job TRANSPORT compute|receive|barrier FILE
//     Rank 0 sends to rank 1 and broadcasts, and has neither delivered when it goes on to compute
//     or to wait in MPI until both have come, of which FILE tells.
//   tcp_job TRANSPORT ring FILE
//     All ranks first send to each other, round a ring, when there is such a file.
//   tcp_job TRANSPORT silence SECONDS
//     Messages go round a ring without end; a peer may be silent for SECONDS. A rank whose
//     call fails prints the reason and leaves.
//   tcp_job TRANSPORT stopped FILE
//     Of two ranks. Rank 1 posts receives of a broadcast and stops itself; rank 0 sends what it
//     can, returns, writes FILE and waits in MPI. Then rank 1 goes on.
//   tcp_job TRANSPORT unreceived
//     All ranks send to each other, round a ring, and leave without receiving anything.
//   tcp_job TRANSPORT degree
//     How many connections the ranks have after a ring and after a broadcast.

#include <arpa/inet.h>
#include <dirent.h>
#include <mpi.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "membuf/check.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

constexpr int64_t kMessageElems = 128;
constexpr size_t kOverflowBytes = size_t{64} << 20;

int rank = -1;
int ranks = 0;

void Require(const Status& status) {
  if (status.ok()) return;
  std::printf("rank %d: %s\n", rank, status.ToString().c_str());
  std::fflush(stdout);
  std::_Exit(3);
}

Matrix MatrixOf(std::vector<double>* data) {
  Matrix matrix;
  const auto elems = static_cast<int64_t>(data->size());
  matrix.data = reinterpret_cast<std::byte*>(data->data());
  Require(StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout));
  return matrix;
}

void Run(Group* group, Pattern pattern, int root, std::vector<double>* data) {
  PatternCall call;
  call.pattern = pattern;
  call.root = root;
  call.matrix = MatrixOf(data);
  Require(group->Run(call));
}

void RequireAll(const std::vector<double>& data, double expected) {
  for (const double value : data) BRIGADE_CHECK_EQ(value, expected);
}

// kB of memory that the kernel has locked or pinned for this process, in all its countings.
std::string LockedMemory() {
  std::ifstream status("/proc/self/status");
  std::string line;
  std::string all;
  while (std::getline(status, line)) {
    if (line.rfind("VmLck:", 0) == 0 || line.rfind("VmPin:", 0) == 0) all += line + " ";
  }
  DIR* const directory = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    char name[64] = {};
    if (readlinkat(dirfd(directory), entry->d_name, name, sizeof(name) - 1) < 0) continue;
    if (std::strcmp(name, "anon_inode:[io_uring]") != 0) continue;
    std::ifstream info(std::string("/proc/self/fdinfo/") + entry->d_name);
    bool buffers = false;
    while (std::getline(info, line)) {
      if (line.rfind("UserBufs:", 0) == 0) buffers = true;
      if (line.rfind("PollList:", 0) == 0) break;
      if (buffers) all += line + " ";
    }
  }
  closedir(directory);
  return all;
}

// The kernel does not list a ring's buffers while a thread, such as the progress thread, is inside
// the ring.
void RequireLocked(const std::string& locked) {
  std::string found;
  for (const double end = MPI_Wtime() + 60; MPI_Wtime() < end;) {
    found = LockedMemory();
    if (found == locked) return;
    usleep(100);
  }
  CheckFailed(__FILE__, __LINE__, "locked: " + found + "instead of " + locked);
}

void Flood(Engine* engine, Group* group, int messages, int sleep_seconds) {
  std::vector<double> data(kMessageElems);
  if (rank == 1) {
    sleep(static_cast<unsigned>(sleep_seconds));
    for (int i = 0; i < messages; ++i) {
      Run(group, Pattern::kReceive, 0, &data);
      RequireAll(data, i);
    }
  } else if (rank == 0) {
    // The first connects, and registers nothing any more.
    std::string locked;
    const double start = MPI_Wtime();
    double longest = 0;
    for (int i = 0; i < messages; ++i) {
      data.assign(data.size(), i);
      const double before = MPI_Wtime();
      Run(group, Pattern::kSend, 1, &data);
      longest = std::max(longest, MPI_Wtime() - before);
      if (i == 0) locked = LockedMemory();
      if (i % 1000 == 0) RequireLocked(locked);
    }
    Require(engine->Drain());
    RequireLocked(locked);
    const OverflowStatistics overflow = engine->overflow();
    std::printf(
        "locked: %s\noverflow: %zu bytes at most, refused %llu times, %.0f s, longest %.0f s\n",
        locked.c_str(), overflow.high_water_bytes,
        static_cast<unsigned long long>(overflow.refusals), MPI_Wtime() - start, longest);
    BRIGADE_CHECK_LE(overflow.high_water_bytes, kOverflowBytes);
  }
}

// All is sent ahead of its receives, to ranks that come late.
void Elsewhere(Group* group, const std::string& where, const std::string& file) {
  std::vector<double> sent(100000, 1);
  std::vector<double> broadcast(100000, 2);
  int token = 0;
  if (rank == 0) {
    Run(group, Pattern::kSend, 1, &sent);
    Run(group, Pattern::kBroadcast, 0, &broadcast);
  } else {
    sleep(1);
    broadcast.assign(broadcast.size(), 0);
    Run(group, Pattern::kBroadcast, 0, &broadcast);
    RequireAll(broadcast, 2);
  }
  if (rank == 1) {
    sent.assign(sent.size(), 0);
    Run(group, Pattern::kReceive, 0, &sent);
    RequireAll(sent, 1);
  }
  // Every rank, relays included, is outside the library until the last one has everything.
  if (where == "compute") {
    std::ofstream mine(file + std::to_string(rank));
    for (int r = 0; r < ranks; ++r) {
      while (access((file + std::to_string(r)).c_str(), F_OK) != 0) {
        for (volatile int i = 0; i < 100000; ++i) {
        }
      }
    }
  } else if (where == "receive") {
    if (rank == ranks - 1) MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&token, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void Ring(Group* group) {
  std::vector<double> data(100000, rank);
  const int previous = (rank + ranks - 1) % ranks;
  Run(group, Pattern::kSend, (rank + 1) % ranks, &data);
  Run(group, Pattern::kReceive, previous, &data);
  RequireAll(data, previous);
}

// The columns of a matrix that has rows below them, so that its segments go out in many ranges.
void Stopped(Group* group, const std::string& file) {
  constexpr int64_t kRows = 1000;
  constexpr int64_t kCols = 4000;
  constexpr int64_t kLead = 1200;
  std::vector<double> small(1);
  Run(group, rank == 0 ? Pattern::kSend : Pattern::kReceive, 1 - rank, &small);
  // They are connected. From here on the systems take in less than a segment.
  for (int descriptor = 0; descriptor < 1000; ++descriptor) {
    const int bytes = 32 << 10;
    setsockopt(descriptor, SOL_SOCKET, rank == 0 ? SO_SNDBUF : SO_RCVBUF, &bytes, sizeof(bytes));
  }
  std::vector<double> data(kLead * kCols, -1);
  PatternCall call;
  call.pattern = Pattern::kBroadcast;
  call.matrix.data = reinterpret_cast<std::byte*>(data.data());
  Require(StridedLayout::General(kRows, kCols, kLead, sizeof(double), &call.matrix.layout));
  const auto each = [&](const auto& visit) {
    for (int64_t col = 0; col < kCols; ++col) {
      for (int64_t row = 0; row < kRows; ++row) visit(&data[col * kLead + row], col * kRows + row);
    }
  };
  if (rank == 0) {
    each([](double* element, int64_t i) { *element = static_cast<double>(i); });
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(1);  // rank 1 has granted its receives, and stopped
    Require(group->Run(call));
    data.assign(data.size(), -2);
    std::ofstream(file).flush();
  } else {
    const std::string continues = "(until [ -e '" + file + "' ]; do sleep 0.1; done; sleep 1; " +
                                  "kill -CONT " + std::to_string(getpid()) + ") &";
    BRIGADE_CHECK_EQ(std::system(continues.c_str()), 0);
    std::unique_ptr<Operation> receive;
    Require(group->Start(call, &receive));
    for (int i = 0; i < 1000; ++i) receive->Test();
    MPI_Barrier(MPI_COMM_WORLD);
    raise(SIGSTOP);
    Require(receive->Wait());
    each([](const double* element, int64_t i) { BRIGADE_CHECK_EQ(*element, double(i)); });
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int Connections() {
  int connections = 0;
  for (int descriptor = 0; descriptor < 1000; ++descriptor) {
    sockaddr_storage peer{};
    socklen_t bytes = sizeof(peer);
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0 &&
        (peer.ss_family == AF_INET || peer.ss_family == AF_INET6)) {
      ++connections;
    }
  }
  return connections;
}

void Degree(Group* group) {
  for (int i = 0; i < 3; ++i) MPI_Barrier(MPI_COMM_WORLD);
  const int before = Connections();
  Ring(group);
  const int ring = Connections() - before;
  MPI_Barrier(MPI_COMM_WORLD);  // nobody broadcasts before all have counted
  // Both neighbours.
  BRIGADE_CHECK_LE(ring, 2);
  int degree = 1;
  for (int n = 1; n < ranks; n *= 2) ++degree;
  std::vector<double> small(1, rank == 0 ? 7 : 0);
  Run(group, Pattern::kBroadcast, 0, &small);
  RequireAll(small, 7);
  const int tree = Connections() - before - ring;
  BRIGADE_CHECK_LE(tree, degree);
  std::printf("rank %d: connections: ring %d, tree %d more\n", rank, ring, tree);
}

int Main(int argc, char** argv) {
  const std::string what = argv[2];
  std::unique_ptr<Endpoint> endpoint;
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  rank = bootstrap.rank();
  ranks = bootstrap.size();
  if (what == "silence") {
    TcpOptions how;
    how.plain_sockets = std::strcmp(argv[1], "sockets") == 0;
    how.silence = std::chrono::seconds(std::atoi(argv[3]));
    Require(CreateTcpEndpoint(how, &endpoint));
  } else {
    Require(CreateEndpoint(argv[1], &endpoint));
  }
  EngineOptions options;
  options.report_seconds = 5;
  options.overflow_bytes = kOverflowBytes;
  if (what == "flood") options.overflow_wait_seconds = std::atof(argv[5]);
  std::unique_ptr<Engine> engine;
  Require(Engine::Create(endpoint.get(), options, &engine));
  std::unique_ptr<Group> group;
  Require(Group::Create(engine.get(), &bootstrap, 1, ranks, &group));
  if (what == "flood") {
    Flood(engine.get(), group.get(), std::atoi(argv[3]), std::atoi(argv[4]));
  } else if (what == "ring") {
    std::printf("rank %d: about to send\n", rank);
    std::fflush(stdout);
    while (access(argv[3], F_OK) != 0) usleep(10000);
    Ring(group.get());
  } else if (what == "silence") {
    Ring(group.get());
    std::printf("rank %d: sends\n", rank);
    std::fflush(stdout);
    for (;;) Ring(group.get());
  } else if (what == "unreceived") {
    std::vector<double> data(1000000);
    Run(group.get(), Pattern::kSend, (rank + 1) % ranks, &data);
    group.reset();
  } else if (what == "stopped") {
    Stopped(group.get(), argv[3]);
  } else if (what == "degree") {
    Degree(group.get());
  } else {
    Elsewhere(group.get(), what, argc > 3 ? argv[3] : "");
  }
  Require(engine->Drain());
  std::printf("rank %d: well\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  group.reset();
  engine.reset();
  endpoint.reset();
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: %s TRANSPORT "
                 "flood|compute|receive|barrier|ring|silence|stopped|unreceived|degree ...\n",
                 argv[0]);
    return 2;
  }
  MPI_Init(&argc, &argv);
  const int code = brigade::Main(argc, argv);
  MPI_Finalize();
  return code;
}
