// Long broadcasts that are read where the root has them: what each side counts, and that what is
// not as usual is left as it was. With more ranks: test/patterns/offers_test.

#include "patterns/direct/broadcast_offers.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/byte_span.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/topology.h"
#include "patterns/short_path/group_edges.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_source.h"
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
    after = AfterOffers();
    return RunBroadcastOffers(engine.get(), &state, call, did, &after);
  }
  // By hand, to rank 0.
  InEdge* Await(uint64_t number) {
    InEdge* const edge = state.edges->EdgeFrom({state.id, ChannelKind::kAll}, 0);
    const StridedLayout layout = StridedLayout::Contiguous(kBytes);
    while (edge->Peek() != nullptr || !edge->AwaitOffer(layout, number)) std::this_thread::yield();
    return edge;
  }
  PatternCall CallOf(int root) {
    PatternCall call;
    call.pattern = Pattern::kBroadcast;
    call.root = root;
    call.matrix.data = root == state.rank ? static_cast<std::byte*>(shared) : own.data();
    call.matrix.layout = StridedLayout::Contiguous(kBytes);
    return call;
  }

  AfterOffers after;  // of the last call
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

// Rank 2 is a call ahead, which it begins itself. Rank 1 waits for an offer of this one.
TEST(BroadcastOffers, WhereNobodyRelaysOnlyTheRootsMessagesCount) {
  std::atomic<bool> is_awaited{false};
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const auto edge_to_1 = [&] {
      return me.state.edges->EdgeTo({me.state.id, ChannelKind::kAll}, 1);
    };
    if (rank == 0) edge_to_1()->AskToAwait();
    if (rank == 2) {
      OutEdge* const edge = edge_to_1();
      Slot* const slot = edge->Next();
      slot->kind = Slot::kLine;
      slot->bytes = 0;
      edge->Publish(slot);
    }
    Meet(world, rank);
    PatternCall call = me.CallOf(0);
    call.topology = {Shape::kTree, 3};
    while (rank == 1 && !is_awaited) EXPECT_FALSE(me.Run(call));
    while (rank == 0 && !is_awaited) is_awaited = edge_to_1()->IsAwaited();
    Meet(world, rank);
  });
}

// Along a chain. Both others wait by hand, and do not read: for the message of this call, or one of
// them for that of an earlier one, whose messages come to it along another edge.
TEST(BroadcastOffers, WhereSomeRelayAllAreOfferedItOrNone) {
  for (const bool is_behind : {false, true}) {
    RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      PatternCall call = me.CallOf(0);
      call.topology = {Shape::kIncreasingRings, 1};
      me.sequence() = 5;
      if (rank == 0) {
        EXPECT_FALSE(me.Run(call)) << "nobody waits";  // and asks for that
        EXPECT_FALSE(me.after.root_tells_all);
      }
      Meet(world, rank);
      InEdge* const edge = rank == 0 ? nullptr : me.Await(rank == 2 && is_behind ? 4 : 5);
      Meet(world, rank);
      if (rank == 0) {
        EXPECT_FALSE(me.Run(call));
        EXPECT_EQ(me.after.root_tells_all, !is_behind);
        EXPECT_EQ(me.after.served, 0);
      }
      Meet(world, rank);
      if (rank > 0) {
        EXPECT_TRUE(edge->TakeLandingBack());
        EXPECT_EQ(edge->WasHeld(), !is_behind);
      }
      Meet(world, rank);
    });
  }
}

// By a root that holds it, for longer than it polls: then nothing is offered, or it is taken back
// at once.
TEST(BroadcastOffers, WhoIsHeldWaitsForTheDecision) {
  for (const bool is_offered : {false, true}) {
    std::atomic<bool> is_held{false};
    std::atomic<bool> is_back{false};
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Member me(world, rank);
      const PatternCall call = me.CallOf(0);
      if (rank == 0) {
        EXPECT_FALSE(me.Run(call)) << "nobody waits";  // and asks for that
        Meet(world, rank);
        OutEdge* const edge = EdgeTo(me.engine.get(), &me.state, ChannelKind::kAll, 1);
        const SharedSource source = SharedSource::Of(call.matrix.layout, call.matrix.data);
        while (!edge->Hold(source, 0)) std::this_thread::yield();
        is_held = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        WireHeader header;
        SetHeader(EntryOf(call.pattern), call, 0, kBytes, &header);
        if (is_offered) {
          edge->Offer({reinterpret_cast<const std::byte*>(&header), sizeof(header)}, source);
          is_back = edge->TakeOfferBack();
        } else {
          edge->LetGo();
        }
        Meet(world, rank);
      } else {
        Meet(world, rank);
        bool is_done = false;
        while (!is_held) is_done = me.Run(call);
        Meet(world, rank);
        EXPECT_EQ(is_done, is_offered && !is_back);
        EXPECT_EQ(me.after.root_tells_all, is_offered);
      }
      Meet(world, rank);
    });
  }
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
    add("a topology that it cannot have").topology = {Shape::kHypercube, 2};
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
