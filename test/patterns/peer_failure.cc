// A job in which one rank dies or stops in the middle of a pattern (shm_robustness_test.sh,
// tcp_cluster_test.sh), each rank with an engine over the transport.
//
//   peer_failure TRANSPORT PATTERN ELEMENTS die|stop|pause=FILE|leave|FILE
//
// All run the pattern over and over, checking every result. Rank 1 is the victim. It prints its
// process number once the pattern has run for a while, and then
//   die     kills itself at a random place
//   stop    is to be stopped and continued from outside, after which all end well
//   pause   has itself stopped by a child until there is such a file; all end well, too
//   leave   ends its part in order, which the others are not prepared for
//   FILE    ends well with all others when there is such a file.
// Other ranks whose call fails print the reason and call no more. Where the victim dies or leaves,
// they leave when all have failed: the end of one of them would be reported to the others, too.

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

constexpr int kVictim = 1;
constexpr int kCallsPerRound = 50;
constexpr char kPause[] = "pause=";

volatile sig_atomic_t continued = 0;

int rank = -1;
int ranks = 0;
// A file with a byte for each rank that has failed, if ranks are to fail.
char failures[256] = "";

void MakeFailures() {
  const char* const folder = std::getenv("TMPDIR");
  std::snprintf(failures, sizeof(failures), "%s/failures.XXXXXX",
                folder != nullptr ? folder : "/tmp");
  if (rank == 0) {
    const int file = mkstemp(failures);
    if (file < 0 || close(file) != 0) std::abort();
  }
  MPI_Bcast(failures, sizeof(failures), MPI_CHAR, 0, MPI_COMM_WORLD);
}

// Returns when all but the victim have failed.
void AwaitFailures() {
  const int file = open(failures, O_WRONLY | O_APPEND);
  if (file < 0 || write(file, "", 1) != 1) std::abort();
  struct stat now = {};
  while (fstat(file, &now) == 0 && now.st_size < ranks - 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  unlink(failures);
}

void Require(const Status& status) {
  if (status.ok()) return;
  std::printf("rank %d: %s\n", rank, status.ToString().c_str());
  std::fflush(stdout);
  if (failures[0] != '\0') AwaitFailures();
  std::_Exit(3);
}

void RequireValue(double value, double expected) {
  if (value == expected) return;
  Require(Status(StatusCode::kInternal,
                 "WRONG: " + std::to_string(value) + ", not " + std::to_string(expected)));
}

// One rank's part in one call after the other of the same pattern.
class Caller {
 public:
  Caller(Group* group, Pattern pattern, int64_t elems)
      : group_(group),
        own_(elems),
        result_(elems),
        all_(ranks, std::vector<double>(elems)),
        sent_(all_) {
    call_.pattern = pattern;
    if (IsScan(pattern)) call_.topology.shape = Shape::kFree;
    for (std::vector<double>& block : all_) blocks_.push_back(MatrixOf(&block));
    for (std::vector<double>& block : sent_) sent_matrices_.push_back(MatrixOf(&block));
    call_.blocks = blocks_.data();
    call_.sent = sent_matrices_.data();
  }

  void Run(int number) {
    own_.assign(own_.size(), Value(rank, number));
    call_.matrix = MatrixOf(&own_);
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    const double sum = SumTo(ranks - 1, number);
    switch (call_.pattern) {
      case Pattern::kSend:
        call_.root = next;
        Require(group_->Run(call_));
        call_.pattern = Pattern::kReceive;
        call_.root = previous;
        Require(group_->Run(call_));
        call_.pattern = Pattern::kSend;
        Check(own_, Value(previous, number));
        break;
      case Pattern::kBroadcast:
        call_.root = 0;
        Require(group_->Run(call_));
        Check(own_, Value(0, number));
        break;
      case Pattern::kReduce:
        call_.root = 0;
        Require(group_->Run(call_));
        Check(own_, rank == 0 ? sum : Value(rank, number));
        break;
      case Pattern::kAllReduce:
        Require(group_->Run(call_));
        Check(own_, sum);
        break;
      case Pattern::kMultiBroadcast:
        all_[rank].assign(own_.size(), Value(rank, number));
        Require(group_->Run(call_));
        for (int r = 0; r < ranks; ++r) Check(all_[r], Value(r, number));
        break;
      case Pattern::kMultiReduce:
        for (std::vector<double>& block : all_) block = own_;
        call_.matrix = MatrixOf(&result_);
        Require(group_->Run(call_));
        Check(result_, sum);
        break;
      case Pattern::kGather:
        all_[rank].assign(own_.size(), Value(rank, number));
        Require(group_->Run(call_));
        for (int r = 0; rank == 0 && r < ranks; ++r) Check(all_[r], Value(r, number));
        break;
      case Pattern::kScatter:
        for (int r = 0; rank == 0 && r < ranks; ++r) all_[r].assign(own_.size(), Value(r, number));
        Require(group_->Run(call_));
        Check(all_[rank], Value(rank, number));
        break;
      case Pattern::kAllToAll:
        for (std::vector<double>& block : sent_) block = own_;
        Require(group_->Run(call_));
        for (int r = 0; r < ranks; ++r) Check(all_[r], Value(r, number));
        break;
      case Pattern::kScan:
        Require(group_->Run(call_));
        Check(own_, SumTo(rank, number));
        break;
      default:
        Require(group_->Run(call_));
    }
  }

  static Matrix MatrixOf(std::vector<double>* data) {
    Matrix matrix;
    const auto elems = static_cast<int64_t>(data->size());
    matrix.data = reinterpret_cast<std::byte*>(data->data());
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout));
    return matrix;
  }

 private:
  static double Value(int of_rank, int number) { return of_rank * 1000 + number % 97; }
  static double SumTo(int last, int number) {
    double sum = 0;
    for (int r = 0; r <= last; ++r) sum += Value(r, number);
    return sum;
  }
  static void Check(const std::vector<double>& data, double expected) {
    for (const double value : data) RequireValue(value, expected);
  }

  Group* const group_;
  PatternCall call_;
  std::vector<double> own_, result_;
  std::vector<std::vector<double>> all_;
  std::vector<std::vector<double>> sent_;
  std::vector<Matrix> blocks_;
  std::vector<Matrix> sent_matrices_;
};

void DieSometime() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 20000));
    raise(SIGKILL);
  }).detach();
}

void PauseSometime(const std::string& until) {
  const std::string me = std::to_string(getpid());
  const std::string command = "(kill -STOP " + me + "; until [ -e " + until + " ] || ! kill -0 " +
                              me + "; do sleep 0.1; done; kill -CONT " + me + ") &";
  std::thread([command] {
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 20000));
    if (std::system(command.c_str()) != 0) std::abort();
  }).detach();
}

Pattern PatternNamed(const char* name) {
  for (int i = 0; i < kPatterns; ++i) {
    if (std::strcmp(PatternName(static_cast<Pattern>(i)), name) == 0) {
      return static_cast<Pattern>(i);
    }
  }
  std::fprintf(stderr, "there is no pattern %s\n", name);
  std::exit(2);
}

int Main(const char* transport, Pattern pattern, int64_t elems, const std::string& fate) {
  std::unique_ptr<Endpoint> endpoint;
  Require(CreateEndpoint(transport, &endpoint));
  EngineOptions options;
  options.report_seconds = 1;
  std::unique_ptr<Engine> engine;
  Require(Engine::Create(endpoint.get(), options, &engine));
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  rank = bootstrap.rank();
  ranks = bootstrap.size();
  std::unique_ptr<Group> group;
  Require(Group::Create(engine.get(), &bootstrap, 1, ranks, &group));

  if (fate == "die" || fate == "leave") MakeFailures();
  Caller caller(group.get(), pattern, elems);
  PatternCall over;  // the victim says when
  over.pattern = Pattern::kBroadcast;
  over.root = kVictim;
  std::vector<double> is_over(1);
  over.matrix = Caller::MatrixOf(&is_over);
  for (int round = 0; is_over[0] == 0; ++round) {
    for (int i = 0; i < kCallsPerRound; ++i) caller.Run(round * kCallsPerRound + i);
    if (rank == kVictim && round == 0) {
      std::printf("victim is process %d\n", getpid());
      std::fflush(stdout);  // as long as it lives
      if (fate == "die") DieSometime();
      if (fate.rfind(kPause, 0) == 0) PauseSometime(fate.substr(std::strlen(kPause)));
      if (fate == "leave") break;
    }
    is_over[0] = continued != 0 || access(fate.c_str(), F_OK) == 0;
    Require(group->Run(over));
  }
  std::printf("rank %d: well\n", rank);
  group.reset();
  if (fate != "leave") MPI_Barrier(MPI_COMM_WORLD);  // an endpoint that goes is a lost rank
  engine.reset();
  endpoint.reset();
  if (fate == "leave") std::_Exit(0);  // MPI would wait for those that do not end well
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: %s TRANSPORT PATTERN ELEMENTS die|stop|pause=FILE|leave|FILE\n",
                 argv[0]);
    return 2;
  }
  // A launcher that is stopped and goes on passes that on, too.
  if (std::strcmp(argv[4], "stop") == 0 ||
      std::strncmp(argv[4], brigade::kPause, std::strlen(brigade::kPause)) == 0) {
    signal(SIGCONT, [](int) { brigade::continued = 1; });
  }
  MPI_Init(&argc, &argv);
  const int code =
      brigade::Main(argv[1], brigade::PatternNamed(argv[2]), std::atoll(argv[3]), argv[4]);
  MPI_Finalize();
  return code;
}
