// Times that can be computed by hand, and other properties of sim only. The conformance suite
// checks the contract (test/transport/sim_conformance_test.cc).

#include "transport/sim/sim_transport.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/simulated_processor.h"

namespace brigade {
namespace {

constexpr int kUser = MachineDescription::kUserMemory;
constexpr int kStaging = 1;

// Ranks on hosts of their own. A message of 1000 bytes occupies its ports for 10 us and takes 5 us
// more; copies and adds of 1000 bytes take 20 us.
MachineDescription Machine() {
  MachineDescription machine;
  machine.name = "by hand";
  machine.hosts = 8;
  machine.memories.resize(2);
  machine.memories[kUser].name = "user";
  machine.memories[kStaging].name = "staging";
  for (int& memory : machine.memory_of_kind) memory = kStaging;
  machine.copies.resize(4);
  for (MemoryWork& work : machine.copies) work.rate.points = {{1, 50}};
  machine.adds = machine.copies;
  machine.between_hosts.mb_s = 100;
  machine.between_hosts.latency_us = 5;
  machine.between_hosts.ports_of_host = true;
  machine.within_host = machine.between_hosts;
  return machine;
}

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->done = true; }) {}
  bool done = false;
};

// One rank in a group of all.
class Rank {
 public:
  Rank(SimWorld* world, int rank) : world_(world), rank_(rank) {
    endpoint_ = world->CreateEndpoint(rank);
    EXPECT_TRUE(endpoint_->OpenGroup(world->MakeBootstrap(rank).get(), &channel_.group).ok());
  }

  Endpoint* endpoint() { return endpoint_.get(); }
  double clock() const { return world_->Clock(rank_); }
  void Send(int peer, const std::vector<std::byte>& segment, Operation* operation) {
    EXPECT_TRUE(
        endpoint_->PostSend(channel_, peer, {segment.data(), segment.size()}, operation).ok());
  }
  void Receive(int peer, std::vector<std::byte>* receive_buffer, Operation* operation) {
    EXPECT_TRUE(endpoint_
                    ->PostReceive(channel_, peer, {receive_buffer->data(), receive_buffer->size()},
                                  operation)
                    .ok());
  }
  void Handle(ControlHandler* handler) { endpoint_->SetControlHandler(channel_.group, handler); }
  void Control(int peer, size_t bytes, Urgency urgency) {
    const std::vector<std::byte> message(bytes);
    EXPECT_TRUE(
        endpoint_->SendControl(channel_.group, peer, {message.data(), bytes}, urgency).ok());
  }
  // The clock when the operation is over.
  double Wait(const Operation& operation) {
    for (uint64_t idle = 0; !operation.done; ++idle) {
      if (!endpoint_->Progress()) endpoint_->polling()->Pause(idle);
    }
    EXPECT_TRUE(operation.status.ok()) << operation.status.ToString();
    return clock();
  }
  void Close() { endpoint_->CloseGroup(channel_.group); }
  // Copies within user memory.
  void Copy(size_t bytes) {
    endpoint_->simulated_processor()->Copy(&anywhere_, &anywhere_, bytes, bytes);
  }
  // Does nothing for so long.
  void Idle(double microseconds) { Copy(static_cast<size_t>(microseconds * 50)); }

 private:
  SimWorld* const world_;
  const int rank_;
  std::byte anywhere_{};
  std::unique_ptr<Endpoint> endpoint_;
  Channel channel_{-1, ChannelKind::kAll};
};

using Body = std::function<void(Rank& me, int rank)>;

void OnRanks(int ranks, const MachineDescription& machine, const Body& body) {
  SimWorld world(machine, ranks);
  const Status ran = world.Run([&](int rank) {
    Rank me(&world, rank);
    body(me, rank);
  });
  EXPECT_TRUE(ran.ok()) << ran.ToString();
}

std::vector<std::byte> Bytes(size_t bytes) { return std::vector<std::byte>(bytes, std::byte{7}); }

TEST(SimTransport, OneMessage) {
  MachineDescription machine = Machine();
  machine.between_hosts.message_us = 1;
  machine.between_hosts.send_overhead = {2, 500};     // 4 us for 1000 bytes
  machine.between_hosts.receive_overhead = {3, 250};  // 7 us
  OnRanks(2, machine, [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation operation;
    if (rank == 0) {
      me.Send(1, data, &operation);
      EXPECT_DOUBLE_EQ(me.clock(), 4);
      EXPECT_DOUBLE_EQ(me.Wait(operation), 4 + 1 + 10);
    } else {
      me.Receive(0, &receive_buffer, &operation);
      EXPECT_DOUBLE_EQ(me.Wait(operation), 4 + 1 + 10 + 5 + 7);
      EXPECT_EQ(receive_buffer, data);
    }
  });
}

struct Counting final : ControlHandler {
  void OnControl(int, ConstByteSpan) override { ++count; }
  int count = 0;
};

// A control message of 40 bytes, which costs 0.08 us, 0.4 us on the link and 0.16 us, and a segment
// of 1000 bytes; a message costs 2, 1 and 3 us besides. Where they are joined only the segment
// does, unless it has to wait for its receive.
TEST(SimTransport, AControlMessageJoinsTheNextMessage) {
  struct Case {
    bool joins_control;
    size_t eager_bytes;
    double sent_at;
    double noted_at;
    double received_at;
  };
  for (const Case& c : {Case{false, SIZE_MAX, 6.08, 3.48 + 5 + 3.16, 17.08 + 5 + 7},
                        Case{true, SIZE_MAX, 4.08, 4.48 + 5 + 0.16, 15.48 + 5 + 7},
                        Case{true, 999, 6.08, 7.48 + 5 + 3.16, 18.48 + 5 + 7}}) {
    MachineDescription machine = Machine();
    machine.between_hosts.message_us = 1;
    machine.between_hosts.send_overhead = {2, 500};
    machine.between_hosts.receive_overhead = {3, 250};
    machine.between_hosts.joins_control = c.joins_control;
    machine.between_hosts.eager_bytes = c.eager_bytes;
    OnRanks(2, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation operation;
      Counting controls;
      me.Handle(&controls);
      if (rank == 0) {
        me.Control(1, 40, Urgency::kWithNext);
        me.Send(1, data, &operation);
        EXPECT_NEAR(me.clock(), c.sent_at, 1e-5);
        me.Wait(operation);
      } else {
        me.Receive(0, &receive_buffer, &operation);
        while (controls.count == 0) me.endpoint()->Progress();
        EXPECT_NEAR(me.clock(), c.noted_at, 1e-5);
        EXPECT_NEAR(me.Wait(operation), c.received_at, 1e-5);
        EXPECT_EQ(receive_buffer, data);
      }
    });
  }
}

// A message to rank 2 does not flush a held control message for rank 1; a control message to rank 1
// does, and the end of the group.
TEST(SimTransport, AControlMessageWaitsForTheNextOneToItsMember) {
  MachineDescription machine = Machine();
  machine.between_hosts.send_overhead = {2, kUnlimitedRate};
  machine.between_hosts.joins_control = true;
  OnRanks(3, machine, [](Rank& me, int rank) {
    Counting controls;
    me.Handle(&controls);
    if (rank == 0) {
      me.Control(1, 10, Urgency::kWithNext);
      me.Control(2, 10, Urgency::kCanWait);
      EXPECT_DOUBLE_EQ(me.clock(), 2);
      me.Idle(100);
      me.Control(1, 10, Urgency::kCanWait);
      EXPECT_DOUBLE_EQ(me.clock(), 104);
      me.Control(1, 10, Urgency::kWithNext);
      me.Idle(100);
      me.Close();
      EXPECT_DOUBLE_EQ(me.clock(), 206);
    } else if (rank == 1) {
      while (controls.count == 0) me.endpoint()->Progress();
      EXPECT_NEAR(me.clock(), 104 + 0.1 + 5, 1e-5);
      while (controls.count < 3) me.endpoint()->Progress();
      EXPECT_NEAR(me.clock(), 206 + 0.1 + 5, 1e-5);
    }
  });
}

TEST(SimTransport, MessagesShareThePortOfTheirSender) {
  for (int ports : {1, 2}) {
    MachineDescription machine = Machine();
    machine.between_hosts.send_ports = ports;
    OnRanks(3, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation first, second;
      if (rank == 0) {
        me.Send(1, data, &first);
        me.Send(2, data, &second);
        me.Wait(first);
        me.Wait(second);
      } else {
        me.Receive(0, &receive_buffer, &first);
        EXPECT_DOUBLE_EQ(me.Wait(first), ports == 2 || rank == 1 ? 15 : 25);
      }
    });
  }
}

TEST(SimTransport, MessagesShareThePortOfTheirReceiver) {
  for (int ports : {1, 2}) {
    MachineDescription machine = Machine();
    machine.between_hosts.receive_ports = ports;
    OnRanks(3, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000), other(1000);
      Operation first, second;
      if (rank > 0) {
        me.Send(0, data, &first);
        EXPECT_DOUBLE_EQ(me.Wait(first), ports == 2 || rank == 1 ? 10 : 20);
      } else {
        me.Receive(1, &receive_buffer, &first);
        me.Receive(2, &other, &second);
        me.Wait(first);
        EXPECT_DOUBLE_EQ(me.Wait(second), ports == 2 ? 15 : 25);
      }
    });
  }
}

// Rank 0 sends to 2, whose port rank 1 keeps busy, and then to 3.
TEST(SimTransport, AMessageLetsAnotherPass) {
  OnRanks(4, Machine(), [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000), other(1000);
    Operation first, second;
    switch (rank) {
      case 0:
        me.Idle(1);
        me.Send(2, data, &first);
        me.Send(3, data, &second);
        EXPECT_DOUBLE_EQ(me.Wait(second), 11);
        EXPECT_DOUBLE_EQ(me.Wait(first), 21);
        break;
      case 1:
        me.Send(2, data, &first);
        EXPECT_DOUBLE_EQ(me.Wait(first), 10);
        break;
      case 2:
        me.Receive(1, &receive_buffer, &first);
        me.Receive(0, &other, &second);
        me.Wait(first);
        EXPECT_DOUBLE_EQ(me.Wait(second), 26);
        break;
      case 3:
        me.Receive(0, &receive_buffer, &first);
        EXPECT_DOUBLE_EQ(me.Wait(first), 16);
        break;
    }
  });
}

TEST(SimTransport, RanksOfAHostShareItsPortsOrHaveTheirOwn) {
  for (bool of_host : {true, false}) {
    MachineDescription machine = Machine();
    machine.ranks_per_host = 2;
    machine.between_hosts.ports_of_host = of_host;
    OnRanks(4, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation operation;
      if (rank < 2) {
        me.Send(rank + 2, data, &operation);
        me.Wait(operation);
      } else {
        me.Receive(rank - 2, &receive_buffer, &operation);
        EXPECT_DOUBLE_EQ(me.Wait(operation), of_host && rank == 3 ? 25 : 15);
      }
    });
  }
}

TEST(SimTransport, BothWaysAtOnceOrOneAfterTheOther) {
  for (bool half_duplex : {false, true}) {
    MachineDescription machine = Machine();
    machine.between_hosts.half_duplex = half_duplex;
    OnRanks(2, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation sent, received;
      me.Send(1 - rank, data, &sent);
      me.Receive(1 - rank, &receive_buffer, &received);
      EXPECT_DOUBLE_EQ(me.Wait(received), half_duplex && rank == 0 ? 25 : 15);
      me.Wait(sent);
    });
  }
}

TEST(SimTransport, LongMessagesWaitForTheirReceive) {
  for (bool eager : {true, false}) {
    MachineDescription machine = Machine();
    machine.between_hosts.eager_bytes = eager ? 1000 : 999;
    machine.between_hosts.grant_us = 4;
    OnRanks(2, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation operation;
      if (rank == 0) {
        me.Send(1, data, &operation);
        EXPECT_DOUBLE_EQ(me.Wait(operation), eager ? 10 : 100 + 4 + 10);
      } else {
        me.Idle(100);
        me.Receive(0, &receive_buffer, &operation);
        EXPECT_DOUBLE_EQ(me.Wait(operation), eager ? 100 : 100 + 4 + 10 + 5);
        EXPECT_EQ(receive_buffer, data);
      }
    });
  }
}

// A port that has been idle passes its saved bytes in no time: 600 of the 1000 bytes at first, and
// after 3 us another 300.
TEST(SimTransport, BucketsOfIdlePortsPassAtOnce) {
  MachineDescription machine = Machine();
  machine.between_hosts.burst_bytes = 600;
  OnRanks(2, machine, [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation first, second;
    if (rank == 0) {
      me.Send(1, data, &first);
      EXPECT_DOUBLE_EQ(me.Wait(first), 4);
      me.Idle(3);
      me.Send(1, data, &second);
      EXPECT_DOUBLE_EQ(me.Wait(second), 4 + 3 + 7);
    } else {
      me.Receive(0, &receive_buffer, &first);
      EXPECT_DOUBLE_EQ(me.Wait(first), 4 + 5);
      me.Receive(0, &receive_buffer, &second);
      EXPECT_DOUBLE_EQ(me.Wait(second), 14 + 5);
      EXPECT_EQ(receive_buffer, data);
    }
  });
}

// Messages that arrive while the processor is busy are handled afterwards, and their replies leave
// later; copies delay nothing else.
TEST(SimTransport, CopiesTakeTheProcessorOnly) {
  OnRanks(2, Machine(), [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation first, second;
    if (rank == 0) {
      me.Send(1, data, &first);
      me.Copy(2000);
      EXPECT_DOUBLE_EQ(me.clock(), 40);
      me.Send(1, data, &second);
      EXPECT_DOUBLE_EQ(me.Wait(first), 40);
      EXPECT_DOUBLE_EQ(me.Wait(second), 50);
    } else {
      me.Receive(0, &receive_buffer, &first);
      me.Receive(0, &data, &second);
      EXPECT_DOUBLE_EQ(me.Wait(first), 15);
      EXPECT_DOUBLE_EQ(me.Wait(second), 55);
    }
  });
}

TEST(SimTransport, OnePollFindsMessagesThatArrivedDuringWork) {
  OnRanks(2, Machine(), [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation operation;
    if (rank == 0) {
      me.Send(1, data, &operation);
      me.Wait(operation);
    } else {
      me.Receive(0, &receive_buffer, &operation);
      me.Idle(100);
      EXPECT_TRUE(me.endpoint()->Progress());
      EXPECT_TRUE(operation.done);
    }
  });
}

TEST(SimTransport, SendsToAClosedGroupComplete) {
  MachineDescription machine = Machine();
  machine.between_hosts.eager_bytes = 0;
  OnRanks(2, machine, [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation first, second;
    if (rank == 0) {
      me.Send(1, data, &first);
      EXPECT_DOUBLE_EQ(me.Wait(first), 60);
      me.Send(1, data, &second);
      EXPECT_DOUBLE_EQ(me.Wait(second), 70);
    } else {
      me.Idle(50);
      me.Close();
      me.Idle(50);
    }
  });
}

// As a program does that waits for something else than messages.
TEST(SimTransport, ARankMayLookOftenBeforeItActs) {
  OnRanks(2, Machine(), [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation operation;
    if (rank == 0) {
      for (uint64_t i = 0; i < 100; ++i) {
        EXPECT_FALSE(me.endpoint()->Progress());
        me.endpoint()->polling()->Pause(i);
      }
      me.Send(1, data, &operation);
      EXPECT_DOUBLE_EQ(me.Wait(operation), 10);
    } else {
      me.Receive(0, &receive_buffer, &operation);
      EXPECT_DOUBLE_EQ(me.Wait(operation), 15);
    }
  });
}

// A copy that takes 10 us alone, and a message that takes as long, from the same time on.
TEST(SimTransport, CopiesAndMessagesShareABus) {
  struct Case {
    double bus_mb_s;
    double copied_at;
    double sent_at;
  };
  for (const Case& c : {Case{150, 10, 10}, Case{100, 15, 15}, Case{75, 20, 20}}) {
    MachineDescription machine = Machine();
    machine.buses = {{"memory", c.bus_mb_s}};
    machine.copies[0].buses = {{0, 1}};             // needs 50 MB/s
    machine.memories[kUser].send.buses = {{0, 1}};  // needs 100 MB/s
    OnRanks(2, machine, [&](Rank& me, int rank) {
      std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
      Operation operation;
      if (rank == 0) {
        me.Send(1, data, &operation);
        me.Copy(500);
        EXPECT_DOUBLE_EQ(me.clock(), c.copied_at);
        EXPECT_DOUBLE_EQ(me.Wait(operation), c.sent_at);
      } else {
        me.Receive(0, &receive_buffer, &operation);
        EXPECT_DOUBLE_EQ(me.Wait(operation), c.sent_at + 5);
      }
    });
  }
}

// The bus is crowded for a part of the time: a copy of 2 us alone slows a message of 10 us alone.
TEST(SimTransport, ABusIsSharedOnlyWhileItIsCrowded) {
  MachineDescription machine = Machine();
  machine.buses = {{"memory", 75}};
  machine.copies[0].buses = {{0, 1}};
  for (Memory& memory : machine.memories) memory.receive.buses = {{0, 0.75}};
  OnRanks(2, machine, [&](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    Operation operation;
    if (rank == 0) {
      me.Send(1, data, &operation);
      // At 75 / 125 of its speed until 10/3 us, at all of it from then on.
      EXPECT_NEAR(me.Wait(operation), 10 + 10.0 / 3 - 2, 1e-5);
    } else {
      me.Receive(0, &receive_buffer, &operation);
      me.Copy(100);
      EXPECT_NEAR(me.clock(), 10.0 / 3, 1e-5);
      me.Wait(operation);
    }
  });
}

// A rank that polls now and then does not sleep until a message comes, after 15 us.
TEST(SimTransport, AComputingRankIsNotIdle) {
  OnRanks(2, Machine(), [](Rank& me, int rank) {
    std::vector<std::byte> data = Bytes(1000);
    Operation operation;
    if (rank == 1) {
      me.Send(0, data, &operation);
    } else {
      me.Receive(1, &data, &operation);
      for (int i = 1; i <= 4; ++i) {
        me.endpoint()->simulated_processor()->Compute(2.5);
        EXPECT_FALSE(me.endpoint()->Progress());
        EXPECT_DOUBLE_EQ(me.clock(), 2.5 * i);
      }
    }
    me.Wait(operation);
  });
}

TEST(SimTransport, MemoriesDifferInRate) {
  MachineDescription machine = Machine();
  machine.memories[kStaging].send.mb_s = 40;
  machine.memories[kStaging].receive.mb_s = 20;
  machine.copies[kUser * 2 + kStaging].rate.points = {{8, 10}, {1000, 80}};
  machine.adds[kStaging * 2 + kUser].rate.points = {{1, 5}};
  OnRanks(2, machine, [](Rank& me, int rank) {
    ByteSpan staging;
    ASSERT_TRUE(me.endpoint()->domain()->Allocate(0, 4096, &staging).ok());
    std::vector<std::byte> data = Bytes(1000);
    SimulatedProcessor* const processor = me.endpoint()->simulated_processor();
    processor->Copy(staging.data, data.data(), 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 12.5);
    processor->Copy(staging.data + 96, data.data(), 1000, 8);
    EXPECT_DOUBLE_EQ(me.clock(), 112.5);
    processor->Copy(data.data(), staging.data, 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 132.5);
    // user = user + staging, staging = staging + user
    processor->Combine(data.data(), data.data(), staging.data, 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 332.5);
    processor->Combine(staging.data, staging.data, data.data(), 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 352.5);
    // user = user + staging, none the same: the slower operand decides
    processor->Combine(data.data(), data.data() + 8, staging.data, 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 552.5);
    processor->Combine(data.data(), staging.data, data.data() + 8, 1000, 1000);
    EXPECT_DOUBLE_EQ(me.clock(), 752.5);
    const Channel channel{0, ChannelKind::kAll};
    Operation operation;
    if (rank == 0) {
      ASSERT_TRUE(me.endpoint()->PostSend(channel, 1, {staging.data, 1000}, &operation).ok());
      EXPECT_DOUBLE_EQ(me.Wait(operation), 752.5 + 50);  // the receiving side is the slower
    } else {
      ASSERT_TRUE(me.endpoint()->PostReceive(channel, 0, {staging.data, 1000}, &operation).ok());
      me.Wait(operation);
    }
    me.endpoint()->domain()->Free(staging);
  });
}

TEST(SimTransport, StagingMemoryHasALimit) {
  MachineDescription machine = Machine();
  machine.memories[kStaging].bytes_per_rank = 10000;
  SimWorld world(machine, 1);
  const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(0);
  ByteSpan memory, more;
  ASSERT_TRUE(endpoint->domain()->Allocate(0, 6000, &memory).ok());
  const Status status = endpoint->domain()->Allocate(0, 4001, &more);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_NE(status.message().find("10000"), std::string::npos) << status.message();
  endpoint->domain()->Free(memory);
}

// Everything to everybody over crowded ports and buses: the same times each time, to the bit.
TEST(SimTransport, IsDeterministic) {
  MachineDescription machine = Machine();
  machine.ranks_per_host = 2;
  machine.buses = {{"memory", 123}};
  machine.copies[0].buses = {{0, 2}};
  machine.memories[kUser].send.buses = {{0, 0.7}};
  machine.memories[kUser].receive.buses = {{0, 1.3}};
  machine.between_hosts.eager_bytes = 700;
  constexpr int kRanks = 6;
  std::vector<double> first;
  for (int repeat = 0; repeat < 3; ++repeat) {
    std::vector<double> times;
    OnRanks(kRanks, machine, [&](Rank& me, int rank) {
      std::vector<std::vector<std::byte>> receive_buffers(kRanks, Bytes(2500));
      std::vector<Operation> sent(kRanks), received(kRanks);
      for (int peer = 0; peer < kRanks; ++peer)
        me.Receive(peer, &receive_buffers[peer], &received[peer]);
      std::vector<std::vector<std::byte>> segments;
      for (int peer = 0; peer < kRanks; ++peer)
        segments.push_back(Bytes(331 * ((1 + peer) ^ rank)));
      for (int peer = 0; peer < kRanks; ++peer) {
        me.Copy(100 * (1 + rank));
        me.Send(peer, segments[peer], &sent[peer]);
      }
      for (int peer = 0; peer < kRanks; ++peer) {
        times.push_back(me.Wait(received[peer]));
        times.push_back(me.Wait(sent[peer]));
      }
    });
    if (repeat == 0) first = times;
    EXPECT_EQ(times.size(), size_t{2 * kRanks * kRanks});
    EXPECT_EQ(std::memcmp(times.data(), first.data(), times.size() * sizeof(double)), 0);
  }
}

// Lengths count, user memory is untouched, and the beginning of a staged segment is sent.
TEST(SimTransport, WithoutPayload) {
  SimOptions options;
  options.carries_payload = false;
  SimWorld world(Machine(), 2, options);
  const Status ran = world.Run([&](int rank) {
    Rank me(&world, rank);
    std::vector<std::byte> data = Bytes(1000), receive_buffer(1000);
    EXPECT_FALSE(me.endpoint()->simulated_processor()->Copy(nullptr, nullptr, 1000, 1000));
    Operation operation;
    if (rank == 0) {
      me.Send(1, data, &operation);
      me.Wait(operation);
    } else {
      me.Receive(0, &receive_buffer, &operation);
      EXPECT_DOUBLE_EQ(me.Wait(operation), 20 + 15);
      EXPECT_EQ(operation.lease.bytes, 1000u);
      EXPECT_EQ(receive_buffer[31], data[31]);
      EXPECT_EQ(receive_buffer[999], std::byte{});
    }
  });
  EXPECT_TRUE(ran.ok()) << ran.ToString();
}

TEST(SimTransport, ALaterRunGoesOnWhereTheClocksStand) {
  SimWorld world(Machine(), 2);
  std::vector<std::unique_ptr<Rank>> ranks(2);
  ASSERT_TRUE(world
                  .Run([&](int rank) {
                    ranks[rank] = std::make_unique<Rank>(&world, rank);
                    if (rank == 1) ranks[rank]->Idle(30);
                  })
                  .ok());
  ASSERT_TRUE(world.Run([&](int rank) { ranks[rank]->Idle(1); }).ok());
  EXPECT_DOUBLE_EQ(world.Clock(0), 1);
  EXPECT_DOUBLE_EQ(world.Clock(1), 31);
}

TEST(SimTransport, RanksThatWaitForNothingAreNamed) {
  SimWorld world(Machine(), 3);
  std::vector<std::byte> receive_buffer(10);
  Operation operation;
  std::unique_ptr<Rank> waiting;
  const Status ran = world.Run([&](int rank) {
    if (rank != 1) {
      Rank me(&world, rank);
      return;
    }
    waiting = std::make_unique<Rank>(&world, rank);
    waiting->Receive(0, &receive_buffer, &operation);
    waiting->Wait(operation);
  });
  EXPECT_EQ(ran.code(), StatusCode::kInternal);
  EXPECT_NE(ran.message().find("rank 1"), std::string::npos) << ran.message();
}

TEST(SimTransport, RunRethrowsTheExceptionOfABody) {
  SimWorld world(Machine(), 2);
  EXPECT_THROW((void)world.Run([&](int rank) {
    if (rank == 1) throw std::runtime_error("one");
  }),
               std::runtime_error);
}

}  // namespace
}  // namespace brigade
