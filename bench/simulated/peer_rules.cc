#include "bench/simulated/peer_rules.h"

#include <climits>

#include "membuf/check.h"

namespace brigade::bench {
namespace {

using A = PeerAlgorithm;

constexpr int kAnyRanks = INT_MAX;
constexpr size_t kAnyBytes = SIZE_MAX;
constexpr size_t kKiB = 1024;

// The first row counts that has more ranks and more bytes than the call.
struct Rule {
  int ranks_below;
  size_t bytes_below;
  PeerAlgorithm algorithm;
};

constexpr Rule kBroadcast[] = {
    {16, 8, A::kFourNomial},
    {16, 64, A::kBinary},
    {16, 4 * kKiB, A::kFourNomial},
    {16, 16 * kKiB, A::kBinary},
    {16, 32 * kKiB, A::kBinomial},
    {16, kAnyBytes, A::kLinear},
    {32, 4 * kKiB, A::kFourNomial},
    {32, 1024 * kKiB, A::kBinomial},
    {32, kAnyBytes, A::kScatterAllGather},
    {64, 2 * kKiB, A::kBinomial},
    {128, kAnyBytes, A::kFourNomial},
    {256, 2, A::kBinomial},
    {256, 16 * kKiB, A::kBinary},
    {256, 32 * kKiB, A::kLinear},
    {256, 64 * kKiB, A::kBinary},
    {256, kAnyBytes, A::kFourNomial},
    {1024, 16 * kKiB, A::kFourNomial},
    {1024, 32 * kKiB, A::kNotWritten},
    {1024, kAnyBytes, A::kFourNomial},
    {2048, 512 * kKiB, A::kFourNomial},
    {2048, kAnyBytes, A::kScatterAllGather},
    {4096, 256 * kKiB, A::kFourNomial},
    {4096, kAnyBytes, A::kScatterAllGather},
    {kAnyRanks, 8 * kKiB, A::kFourNomial},
    {kAnyRanks, 16 * kKiB, A::kBinary},
    {kAnyRanks, 256 * kKiB, A::kFourNomial},
    {kAnyRanks, kAnyBytes, A::kScatterAllGather},
};

constexpr Rule kReduce[] = {
    {16, 8 * kKiB, A::kBinary},           {16, kAnyBytes, A::kBinomial},
    {32, 4 * kKiB, A::kBinary},           {256, kAnyBytes, A::kBinomial},
    {512, 8 * kKiB, A::kBinomial},        {512, 16 * kKiB, A::kInOrderBinary},
    {2048, kAnyBytes, A::kBinomial},      {4096, 512, A::kBinomial},
    {4096, 1 * kKiB, A::kInOrderBinary},  {4096, 8 * kKiB, A::kBinomial},
    {4096, 16 * kKiB, A::kInOrderBinary}, {4096, kAnyBytes, A::kBinomial},
    {kAnyRanks, 16, A::kBinomial},        {kAnyRanks, 32, A::kInOrderBinary},
    {kAnyRanks, 1 * kKiB, A::kBinomial},  {kAnyRanks, 2 * kKiB, A::kInOrderBinary},
    {kAnyRanks, 8 * kKiB, A::kBinomial},  {kAnyRanks, 16 * kKiB, A::kInOrderBinary},
    {kAnyRanks, kAnyBytes, A::kBinomial},
};

// By the bytes of one block.
constexpr Rule kAllGatherV[] = {
    {16, 1 * kKiB, A::kGatherBroadcast},
    {16, kAnyBytes, A::kBruck},
    {32, 128, A::kGatherBroadcast},
    {32, 256 * kKiB, A::kBruck},
    {32, kAnyBytes, A::kRing},
    {64, 256, A::kGatherBroadcast},
    {64, 8 * kKiB, A::kBruck},
    {64, kAnyBytes, A::kRing},
    {128, 256, A::kGatherBroadcast},
    {128, 4 * kKiB, A::kBruck},
    {128, kAnyBytes, A::kRing},
    {256, 1 * kKiB, A::kBruck},
    {256, 64 * kKiB, A::kNeighbourExchange},
    {256, kAnyBytes, A::kRing},
    {512, 1 * kKiB, A::kBruck},
    {512, kAnyBytes, A::kRing},
    {1024, 512, A::kBruck},
    {1024, 1 * kKiB, A::kGatherBroadcast},
    {1024, 4 * kKiB, A::kBruck},
    {1024, 1024 * kKiB, A::kNeighbourExchange},
    {1024, kAnyBytes, A::kRing},
    {kAnyRanks, 4 * kKiB, A::kBruck},
    {kAnyRanks, kAnyBytes, A::kNeighbourExchange},
};

constexpr Rule kReduceScatter[] = {
    {32, 256 * kKiB, A::kRecursiveHalving},
    {32, kAnyBytes, A::kRing},
    {64, 64, A::kNotWritten},
    {64, 2 * kKiB, A::kRecursiveHalving},
    {64, 512 * kKiB, A::kButterfly},
    {64, kAnyBytes, A::kRing},
    {128, 256, A::kNotWritten},
    {128, 512, A::kRecursiveHalving},
    {128, 2 * kKiB, A::kButterfly},
    {128, 4 * kKiB, A::kRecursiveHalving},
    {128, kAnyBytes, A::kButterfly},
    {256, 256, A::kNotWritten},
    {256, 512, A::kRecursiveHalving},
    {256, kAnyBytes, A::kButterfly},
    {512, 256, A::kNotWritten},
    {512, 1 * kKiB, A::kRecursiveHalving},
    {512, kAnyBytes, A::kButterfly},
    {1024, 512, A::kNotWritten},
    {1024, 2 * kKiB, A::kRecursiveHalving},
    {1024, 8 * kKiB, A::kButterfly},
    {1024, 16 * kKiB, A::kRecursiveHalving},
    {1024, kAnyBytes, A::kButterfly},
    {2048, 512, A::kNotWritten},
    {2048, 4 * kKiB, A::kRecursiveHalving},
    {2048, 16 * kKiB, A::kButterfly},
    {2048, 32 * kKiB, A::kRecursiveHalving},
    {2048, kAnyBytes, A::kButterfly},
    {4096, 512, A::kNotWritten},
    {4096, 4 * kKiB, A::kRecursiveHalving},
    {4096, kAnyBytes, A::kButterfly},
    {kAnyRanks, 1 * kKiB, A::kNotWritten},
    {kAnyRanks, 8 * kKiB, A::kRecursiveHalving},
    {kAnyRanks, kAnyBytes, A::kButterfly},
};

template <size_t kRows>
PeerAlgorithm FirstOf(const Rule (&rules)[kRows], int ranks, size_t bytes) {
  for (const Rule& rule : rules) {
    if (ranks < rule.ranks_below && bytes < rule.bytes_below) return rule.algorithm;
  }
  CheckFailed(__FILE__, __LINE__, "the last row takes all");
}

}  // namespace

const char* PeerAlgorithmName(PeerAlgorithm algorithm) {
  switch (algorithm) {
    case A::kLinear:
      return "linear";
    case A::kBinary:
      return "binary tree";
    case A::kBinomial:
      return "binomial tree";
    case A::kFourNomial:
      return "4-nomial tree";
    case A::kScatterAllGather:
      return "scatter and allgather";
    case A::kInOrderBinary:
      return "in-order binary tree";
    case A::kGatherBroadcast:
      return "gather and broadcast";
    case A::kBruck:
      return "Bruck";
    case A::kRing:
      return "ring";
    case A::kNeighbourExchange:
      return "neighbour exchange";
    case A::kRecursiveHalving:
      return "recursive halving";
    case A::kButterfly:
      return "butterfly";
    case A::kNotWritten:
      return "not written";
  }
  return "?";
}

PeerAlgorithm PeerAlgorithmFor(Pattern pattern, int ranks, size_t bytes) {
  BRIGADE_CHECK(ranks >= 8);
  switch (pattern) {
    case Pattern::kBroadcast:
      return FirstOf(kBroadcast, ranks, bytes);
    case Pattern::kReduce:
      return FirstOf(kReduce, ranks, bytes);
    case Pattern::kMultiBroadcast:
      return FirstOf(kAllGatherV, ranks, bytes / static_cast<size_t>(ranks));
    case Pattern::kMultiReduce:
      return FirstOf(kReduceScatter, ranks, bytes);
    default:
      return A::kNotWritten;
  }
}

}  // namespace brigade::bench
