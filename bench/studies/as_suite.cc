// as_suite: what it takes to communicate in a superstep: five short tests, and exchanges of all
// with all.
//
// Source: the LI paper, section 3.

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/li_relations.h"
#include "bench/studies/li_suite.h"
#include "brigade/li.h"
#include "membuf/copy_bytes.h"

namespace brigade::bench {
namespace {

// A block of ints of each rank for each.
class Exchange {
 public:
  Exchange(LiSuite* suite, int64_t most_ints)
      : suite_(suite),
        rank_(suite->rank()),
        ranks_(suite->ranks()),
        out_(static_cast<size_t>(most_ints * ranks_)),
        in_(out_.size()) {
    LIREGISTER(in_.data(), in_.size() * sizeof(int32_t));
    LIINIT();
    LICOMMIT();
  }
  ~Exchange() { LIDEREGISTER(in_.data()); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void Measure(const AsRelation& relation, int64_t ints) {
    relation_ = relation;
    ints_ = ints;
    Case exchange;
    exchange.name = relation.name;
    exchange.rows = exchange.ld = ints;
    exchange.cols = ranks_;
    exchange.bytes = static_cast<size_t>(ranks_) * bytes();
    exchange.roots = 1;
    exchange.prepare = [this](int) { Prepare(); };
    const auto check = [this] { return Check(); };
    suite_->Add(
        "put", "put", [this] { Put(); }, check, &exchange);
    suite_->Add(
        "send", "send", [this] { Send(); }, check, &exchange);
    suite_->Measure(exchange);
  }

 private:
  size_t bytes() const { return static_cast<size_t>(ints_) * sizeof(int32_t); }
  size_t PlaceOf(int block) const { return static_cast<size_t>(block * ints_); }
  bool Sends(int from, int to) const { return relation_.sends(from, to, ranks_); }
  static int32_t Value(int from, int to, int64_t i) {
    return static_cast<int32_t>(from * 1000003 + to * 10007 + i);
  }

  void Prepare() {
    for (int to = 0; to < ranks_; ++to) {
      for (int64_t i = 0; i < ints_; ++i) {
        out_[PlaceOf(to) + static_cast<size_t>(i)] = Value(rank_, to, i);
        in_[PlaceOf(to) + static_cast<size_t>(i)] = -1;
      }
    }
  }

  std::string Check() const {
    for (int from = 0; from < ranks_; ++from) {
      for (int64_t i = 0; i < ints_; ++i) {
        const int32_t found = in_[PlaceOf(from) + static_cast<size_t>(i)];
        const int32_t wanted = Sends(from, rank_) ? Value(from, rank_, i) : -1;
        if (found != wanted) {
          return "int " + std::to_string(i) + " of rank " + std::to_string(from) + " is " +
                 std::to_string(found) + ", not " + std::to_string(wanted);
        }
      }
    }
    return "";
  }

  void Compute() {
    if (relation_.computes) computed_ = computed_ * 3 + 1;
  }
  void KeepOwn() {
    if (Sends(rank_, rank_)) {
      CopyBytes(reinterpret_cast<std::byte*>(&in_[PlaceOf(rank_)]),
                reinterpret_cast<const std::byte*>(&out_[PlaceOf(rank_)]), bytes());
    }
  }

  void Put() {
    Compute();
    KeepOwn();
    ForOthers(rank_, ranks_, [this](int to) {
      if (!Sends(rank_, to)) return;
      LIPUT(to, &out_[PlaceOf(to)], in_.data(), PlaceOf(rank_) * sizeof(int32_t), bytes());
    });
    if (relation_.sends != ToNobody) LISYNC();
    LIBARRIER();
  }

  void Send() {
    Compute();
    KeepOwn();
    for (int j = 1; j < ranks_; ++j) {
      const int from = (rank_ + ranks_ - j) % ranks_;
      if (Sends(from, rank_)) messages_.Receive(&in_[PlaceOf(from)], bytes(), from, 0);
    }
    ForOthers(rank_, ranks_, [this](int to) {
      if (Sends(rank_, to)) messages_.Send(&out_[PlaceOf(to)], bytes(), to, 0);
    });
    messages_.Wait();
    if (relation_.meets) MPI_Barrier(MPI_COMM_WORLD);
  }

  LiSuite* const suite_;
  const int rank_;
  const int ranks_;
  std::vector<int32_t> out_;
  std::vector<int32_t> in_;
  AsRelation relation_ = kTotalExchange;
  int64_t ints_ = 0;
  Messages messages_;
  volatile uint32_t computed_ = 1;
};

int Main(int argc, char** argv) {
  std::vector<int64_t> ints;
  for (int64_t each = 1; each <= 1 << 14; each *= 2) ints.push_back(each);
  bool has_tests = true;
  CLI::App app(
      "The As suite of the LI paper: a barrier, with computation and with few ints before it, and "
      "exchanges of all ranks with all. Start it under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("--ints", ints, "Of each rank for each, in exchanges")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 26));
  app.add_flag("!--no-tests", has_tests, "Exchanges only");
  return LiSuite::Main(argc, argv, &app, [&](LiSuite* suite) {
    Exchange exchange(suite, *std::max_element(ints.begin(), ints.end()));
    if (has_tests) {
      for (const AsRelation& test : kAsTests) exchange.Measure(test, 1);
    }
    for (const int64_t each : ints) exchange.Measure(kTotalExchange, each);
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }
