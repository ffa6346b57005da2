// Point-to-point messages go inline or to a posted buffer if they are suitable. Others are left
// alone. All protocols use the same streams.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/segment_plan.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/protocol_member.h"
#include "test/support/run_ranks.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/rules.h"
#include "transport/shm/shm_transport.h"

namespace brigade {

class EdgeTestPeer {
 public:
  static std::atomic<uint64_t>& PostedIn(const OutEdge& edge) { return edge.shared_->posted.state; }
};

namespace {

using Bytes = std::vector<uint8_t>;

// Of two; the other rank is the peer.
struct Member : ProtocolMember {
  Member(InprocWorld& world, int rank, const EngineOptions& options = EngineOptions(),
         const KernelCopyRange& kernel_copies = KernelCopyRange())
      : Member(world, rank, options, OverShm(CopyBy(kernel_copies))) {}
  Member(InprocWorld& world, int rank, const EngineOptions& options, std::unique_ptr<Endpoint> with)
      : ProtocolMember(world, rank, std::move(with), options), peer(1 - rank) {}

  static ShmOptions CopyBy(const KernelCopyRange& range) {
    ShmOptions options;
    options.kernel_copies = KernelCopies::Both(range);
    return options;
  }

  PatternCall CallOf(Pattern pattern, Bytes* data) const {
    PatternCall call;
    call.pattern = pattern;
    call.scope = ChannelKind::kPointToPoint;
    call.root = peer;
    call.matrix.data = reinterpret_cast<std::byte*>(data->data());
    call.matrix.layout = StridedLayout::Contiguous(data->size());
    return call;
  }
  // To a posted buffer, or inline.
  Outcome Run(const PatternCall& call, OperationStatistics* did = nullptr) {
    return RunBy(kPostedBuffer, call, false, did) == Outcome::kDone
               ? Outcome::kDone
               : RunBy(kInlineMessage, call, false, did);
  }
  OperationStatistics RunEagerly(const PatternCall& call) {
    OperationStatistics did;
    Require(ProtocolMember::Run(kEagerShared, call, &did));
    return did;
  }
  // Returns once a message is there.
  Outcome Await(const PatternCall& call, OperationStatistics* did = nullptr) {
    if (call.pattern == Pattern::kSend) return Run(call, did);
    InEdge* const edge = state.edges->EdgeFrom({state.id, ChannelKind::kPointToPoint}, peer);
    for (;;) {
      const bool is_here = edge->Peek() != nullptr;
      const Outcome outcome = Run(call, did);
      if (outcome == Outcome::kDone || is_here) return outcome;
    }
  }
  OutEdge* Edge() { return state.edges->EdgeTo({state.id, ChannelKind::kPointToPoint}, peer); }
  uint64_t Sent() { return Edge()->sent(); }

  const int peer;
};

Bytes Numbered(size_t size, size_t first) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), static_cast<uint8_t>(first));
  return bytes;
}

constexpr size_t kLong = 500;  // an inline message of a wide ring

// Until the edge has a wide ring.
void SendLongLines(Member* me, bool sends) {
  for (int i = 0; i < rules::kShmInlinesBeforeWide; ++i) {
    Bytes data(kLong);
    me->RunEagerly(me->CallOf(sends ? Pattern::kSend : Pattern::kReceive, &data));
  }
}

// Either way may follow either, on both sides.
TEST(PairMessages, InlineAndEagerMessagesAreOneStream) {
  const size_t lengths[] = {1, 8, 23, 24, 25, 400, kLong, 4000, 4064, 24};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    const bool sends = rank == 0;
    SendLongLines(&me, sends);
    size_t number = 0;
    for (const bool sent_by_line : {true, false}) {
      for (const bool taken_by_line : {true, false}) {
        for (const size_t length : lengths) {
          const Bytes expected = Numbered(length, number++);
          Bytes data = sends ? expected : Bytes(length);
          const PatternCall call = me.CallOf(sends ? Pattern::kSend : Pattern::kReceive, &data);
          OperationStatistics did;
          if (sends ? sent_by_line : taken_by_line) {
            ASSERT_EQ(me.Await(call, &did), Outcome::kDone) << length;
          } else {
            did = me.RunEagerly(call);
          }
          ASSERT_EQ(data, expected) << length;
          OperationStatistics as_usual;
          as_usual.messages_sent = sends ? 1 : 0;
          as_usual.bytes_sent = sends ? kHeaderBytes + length : 0;
          as_usual.segments = as_usual.copies = 1;
          as_usual.bytes_copied = length;
          ExpectEqual(did, as_usual);
          EXPECT_EQ(did.peak_staging_bytes, 0);
          Meet(world, rank);  // or there may be no room for a long inline message
        }
      }
    }
  });
}

TEST(PairMessages, StridedDataAreGatheredAndScattered) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Bytes data = rank == 0 ? Numbered(12, 0) : Bytes(12, 99);
    PatternCall call = me.CallOf(rank == 0 ? Pattern::kSend : Pattern::kReceive, &data);
    Require(StridedLayout::General(2, 3, 4, 1, &call.matrix.layout));
    ASSERT_EQ(me.Await(call), Outcome::kDone);
    if (rank == 0) return;
    EXPECT_EQ(data, (Bytes{0, 1, 99, 99, 4, 5, 99, 99, 8, 9, 99, 99}));
  });
}

TEST(PairMessages, AShorterMessageLeavesTheRest) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Bytes data = rank == 0 ? Numbered(3, 0) : Bytes(5, 99);
    OperationStatistics did;
    ASSERT_EQ(me.Await(me.CallOf(rank == 0 ? Pattern::kSend : Pattern::kReceive, &data), &did),
              Outcome::kDone);
    EXPECT_EQ(did.bytes_copied, 3);
    if (rank == 0) return;
    EXPECT_EQ(data, (Bytes{0, 1, 2, 99, 99}));
  });
}

// No message is sent or received, and no sequence number is used.
TEST(PairMessages, UnsuitableMessagesHaveNoEffect) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Bytes data(8);
    Bytes long_data(kLong);
    const Pattern pattern = rank == 0 ? Pattern::kSend : Pattern::kReceive;
    const PatternCall call = me.CallOf(pattern, &data);
    EXPECT_EQ(me.Run(rank == 0 ? me.CallOf(pattern, &long_data) : call), Outcome::kNotNow)
        << (rank == 0 ? "no wide ring yet" : "nothing came");
    EXPECT_EQ(*me.SequenceOf(call), 0);
    if (rank == 0) {
      EXPECT_EQ(me.Sent(), 0);
    }
    Meet(world, rank);
    ASSERT_EQ(me.Await(call), Outcome::kDone);
  });
}

// The receiver may go by the plan.
TEST(PairMessages, AMessageOfSeveralSegmentsIsLeftToOthers) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, GroupMember::Small());
    SendLongLines(&me, rank == 0);
    Meet(world, rank);
    if (rank == 1) return;
    Bytes one(kLong);
    Bytes several(2 * GroupMember::Small().chunk_bytes);
    EXPECT_EQ(me.Run(me.CallOf(Pattern::kSend, &one)), Outcome::kDone);
    EXPECT_EQ(me.Run(me.CallOf(Pattern::kSend, &several)), Outcome::kNotNow);
  });
}

// Others say what is wrong with it.
TEST(PairMessages, AMessageThatIsNotTheNextStaysWhereItIs) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank);
    Bytes data = Numbered(8, 0);
    const PatternCall call = me.CallOf(rank == 0 ? Pattern::kSend : Pattern::kReceive, &data);
    if (rank == 0) {
      ASSERT_EQ(me.Run(call), Outcome::kDone);
      return;
    }
    me.state.receive_sequence[0] = 5;
    EXPECT_EQ(me.Await(call), Outcome::kNotNow);
    me.state.receive_sequence[0] = 0;
    Bytes shorter(7, 99);
    EXPECT_EQ(me.Await(me.CallOf(Pattern::kReceive, &shorter)), Outcome::kNotNow);
    EXPECT_EQ(shorter, Bytes(7, 99));
    ASSERT_EQ(me.Await(call), Outcome::kDone);
  });
}

// --- to posted buffers ---

constexpr size_t kCopied = 50000;  // by the kernel
constexpr KernelCopyRange kKernelCopies{kCopied / 2, 2 * kCopied};

// The receiver waits before the message is sent, most times.
TEST(PairMessages, AWaitingReceiverGetsTheMessageInItsBuffer) {
  constexpr int kRounds = 100;
  constexpr uint8_t kOther = kRounds;
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Member me(world, rank, EngineOptions(), kKernelCopies);
    int landed = 0;
    for (int i = 0; i < kRounds; ++i) {
      const bool sends = i % 2 == rank;
      const Bytes expected = Numbered(kCopied, static_cast<size_t>(i));
      Bytes data = sends ? expected : Bytes(kCopied);
      const PatternCall call = me.CallOf(sends ? Pattern::kSend : Pattern::kReceive, &data);
      OperationStatistics did;
      const Outcome outcome = sends ? me.Run(call, &did) : me.Await(call, &did);
      if (sends && outcome == Outcome::kNotNow) {  // the receiver is late: something has to come
        Bytes other(1, kOther);
        ASSERT_EQ(me.Run(me.CallOf(Pattern::kSend, &other)), Outcome::kDone);
        continue;
      }
      ASSERT_EQ(outcome, Outcome::kDone);
      if (data[0] == kOther) continue;
      ++landed;
      ASSERT_EQ(data, expected) << i;
      OperationStatistics as_usual;
      as_usual.messages_sent = sends ? 1 : 0;
      as_usual.bytes_sent = sends ? kHeaderBytes + kCopied : 0;
      as_usual.segments = 1;
      as_usual.copies = sends ? 1 : 0;
      as_usual.bytes_copied = sends ? kCopied : 0;
      ExpectEqual(did, as_usual);
      EXPECT_EQ(did.peak_staging_bytes, 0);
    }
    EXPECT_GT(landed, 0);
  });
}

// A sender that takes its time between beginning its copy and publishing it.
class SlowSender {
 public:
  explicit SlowSender(Member* me) : edge_(me->Edge()) {
    std::atomic<uint64_t>& posted = EdgeTestPeer::PostedIn(*edge_);
    uint64_t lent = 0;
    do {
      lent = PostedBuffer::StateOf(0, PostedBuffer::kPosted);
    } while (!posted.compare_exchange_weak(lent, PostedBuffer::StateOf(0, PostedBuffer::kClaimed)));
  }
  void Publish() {
    WireHeader header;
    header.pattern = static_cast<uint8_t>(Pattern::kSend);
    header.total_bytes = kCopied;
    Slot* const slot = edge_->Next();
    slot->kind = Slot::kInPosted;
    slot->bytes = kHeaderBytes;
    std::memcpy(slot->payload, &header, kHeaderBytes);
    edge_->Publish(slot);
  }

 private:
  OutEdge* const edge_;
};

void WaitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

TEST(PairMessages, ASenderThatIsSlowToCopyIsReported) {
  std::atomic<bool> is_reported{false};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    EngineOptions options;
    options.report_seconds = 0.001;
    options.report = [&](const std::string& text) {
      EXPECT_NE(text.find("waiting for rank 0"), std::string::npos) << text;
      is_reported = true;
    };
    Member me(world, rank, options, kKernelCopies);
    if (rank == 0) {
      SlowSender sender(&me);
      WaitFor(is_reported);
      sender.Publish();
      return;
    }
    Bytes data(kCopied);
    EXPECT_EQ(me.Await(me.CallOf(Pattern::kReceive, &data)), Outcome::kDone);
  });
}

// An endpoint whose first Progress lasts until `before` has returned.
class Meanwhile : public ForwardingEndpoint {
 public:
  Meanwhile(std::unique_ptr<Endpoint> target, std::function<void()> before)
      : ForwardingEndpoint(std::move(target)), before_(std::move(before)) {}
  bool Progress() override {
    if (before_ != nullptr) std::exchange(before_, nullptr)();
    Nudge();
    return ForwardingEndpoint::Progress();
  }

 private:
  std::function<void()> before_;
};

TEST(PairMessages, ACopiedMessageIsReceivedAfterItsSenderHasLeft) {
  std::atomic<bool> is_awaited{false};
  std::atomic<bool> is_gone{false};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    if (rank == 0) {
      {
        Member me(world, rank, EngineOptions(), kKernelCopies);
        SlowSender sender(&me);
        WaitFor(is_awaited);
        sender.Publish();
      }
      is_gone = true;
      return;
    }
    auto endpoint =
        std::make_unique<Meanwhile>(Member::OverShm(Member::CopyBy(kKernelCopies)), [&] {
          is_awaited = true;
          WaitFor(is_gone);
        });
    Member me(world, rank, EngineOptions(), std::move(endpoint));
    Bytes data(kCopied);
    const PatternCall call = me.CallOf(Pattern::kReceive, &data);
    Outcome outcome = Outcome::kNotNow;
    while (outcome == Outcome::kNotNow && !is_gone) outcome = me.Run(call);
    EXPECT_EQ(outcome, Outcome::kDone);
  });
}

TEST(PairMessages, AReceiverWithoutMemoryWaitsForACopyThatHasBegun) {
  std::atomic<bool> is_awaited{false};
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    if (rank == 0) {
      Member me(world, rank, EngineOptions(), kKernelCopies);
      SlowSender sender(&me);
      WaitFor(is_awaited);
      sender.Publish();
      return;
    }
    auto endpoint =
        std::make_unique<Meanwhile>(Member::OverShm(Member::CopyBy(kKernelCopies)), [&] {
          is_awaited = true;
          throw std::bad_alloc();
        });
    Member me(world, rank, EngineOptions(), std::move(endpoint));
    Bytes data(kCopied);
    EXPECT_EQ(me.Await(me.CallOf(Pattern::kReceive, &data)), Outcome::kDone);
  });
}

// An endpoint whose pauses last until `during`, if there is one, has returned.
class Pausing : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  void Pause(uint64_t) override {
    if (during != nullptr) during();
  }

  std::function<void()> during;
};

// As brigade_alloc allocates it. The sender's memory may be of any kind, and that of both strided.
TEST(PairMessages, MessagesToSharedMemoryTakeOneCopyIfTheirReceiverWaits) {
  for (const size_t column : {size_t{1000}, size_t{999}}) {
    std::atomic<bool> is_posted{false};
    std::atomic<bool> is_sent{false};
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      auto endpoint = std::make_unique<Pausing>(Member::OverShm(ShmOptions()));
      Pausing* const pausing = endpoint.get();
      Member me(world, rank, EngineOptions(), std::move(endpoint));
      Bytes other = Numbered(kCopied, 0);
      PatternCall call = me.CallOf(rank == 0 ? Pattern::kSend : Pattern::kReceive, &other);
      Bytes first(1);  // opens the edge
      ASSERT_EQ(me.Await(me.CallOf(call.pattern, &first)), Outcome::kDone);
      void* shared = nullptr;
      if (rank == 1) {
        Require(SharedAllocations::Here().Allocate(kCopied, &shared));
        std::memset(shared, 0, kCopied);
        call.matrix.data = static_cast<std::byte*>(shared);
      }
      Require(StridedLayout::General(column, kCopied / 1000, 1000, 1, &call.matrix.layout));
      if (rank == 0) {
        WaitFor(is_posted);
      } else {
        pausing->during = [&] {
          is_posted = true;
          WaitFor(is_sent);
        };
      }
      OperationStatistics did;
      ASSERT_EQ(me.Run(call, &did), Outcome::kDone);
      is_sent = true;
      EXPECT_EQ(did.bytes_copied, rank == 0 ? call.matrix.layout.bytes() : 0);
      EXPECT_EQ(did.peak_staging_bytes, 0);
      if (rank == 0) return;
      const auto* const got = static_cast<const uint8_t*>(shared);
      for (size_t i = 0; i < kCopied; ++i) {
        ASSERT_EQ(got[i], i % 1000 < column ? static_cast<uint8_t>(i) : 0) << i;
      }
      SharedAllocations::Here().Free(shared);
    });
  }
}

}  // namespace
}  // namespace brigade
