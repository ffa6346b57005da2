// Long broadcasts that are read where the root has them: what each side counts, and that what is
// not as usual is left as it was. With more ranks: test/patterns/offers_test.

#include "patterns/direct/broadcast_offers.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/short_path/group_edges.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

constexpr size_t kBytes = 2 * rules::kLeastOfferedBytes;

struct Member : GroupMember {
  Member(InprocWorld& world, int rank, const ShmOptions& options = ShmOptions())
      : GroupMember(world, rank, OverShm(options), EngineOptions()) {
    Require(SharedAllocations::Here().Allocate(kBytes, &shared));
  }
  ~Member() { SharedAllocations::Here().Free(shared); }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  uint64_t& sequence() { return state.scope_sequence[static_cast<int>(ChannelKind::kAll)]; }
  bool Run(const PatternCall& call, OperationStatistics* did = nullptr) {
    const Engine::Turn turn(engine.get());
    uint64_t served = 0;
    return RunBroadcastOffers(engine.get(), &state, call, did, &served);
  }
  PatternCall CallOf(int root) {
    PatternCall call;
    call.pattern = Pattern::kBroadcast;
    call.root = root;
    call.matrix.data = root == state.rank ? static_cast<std::byte*>(shared) : own.data();
    call.matrix.layout = StridedLayout::Contiguous(kBytes);
    return call;
  }

  void* shared = nullptr;
  std::vector<std::byte> own = std::vector<std::byte>(kBytes);
};

// Both try again until they come at the same time. The root writes its memory anew at once.
void ExpectTheRootCopiesNothing(bool from_own_memory, const ShmOptions& options) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, options);
    void* const memory = from_own_memory ? me.own.data() : me.shared;
    for (int i = 0; i < 20; ++i) {
      const int root = i % 2;
      PatternCall call = me.CallOf(root);
      if (root == rank) {
        call.matrix.data = static_cast<std::byte*>(memory);
        std::memset(memory, i, kBytes);
      }
      OperationStatistics did;
      while (!me.Run(call, &did)) continue;
      ++me.sequence();
      OperationStatistics usual;
      usual.pieces = 1;
      usual.messages_sent = root == rank ? 1 : 0;
      usual.bytes_sent = root == rank ? kHeaderBytes + kBytes : 0;
      usual.copies = root == rank ? 0 : 1;
      usual.bytes_copied = root == rank ? 0 : kBytes;
      ExpectEqual(did, usual);
      if (root == rank) {
        std::memset(memory, 255, kBytes);
      } else {
        ASSERT_EQ(me.own, std::vector<std::byte>(kBytes, static_cast<std::byte>(i)));
      }
    }
  });
}

TEST(BroadcastOffers, TheRootCopiesNothingOfWhatOthersMap) {
  ExpectTheRootCopiesNothing(/*from_own_memory=*/false, ShmOptions());
}

TEST(BroadcastOffers, TheRootCopiesNothingOfWhatTheKernelReads) {
  ShmOptions options;
  options.kernel_copies = KernelCopyRange{kBytes / 2, kBytes};
  ExpectTheRootCopiesNothing(/*from_own_memory=*/true, options);
}

TEST(BroadcastOffers, WhatTheKernelIsNotTheFastestForIsNotOffered) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    ShmOptions options;
    options.kernel_copies = KernelCopyRange{kBytes / 2, kBytes - 1};
    Member me(world, rank, options);
    PatternCall call = me.CallOf(0);
    call.matrix.data = me.own.data();
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(me.Run(call));
    Meet(world, rank);
  });
}

TEST(BroadcastOffers, WhatIsUnusualIsLeftAsItIs) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const PatternCall usual = me.CallOf(0);
    std::vector<std::pair<std::string, PatternCall>> calls;
    const auto add = [&](const char* what) -> PatternCall& {
      calls.emplace_back(what, usual);
      return calls.back().second;
    };
    add("a sum").pattern = Pattern::kReduce;
    add("point to point").scope = ChannelKind::kPointToPoint;
    add("no data").matrix.data = nullptr;
    add("a relay").topology = {Shape::kTree, 2};
    add("by host").topology = {Shape::kTree, 8, /*by_host=*/true};
    add("a root below all").root = -1;
    add("a root beyond all").root = kRanks;
    add("a short one").matrix.layout = StridedLayout::Contiguous(rules::kLeastOfferedBytes - 1);
    for (const auto& [what, call] : calls) EXPECT_FALSE(me.Run(call)) << what;
    EXPECT_EQ(me.sequence(), 0);
    Meet(world, rank);
  });
}

}  // namespace
}  // namespace brigade
