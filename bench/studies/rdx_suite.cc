// rdx_suite: radix sort of 32-bit keys in four rounds of 8 bits: each sends its keys where they
// belong, digit by digit (RDXSORT), beginning with another digit on each rank (RDXSORTOPT), or all
// for a rank at once (combined).
//
// Source: the LI paper, section 5.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/li_relations.h"
#include "bench/studies/li_suite.h"
#include "brigade/li.h"

namespace brigade::bench {
namespace {

using Piece = RdxRound::Piece;

constexpr int kDigits = RdxRound::kDigits;
constexpr int kRounds = 4;
constexpr auto kDelay = std::chrono::microseconds(5);

enum class Algorithm { kPlain, kOrdered, kCombined };

uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class RadixSort {
 public:
  RadixSort(LiSuite* suite, int64_t keys, bool is_skewed)
      : suite_(suite),
        rank_(suite->rank()),
        ranks_(suite->ranks()),
        all_(keys),
        block_((keys + ranks_ - 1) / ranks_),
        mine_(std::clamp<int64_t>(keys - rank_ * block_, 0, block_)),
        is_skewed_(is_skewed),
        given_(static_cast<size_t>(mine_)),
        keys_(static_cast<size_t>(block_)),
        sorted_(given_),
        outbox_(given_),
        inbox_(keys_),
        round_(ranks_, block_) {
    for (int64_t i = 0; i < mine_; ++i) {
      const auto number = static_cast<uint64_t>(rank_ * block_ + i) + 1;
      const uint64_t bits = Mixed(number * 0x9e3779b97f4a7c15u);
      const uint64_t more = Mixed(bits);
      const uint64_t key = is_skewed_ ? bits & (bits >> 32) & more & (more >> 32) : bits;
      given_[static_cast<size_t>(i)] = static_cast<uint32_t>(key);
    }
    LIREGISTER(keys_.data(), keys_.size() * sizeof(uint32_t));
    LIREGISTER(inbox_.data(), inbox_.size() * sizeof(uint32_t));
    LIREGISTER(round_.counts(), round_.count_bytes());
    LIINIT();
    LICOMMIT();
  }
  ~RadixSort() {
    LIDEREGISTER(round_.counts());
    LIDEREGISTER(inbox_.data());
    LIDEREGISTER(keys_.data());
  }
  RadixSort(const RadixSort&) = delete;
  RadixSort& operator=(const RadixSort&) = delete;

  void Measure(const std::vector<std::string>& algorithms) {
    Case sort;
    sort.name = std::string("radix sort, ") + (is_skewed_ ? "skewed" : "uniform") + " keys";
    sort.rows = sort.ld = all_;
    sort.cols = 1;
    sort.bytes = static_cast<size_t>(all_) * sizeof(uint32_t);
    sort.roots = 1;
    sort.prepare = [this](int) { std::fill(keys_.begin(), keys_.end(), 0); };
    const auto check = [this] { return Check(); };
    for (const std::string& name : algorithms) {
      const Algorithm algorithm = name == "RDXSORT"      ? Algorithm::kPlain
                                  : name == "RDXSORTOPT" ? Algorithm::kOrdered
                                                         : Algorithm::kCombined;
      for (const char* const variant : {"put", "send"}) {
        const bool puts = variant[0] == 'p';
        suite_->Add(
            variant, name + ", " + variant, [this, algorithm, puts] { Sort(algorithm, puts); },
            check, &sort);
      }
    }
    if (ranks_ == 1)
      suite_->Add(
          "alone", "sequential", [this] { SortAlone(); }, check, &sort);
    suite_->Measure(sort);
  }

 private:
  void Begin() { std::copy(given_.begin(), given_.end(), keys_.begin()); }

  // Sorts the keys here by one digit.
  void CountSort(int shift) {
    int64_t* const counts = round_.CountsOf(rank_);
    std::fill(counts, counts + kDigits, 0);
    for (int64_t i = 0; i < mine_; ++i) ++counts[keys_[static_cast<size_t>(i)] >> shift & 255];
    int64_t next[kDigits];
    int64_t sum = 0;
    for (int digit = 0; digit < kDigits; ++digit) {
      next[digit] = sum;
      sum += counts[digit];
    }
    for (int64_t i = 0; i < mine_; ++i) {
      const uint32_t key = keys_[static_cast<size_t>(i)];
      sorted_[static_cast<size_t>(next[key >> shift & 255]++)] = key;
    }
  }

  void SortAlone() {
    Begin();
    for (int round = 0; round < kRounds; ++round) {
      CountSort(8 * round);
      std::copy(sorted_.begin(), sorted_.end(), keys_.begin());
    }
  }

  // All learn how many keys of each digit each has, and where those go.
  void ShareCounts(bool puts) {
    constexpr size_t kBytes = kDigits * sizeof(int64_t);
    for (int j = 1; !puts && j < ranks_; ++j) {
      const int from = (rank_ + ranks_ - j) % ranks_;
      messages_.Receive(round_.CountsOf(from), kBytes, from, kDigits);
    }
    ForOthers(rank_, ranks_, [&](int to) {
      if (puts) {
        LIPUT(to, round_.CountsOf(rank_), round_.counts(), static_cast<size_t>(rank_) * kBytes,
              kBytes);
      } else {
        messages_.Send(round_.CountsOf(rank_), kBytes, to, kDigits);
      }
    });
    puts ? EndSuperstep() : messages_.Wait();
    round_.SumCounts();
  }

  // Puts or sends keys that come to lie at a place of registered memory, or copies one's own.
  void Move(bool puts, const uint32_t* keys, int64_t count, int to, std::vector<uint32_t>* memory,
            int64_t at, int tag) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(uint32_t);
    if (to == rank_) {
      std::memcpy(memory->data() + at, keys, bytes);
    } else if (puts) {
      LIPUT(to, keys, memory->data(), static_cast<size_t>(at) * sizeof(uint32_t), bytes);
    } else {
      messages_.Send(keys, bytes, to, tag);
    }
  }

  void MovePieces(bool puts, int first) {
    for (int from = 0; !puts && from < ranks_; ++from) {
      if (from == rank_) continue;
      round_.ForPieces(from, 0, [&](const Piece& piece) {
        if (piece.to != rank_) return;
        messages_.Receive(&keys_[static_cast<size_t>(piece.to_at)],
                          static_cast<size_t>(piece.keys) * sizeof(uint32_t), from, piece.digit);
      });
    }
    round_.ForPieces(rank_, first, [&](const Piece& piece) {
      Move(puts, &sorted_[static_cast<size_t>(piece.from_at)], piece.keys, piece.to, &keys_,
           piece.to_at, piece.digit);
    });
  }

  // The receiver knows from the counts which pieces a message is made of.
  void MoveCombined(bool puts) {
    const auto ranks = static_cast<size_t>(ranks_);
    arriving_.clear();
    std::vector<int64_t> sent(ranks * ranks);  // by sender, then receiver
    for (int from = 0; from < ranks_; ++from) {
      round_.ForPieces(from, 0, [&](const Piece& piece) {
        sent[static_cast<size_t>(from * ranks_ + piece.to)] += piece.keys;
        if (piece.to == rank_) arriving_.push_back(piece);
      });
    }
    int64_t at = 0;
    for (int from = 0; from < ranks_; ++from) {
      const int64_t keys = sent[static_cast<size_t>(from * ranks_ + rank_)];
      if (!puts && from != rank_ && keys > 0) {
        messages_.Receive(inbox_.data() + at, static_cast<size_t>(keys) * sizeof(uint32_t), from,
                          0);
      }
      at += keys;
    }
    std::vector<int64_t> begins(ranks);
    for (size_t to = 1; to < ranks; ++to) {
      begins[to] = begins[to - 1] + sent[static_cast<size_t>(rank_) * ranks + to - 1];
    }
    std::vector<int64_t> next = begins;
    round_.ForPieces(rank_, 0, [&](const Piece& piece) {
      int64_t& place = next[static_cast<size_t>(piece.to)];
      std::copy_n(sorted_.begin() + piece.from_at, piece.keys, outbox_.begin() + place);
      place += piece.keys;
    });
    for (int j = 0; j < ranks_; ++j) {
      const int to = (rank_ + j) % ranks_;
      const int64_t keys = sent[static_cast<size_t>(rank_ * ranks_ + to)];
      int64_t before = 0;
      for (int from = 0; from < rank_; ++from)
        before += sent[static_cast<size_t>(from * ranks_ + to)];
      if (keys > 0) {
        Move(puts, outbox_.data() + begins[static_cast<size_t>(to)], keys, to, &inbox_, before, 0);
      }
    }
  }

  // Others may already be putting the counts of the next round.
  void Scatter() {
    int64_t at = 0;
    for (const Piece& piece : arriving_) {
      std::copy_n(inbox_.begin() + at, piece.keys, keys_.begin() + piece.to_at);
      at += piece.keys;
    }
  }

  void Sort(Algorithm algorithm, bool puts) {
    Begin();
    for (int round = 0; round < kRounds; ++round) {
      CountSort(8 * round);
      ShareCounts(puts);
      if (algorithm == Algorithm::kCombined) {
        MoveCombined(puts);
      } else {
        MovePieces(puts, algorithm == Algorithm::kOrdered ? round_.FirstDigit(rank_) : 0);
      }
      if (algorithm == Algorithm::kOrdered) {
        const auto end = std::chrono::steady_clock::now() + kDelay;
        while (std::chrono::steady_clock::now() < end) continue;
      }
      puts ? EndSuperstep() : messages_.Wait();
      if (algorithm == Algorithm::kCombined) Scatter();
    }
  }

  // Sorted, on all ranks together, and a permutation of what was given.
  std::string Check() {
    uint64_t sums[2] = {0, 0};
    for (const uint32_t key : given_) sums[0] += Mixed(key + 1);
    for (int64_t i = 0; i < mine_; ++i) sums[1] += Mixed(keys_[static_cast<size_t>(i)] + 1);
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (sums[0] != sums[1]) return "keys are lost or changed";
    // Blocks but the last ones are full: one without keys has none behind it.
    const uint32_t last = mine_ > 0 ? keys_[static_cast<size_t>(mine_) - 1] : UINT32_MAX;
    std::vector<uint32_t> lasts(static_cast<size_t>(ranks_));
    MPI_Allgather(&last, 1, MPI_UINT32_T, lasts.data(), 1, MPI_UINT32_T, MPI_COMM_WORLD);
    uint32_t before = rank_ > 0 ? lasts[static_cast<size_t>(rank_) - 1] : 0;
    for (int64_t i = 0; i < mine_; ++i) {
      const uint32_t key = keys_[static_cast<size_t>(i)];
      if (key < before) return "key " + std::to_string(i) + " is less than the one before it";
      before = key;
    }
    return "";
  }

  LiSuite* const suite_;
  const int rank_;
  const int ranks_;
  const int64_t all_;
  const int64_t block_;  // keys of a rank, but for the last ones
  const int64_t mine_;
  const bool is_skewed_;
  std::vector<uint32_t> given_;
  std::vector<uint32_t> keys_;
  std::vector<uint32_t> sorted_;
  std::vector<uint32_t> outbox_;
  std::vector<uint32_t> inbox_;
  RdxRound round_;
  std::vector<Piece> arriving_;  // in the inbox, in this order
  Messages messages_;
};

int Main(int argc, char** argv) {
  std::vector<int64_t> keys = {1024000, 4096000};
  std::vector<std::string> algorithms = {"RDXSORT", "RDXSORTOPT", "combined"};
  bool is_skewed = false;
  CLI::App app(
      "The Rdx suite of the LI paper: radix sort of 32-bit keys over all ranks. Start it under "
      "mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("--keys", keys, "Of all ranks together")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--algorithms", algorithms, "How keys are sent to their ranks")
      ->delimiter(',')
      ->check(CLI::IsMember(algorithms));
  app.add_flag("--skewed", is_skewed, "Keys with few bits set: most of their digits are equal");
  return LiSuite::Main(argc, argv, &app, [&](LiSuite* suite) {
    for (const int64_t all : keys) RadixSort(suite, all, is_skewed).Measure(algorithms);
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }
