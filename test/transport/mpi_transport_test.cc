// Properties of the mpi transport only: the MPI functions that it calls, and their communicators.
// The functions below replace MPI's own.

#include "transport/mpi/mpi_transport.h"

#include <malloc.h>
#include <mpi.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "transport/control.h"
#include "transport/host/ranks_per_processor.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_fabric.h"
#include "transport/registry/registry.h"
#include "transport/rules.h"

namespace {

// Of carriers. One of several ranks has two communicators: segments and control messages go apart.
int g_halves_made = 0;
int g_halves_freed = 0;
int HalvesOf(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size > 1 ? 1 : 2;
}
int CarriersMade() { return g_halves_made / 2; }
int CarriersFreed() { return g_halves_freed / 2; }
int g_blocking_calls = 0;
int* g_max_tag = nullptr;  // instead of MPI's
int g_yields = 0;
int g_refused_receives = 0;
const pid_t g_process = getpid();

}  // namespace

extern "C" {

int sched_yield() noexcept {
  ++g_yields;
  return static_cast<int>(syscall(SYS_sched_yield));
}

int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* duplicate, MPI_Request* request) {
  g_halves_made += HalvesOf(comm);
  return PMPI_Comm_idup(comm, duplicate, request);
}

int MPI_Comm_free(MPI_Comm* comm) {
  if (getpid() != g_process) _exit(100);
  g_halves_freed += HalvesOf(*comm);
  return PMPI_Comm_free(comm);
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* found) {
  if (key == MPI_TAG_UB && g_max_tag != nullptr) {
    *static_cast<int**>(value) = g_max_tag;
    *found = 1;
    return MPI_SUCCESS;
  }
  return PMPI_Comm_get_attr(comm, key, value, found);
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  ++g_blocking_calls;
  return PMPI_Wait(request, status);
}

int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  ++g_blocking_calls;
  return PMPI_Recv(data, count, type, from, tag, comm, status);
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  if (g_refused_receives > 0) {
    --g_refused_receives;
    return MPI_ERR_INTERN;
  }
  return PMPI_Irecv(data, count, type, from, tag, comm, request);
}

int MPI_Barrier(MPI_Comm comm) {
  ++g_blocking_calls;
  return PMPI_Barrier(comm);
}

}  // extern "C"

namespace brigade {
namespace {

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->done = true; }) {}
  bool done = false;
};

class MpiTransport : public ::testing::Test {
 protected:
  MpiTransport() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    g_halves_made = g_halves_freed = g_blocking_calls = 0;
    const Status status = CreateMpiEndpoint(&endpoint_);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  GroupId Open(MPI_Comm comm) {
    MpiBootstrap bootstrap(comm);
    GroupId group = -1;
    const Status status = endpoint_->OpenGroup(&bootstrap, &group);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return group;
  }

  // A message around the ring of a group of the ranks of `comm`.
  void Exchange(GroupId group, MPI_Comm comm = MPI_COMM_WORLD) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const Channel channel{group, ChannelKind::kAll};
    std::vector<std::byte> segment(10000, static_cast<std::byte>(rank)), receive_buffer(10000);
    const int previous = (rank + size - 1) % size;
    Operation sent, received;
    EXPECT_TRUE(endpoint_
                    ->PostReceive(channel, previous,
                                  ByteSpan{receive_buffer.data(), receive_buffer.size()}, &received)
                    .ok());
    EXPECT_TRUE(endpoint_
                    ->PostSend(channel, (rank + 1) % size,
                               ConstByteSpan(segment.data(), segment.size()), &sent)
                    .ok());
    for (uint64_t idle = 0; !sent.done || !received.done;) {
      if (!endpoint_->Progress()) endpoint_->polling()->Pause(idle++);
    }
    EXPECT_TRUE(received.status.ok()) << received.status.ToString();
    EXPECT_EQ(receive_buffer, std::vector<std::byte>(10000, static_cast<std::byte>(previous)));
  }

  int rank_ = 0;
  int size_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
};

// Under a launcher without variables the group itself finds the ranks on this host.
TEST_F(MpiTransport, YieldsSoonWhereRanksShareProcessors) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE",
                           "SLURM_STEP_TASKS_PER_NODE"}) {
    unsetenv(name);
  }
  ASSERT_TRUE(CreateMpiEndpoint(&endpoint_).ok());
  const auto yields = [this] {
    g_yields = 0;
    endpoint_->polling()->Pause(rules::kMpiSpinsIfShared);
    return g_yields;
  };
  EXPECT_EQ(yields(), 0);
  endpoint_->CloseGroup(Open(MPI_COMM_WORLD));
  const RankProcessors mine = RankProcessors::Here();
  std::vector<RankProcessors> all(static_cast<size_t>(size_));
  MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, MPI_COMM_WORLD);
  EXPECT_EQ(yields(), RanksPerProcessor(all) > 1 ? 1 : 0);

  // Ranks that are bound to one processor share it, whatever there is beside it.
  endpoint_.reset();
  ASSERT_TRUE(CreateMpiEndpoint(&endpoint_).ok());
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ / 2, 0, &pair);
  int processor = 0;
  while (!CPU_ISSET(processor, &mine.allowed)) ++processor;
  MPI_Bcast(&processor, 1, MPI_INT, 0, MPI_COMM_WORLD);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  int bound = sched_setaffinity(0, sizeof(one), &one) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  endpoint_->CloseGroup(Open(pair));
  sched_setaffinity(0, sizeof(mine.allowed), &mine.allowed);
  int ranks = 0;
  MPI_Comm_size(pair, &ranks);
  MPI_Comm_free(&pair);
  if (!bound) GTEST_SKIP() << "some ranks may not run on the processor of rank 0";
  EXPECT_EQ(yields(), ranks > 1 ? 1 : 0);
}

TEST_F(MpiTransport, SharesCarriersAmongGroups) {
  const GroupId everyone = Open(MPI_COMM_WORLD);
  EXPECT_EQ(CarriersMade(), 1);
  // Halves and reversals of the same ranks need nothing new.
  MPI_Comm half, reversed;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, 0, &half);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &reversed);
  for (int i = 0; i < 100; ++i) {
    endpoint_->CloseGroup(Open(half));
    endpoint_->CloseGroup(Open(reversed));
  }
  EXPECT_EQ(CarriersMade(), 1);
  MPI_Comm_free(&half);
  MPI_Comm_free(&reversed);
  g_halves_freed = 0;
  Exchange(everyone);
  endpoint_->CloseGroup(everyone);
  EXPECT_EQ(CarriersFreed(), 0) << "a carrier is kept";
  endpoint_.reset();
  EXPECT_EQ(CarriersFreed(), 1);
}

// Small groups first: each makes a carrier of its own, and the members of one that comes later
// agree although they know different ones.
TEST_F(MpiTransport, AgreesOnACarrierThatAllMembersHave) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, 0, &half);
  const GroupId small = Open(half);
  const GroupId everyone = Open(MPI_COMM_WORLD);
  EXPECT_EQ(CarriersMade(), size_ > 1 ? 2 : 1);
  Exchange(everyone);
  endpoint_->CloseGroup(Open(half));
  EXPECT_EQ(CarriersMade(), size_ > 1 ? 2 : 1);
  endpoint_->CloseGroup(small);
  endpoint_->CloseGroup(everyone);
  MPI_Comm_free(&half);
}

TEST_F(MpiTransport, NeverUsesTheCallersCommunicator) {
  MPI_Comm callers;
  MPI_Comm_dup(MPI_COMM_WORLD, &callers);
  const GroupId group = Open(callers);
  int stolen = 0;
  MPI_Request wildcard;
  MPI_Irecv(&stolen, sizeof(stolen), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, callers, &wildcard);
  Exchange(group);
  int matched = 0;
  MPI_Test(&wildcard, &matched, MPI_STATUS_IGNORE);
  EXPECT_FALSE(matched);
  MPI_Cancel(&wildcard);
  PMPI_Wait(&wildcard, MPI_STATUS_IGNORE);
  MPI_Comm_free(&callers);
  Exchange(group);  // nor needs it
  endpoint_->CloseGroup(group);
}

TEST_F(MpiTransport, NeverBlocksInsideMpi) {
  const GroupId group = Open(MPI_COMM_WORLD);
  Exchange(group);
  std::byte receive_buffer[8];
  Operation cancelled;
  ASSERT_TRUE(endpoint_
                  ->PostReceive(Channel{group, ChannelKind::kRow}, 0, ByteSpan{receive_buffer, 8},
                                &cancelled)
                  .ok());
  endpoint_->CloseGroup(group);
  EXPECT_EQ(g_blocking_calls, 0);
}

TEST_F(MpiTransport, LeaksNothingOverManyGroups) {
  const GroupId everyone = Open(MPI_COMM_WORLD);
  size_t before = 0;
  for (int i = 0; i < 4000; ++i) {
    // MPI's own caches have grown to their size by then.
    if (i == 2000) before = mallinfo2().uordblks;
    const GroupId group = Open(MPI_COMM_WORLD);
    Exchange(group);
    std::byte receive_buffer[8];
    Operation cancelled;
    ASSERT_TRUE(endpoint_
                    ->PostReceive(Channel{group, ChannelKind::kRow}, 0, ByteSpan{receive_buffer, 8},
                                  &cancelled)
                    .ok());
    endpoint_->CloseGroup(group);
  }
  const size_t after = mallinfo2().uordblks;
  // The smallest leak, a request of 100 bytes per cycle, would be 200 kB; MPI itself took up to 53
  // kB.
  EXPECT_LT(after, before + 100000);
  EXPECT_EQ(CarriersMade(), 1);
  endpoint_->CloseGroup(everyone);
}

TEST_F(MpiTransport, MakesACarrierWhenTheTagsAreUsedUp) {
  int max_tag = 14;  // three groups of four channels
  g_max_tag = &max_tag;
  ASSERT_TRUE(CreateMpiEndpoint(&endpoint_).ok());
  g_max_tag = nullptr;
  const GroupId first = Open(MPI_COMM_WORLD);
  for (int i = 1; i < 60; ++i) {
    const GroupId group = Open(MPI_COMM_WORLD);
    Exchange(group);
    Exchange(first);
    endpoint_->CloseGroup(group);
  }
  EXPECT_EQ(CarriersMade(), 20);
  EXPECT_EQ(CarriersFreed(), 11) << "all but the first group's and eight";
  endpoint_->CloseGroup(first);
}

// Groups of a group stay on its carrier.
TEST_F(MpiTransport, NamesTheEndOfTheTagsOfAGroup) {
  class OfParent : public Bootstrap {
   public:
    OfParent(GroupId parent, const std::vector<int>* ranks) : parent_{parent, ranks} {}
    int rank() const override { return mpi_.rank(); }
    int size() const override { return mpi_.size(); }
    Status AllGather(const void* mine, size_t bytes, void* all) override {
      return mpi_.AllGather(mine, bytes, all);
    }
    std::optional<Parent> parent() const override { return parent_; }

   private:
    const Parent parent_;
    MpiBootstrap mpi_{MPI_COMM_WORLD};
  };
  int max_tag = 14;  // three groups of four channels
  g_max_tag = &max_tag;
  ASSERT_TRUE(CreateMpiEndpoint(&endpoint_).ok());
  g_max_tag = nullptr;
  std::vector<int> everyone(static_cast<size_t>(size_));
  std::iota(everyone.begin(), everyone.end(), 0);
  const GroupId first = Open(MPI_COMM_WORLD);
  OfParent of_first(first, &everyone);
  GroupId group = -1;
  for (int i = 1; i < 3; ++i) {
    ASSERT_TRUE(endpoint_->OpenGroup(&of_first, &group).ok());
    endpoint_->CloseGroup(group);
  }
  const Status status = endpoint_->OpenGroup(&of_first, &group);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "mpi: no tag is left for groups of this group, after 3; make the group of an MPI "
            "communicator");
  endpoint_->CloseGroup(first);
}

// Rank 0 works with so many others that it frees its carrier with rank 1, who keeps it. They agree
// all the same when they meet again.
TEST_F(MpiTransport, AgreesWithAMemberThatHasFreedTheCarrier) {
  std::vector<std::vector<int>> sets;
  for (int members = 1; members < 1 << size_; ++members) {
    if (((members >> 1) & 1) != 0) continue;
    std::vector<int> set;
    for (int rank = 0; rank < size_; ++rank) {
      if (((members >> rank) & 1) != 0) set.push_back(rank);
    }
    sets.push_back(set);
  }
  // Small ones first: none is in the carrier of one before.
  std::stable_sort(sets.begin(), sets.end(),
                   [](const auto& a, const auto& b) { return a.size() < b.size(); });
  const std::vector<int> pair = size_ > 1 ? std::vector<int>{0, 1} : std::vector<int>{0};
  sets.insert(sets.begin(), pair);
  sets.push_back(pair);
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (const std::vector<int>& set : sets) {
    if (std::find(set.begin(), set.end(), rank_) == set.end()) continue;
    MPI_Group members;
    MPI_Comm comm;
    MPI_Group_incl(world, static_cast<int>(set.size()), set.data(), &members);
    MPI_Comm_create_group(MPI_COMM_WORLD, members, /*tag=*/0, &comm);
    MPI_Group_free(&members);
    const GroupId group = Open(comm);
    Exchange(group, comm);
    endpoint_->CloseGroup(group);
    EXPECT_LE(CarriersMade() - CarriersFreed(), 8);
    const int duplicates = CarriersMade();
    endpoint_->CloseGroup(Open(comm));
    EXPECT_EQ(CarriersMade(), duplicates) << "the newest is the same for all";
    PMPI_Comm_free(&comm);
  }
  // Of 6 ranks, 0 has been in the pair, in 15 sets with others, and in the pair again.
  if (size_ == 6 && rank_ <= 1) {
    EXPECT_EQ(CarriersMade(), rank_ == 0 ? 17 : 2);
    EXPECT_EQ(CarriersFreed(), rank_ == 0 ? 9 : 0);
  }
  MPI_Group_free(&world);
}

TEST_F(MpiTransport, RefusesLengthsThatMpiCannotCount) {
  const GroupId group = Open(MPI_COMM_WORLD);
  const Channel channel{group, ChannelKind::kPointToPoint};
  const size_t bytes = size_t{1} << 31;
  Operation operation;
  std::byte* nowhere = nullptr;
  EXPECT_EQ(endpoint_->PostSend(channel, rank_, ConstByteSpan(nowhere, bytes), &operation).code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(endpoint_->PostReceive(channel, rank_, ByteSpan{nowhere, bytes}, &operation).code(),
            StatusCode::kInvalidArgument);
  const StridedLayout layout = StridedLayout::Contiguous(bytes);
  EXPECT_FALSE(endpoint_->LandsInPlace(channel, rank_, LayoutRange{&layout, nullptr, 0, bytes}));
  endpoint_->CloseGroup(group);
}

// It waits behind a short one, and MPI refuses it where that has come.
TEST_F(MpiTransport, AReceiveInPlaceThatIsPostedAgainWritesToItsColumnsOnly) {
  constexpr int kRows = 100;
  constexpr int kStride = 150;
  constexpr int kColumns = 10;
  const GroupId group = Open(MPI_COMM_WORLD);
  const Channel channel{group, ChannelKind::kAll};
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(kRows, kColumns, kStride, sizeof(double), &layout).ok());
  std::vector<double> matrix(kStride * kColumns);
  std::vector<double> data(kRows * kColumns);
  std::iota(data.begin(), data.end(), 1.0);
  const LayoutRange range{&layout, reinterpret_cast<std::byte*>(matrix.data()), 0, layout.bytes()};
  const ConstByteSpan segment(reinterpret_cast<const std::byte*>(data.data()), layout.bytes());
  std::byte early[8];
  Operation received, received_in_place, sent, sent_behind;
  ASSERT_TRUE(endpoint_->LandsInPlace(channel, rank_, range));
  ASSERT_TRUE(endpoint_->PostReceive(channel, rank_, {early, sizeof(early)}, &received).ok());
  ASSERT_TRUE(endpoint_->PostReceiveInPlace(channel, rank_, range, &received_in_place).ok());
  g_refused_receives = 1;
  ASSERT_TRUE(endpoint_->PostSend(channel, rank_, {segment.data, sizeof(early)}, &sent).ok());
  ASSERT_TRUE(endpoint_->PostSend(channel, rank_, segment, &sent_behind).ok());
  while (!received_in_place.done || !sent_behind.done) endpoint_->Progress();
  EXPECT_EQ(g_refused_receives, 0);
  EXPECT_TRUE(received_in_place.status.ok()) << received_in_place.status.ToString();
  for (int j = 0; j < kColumns; ++j) {
    for (int i = 0; i < kStride; ++i) {
      ASSERT_EQ(matrix[j * kStride + i], i < kRows ? data[j * kRows + i] : 0) << i << ", " << j;
    }
  }
  endpoint_->CloseGroup(group);
}

// An endpoint whose every Progress moves something detects failures, too.
TEST_F(MpiTransport, HearsOfControlMessagesWhileSegmentsMove) {
  struct Handler final : ControlHandler {
    void OnControl(int, ConstByteSpan) override { heard = true; }
    bool heard = false;
  } handler;
  const GroupId group = Open(MPI_COMM_WORLD);
  endpoint_->SetControlHandler(group, &handler);
  const std::byte message[1] = {};
  const int next = (rank_ + 1) % size_;
  ASSERT_TRUE(endpoint_->SendControl(group, next, {message, 1}, Urgency::kUrgent).ok());
  const Channel channel{group, ChannelKind::kAll};
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
  while (!handler.heard && std::chrono::steady_clock::now() < end) {
    std::byte buffer[1];
    Operation received, sent;
    ASSERT_TRUE(endpoint_->PostReceive(channel, rank_, {buffer, 1}, &received).ok());
    ASSERT_TRUE(endpoint_->PostSend(channel, rank_, {message, 1}, &sent).ok());
    while (!received.done || !sent.done) endpoint_->Progress();
  }
  EXPECT_TRUE(handler.heard);
  endpoint_->CloseGroup(group);
}

TEST_F(MpiTransport, AForkedChildFreesNoCommunicator) {
  const GroupId group = Open(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    endpoint_.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Exchange(group);
  endpoint_->CloseGroup(group);
}

TEST_F(MpiTransport, RefusesAForeignBootstrap) {
  class Foreign : public Bootstrap {
    int rank() const override { return 0; }
    int size() const override { return 1; }
    Status AllGather(const void*, size_t, void*) override { return Status(); }
  } foreign;
  GroupId group = -1;
  EXPECT_EQ(endpoint_->OpenGroup(&foreign, &group).code(), StatusCode::kUnavailable);
}

// Settings passed to the launcher reach the verdict.
TEST(Fabric, ReadsTheSettingsOfMpi) {
  const FabricFacts facts = FabricHere();
  EXPECT_TRUE(facts.is_open_mpi);
  const char* const told = std::getenv("OMPI_MCA_btl");
  if (told != nullptr) {
    EXPECT_EQ(facts.btl, told);
  }
  FabricFacts free = facts;
  free.devices.clear();
  EXPECT_TRUE(JudgeFabric(free).uses_tcp) << JudgeFabric(free).reason;
}

TEST(Registry, RefusesAnUnknownTransportAndNamesTheKnownOnes) {
  std::unique_ptr<Endpoint> endpoint;
  const Status status = CreateEndpoint("carrier pigeon", &endpoint);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("'carrier pigeon'"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("mpi"), std::string::npos) << status.message();
  EXPECT_TRUE(CreateEndpoint("auto", &endpoint).ok());
  EXPECT_STREQ(endpoint->capabilities().name, "auto");
}

TEST(Registry, TheOldNameOfTcpIsValid) {
  std::unique_ptr<Endpoint> endpoint;
  ASSERT_TRUE(CreateEndpoint("uring", &endpoint).ok());
  EXPECT_STREQ(endpoint->capabilities().name, "tcp");
}

}  // namespace
}  // namespace brigade
