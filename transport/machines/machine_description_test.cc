#include "transport/machines/machine_description.h"

#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

std::string Text() {
  std::ifstream in("transport/machines/ap3000.json");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Of the file with `what` replaced by `by` once.
Status Parsed(const std::string& what, const std::string& by) {
  std::string text = Text();
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  if (at != std::string::npos) text.replace(at, what.size(), by);
  MachineDescription machine;
  return MachineDescription::Parse(text, "some.json", &machine);
}

void ExpectRefused(const std::string& what, const std::string& by, const std::string& key,
                   const std::string& expected) {
  const Status status = Parsed(what, by);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << by;
  for (const std::string& part : {std::string("some.json"), key, expected}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
}

constexpr const char* kMachines[] = {
    "ap3000",         "sx5",        "shaped_cluster", "calibrated_cluster",
    "fat_nodes_100g", "pc_cluster", "pc_cluster_smp", "myrinet_cluster",
    "elan4_cluster"};

TEST(MachineDescription, EveryMachineIsWellDescribed) {
  for (const char* name : kMachines) {
    MachineDescription machine;
    const Status status =
        MachineDescription::Read(std::string("transport/machines/") + name + ".json", &machine);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(machine.name, name);
  }
}

TEST(MachineDescription, WritingPreservesTheDescription) {
  for (const char* name : kMachines) {
    MachineDescription machine, again;
    const std::string file = std::string("transport/machines/") + name + ".json";
    ASSERT_TRUE(MachineDescription::Read(file, &machine).ok());
    const std::string text = machine.ToJson("measured: here");
    const Status status = MachineDescription::Parse(text, "written", &again);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(again.ToJson("measured: here"), text);
    EXPECT_EQ(again.between_hosts.mb_s, machine.between_hosts.mb_s);
    EXPECT_EQ(again.between_hosts.eager_bytes, machine.between_hosts.eager_bytes);
    EXPECT_EQ(again.copies.size(), machine.copies.size());
    EXPECT_EQ(again.memories[0].bytes_per_rank, SIZE_MAX);
  }
}

TEST(MachineDescription, MemoryThatRanksShareIsWrittenAsRead) {
  MachineDescription machine, again;
  ASSERT_TRUE(MachineDescription::Read("transport/machines/fat_nodes_100g.json", &machine).ok());
  EXPECT_FALSE(machine.shared_memory.is_shared);
  machine.shared_memory.is_shared = true;
  machine.shared_memory.max_inline_bytes = 56;
  for (const size_t least : {size_t{16384}, SIZE_MAX}) {
    machine.shared_memory.least_kernel_bytes = least;
    machine.shared_memory.most_kernel_bytes = 65536;
    machine.shared_memory.kernel_mb_s = least == SIZE_MAX ? kUnlimitedRate : 12000;
    const std::string text = machine.ToJson("measured: here");
    const Status status = MachineDescription::Parse(text, "written", &again);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(again.shared_memory.is_shared);
    EXPECT_EQ(again.shared_memory.max_inline_bytes, size_t{56});
    EXPECT_EQ(again.shared_memory.least_kernel_bytes, least);
    EXPECT_EQ(again.shared_memory.most_kernel_bytes, size_t{65536});
    EXPECT_EQ(again.shared_memory.kernel_mb_s, machine.shared_memory.kernel_mb_s);
    EXPECT_EQ(again.ToJson("measured: here"), text);
  }
  ExpectRefused("\"segments\"", "\"shared_memory\": {}, \"segments\"", "shared_memory",
                "line_bytes");
}

TEST(MachineDescription, HasTheValuesOfTheFile) {
  MachineDescription machine;
  ASSERT_TRUE(MachineDescription::Read("transport/machines/ap3000.json", &machine).ok());
  EXPECT_EQ(machine.hosts, 8);
  EXPECT_EQ(machine.ranks_per_host, 1);
  EXPECT_TRUE(machine.needs_staging);
  const int host = machine.memory_of_kind[static_cast<int>(MemoryKind::kHost)];
  const int controller = machine.memory_of_kind[static_cast<int>(MemoryKind::kController)];
  EXPECT_EQ(machine.memories[host].name, "kmem");
  EXPECT_EQ(machine.memories[controller].name, "sdram");
  EXPECT_EQ(machine.memories[host].bytes_per_rank, size_t{12} << 20);
  EXPECT_EQ(machine.memories[0].bytes_per_rank, SIZE_MAX);
  EXPECT_EQ(machine.between_hosts.mb_s, 200);
  EXPECT_EQ(machine.between_hosts.send_overhead.mb_s, kUnlimitedRate);
  EXPECT_TRUE(machine.between_hosts.ports_of_host);
  // An empty message, as in the paper.
  const Link& link = machine.between_hosts;
  EXPECT_NEAR(
      link.send_overhead.Microseconds(0) + link.latency_us + link.receive_overhead.Microseconds(0),
      26.3, 1e-9);
  // The slowest of the three decides.
  EXPECT_EQ(machine.TransferRate(link, controller, host), machine.memories[controller].send.mb_s);
  EXPECT_LT(machine.memories[controller].send.mb_s, link.mb_s);
  // Adds into controller memory run at half the speed.
  EXPECT_DOUBLE_EQ(machine.Add(0, controller).rate.RateAt(8192) * 2,
                   machine.Add(0, host).rate.RateAt(8192));
  EXPECT_EQ(machine.Copy(0, host).buses.size(), size_t{1});
}

TEST(MachineDescription, RatesBetweenPointsAreOfTimesPerRun) {
  const RateCurve curve{{{100, 10}, {300, 20}}};  // runs of 10 and of 15 us
  EXPECT_DOUBLE_EQ(curve.RateAt(8), 10);
  EXPECT_DOUBLE_EQ(curve.RateAt(100), 10);
  EXPECT_DOUBLE_EQ(curve.RateAt(200), 200 / 12.5);
  EXPECT_DOUBLE_EQ(curve.RateAt(300), 20);
  EXPECT_DOUBLE_EQ(curve.RateAt(1e9), 20);
}

TEST(MachineDescription, RefusesUnknownRepeatedAndMissingKeys) {
  ExpectRefused("\"latency\"", "\"latencey\"", "between_hosts", "latency");
  ExpectRefused("\"half_duplex\": true", "\"half_duplex\": true, \"more\": 1", "between_hosts.more",
                "unknown key");
  ExpectRefused("\"name\": \"ap3000\",", "", "the file", "'name'");
  ExpectRefused("\"name\": \"ap3000\"", "\"name\": \"ap3000\", \"name\": \"again\"", "name",
                "twice");
}

TEST(MachineDescription, RefusesWrongNumbers) {
  ExpectRefused("{\"value\": 6.3, \"unit\": \"us\"", "{\"value\": -6.3, \"unit\": \"us\"",
                "between_hosts.latency.value", "from 0");
  ExpectRefused("{\"value\": 6.3, \"unit\": \"us\"", "{\"value\": 6.3, \"unit\": \"ms\"",
                "between_hosts.latency.unit", "'us'");
  ExpectRefused("{\"value\": 6.3, \"unit\": \"us\"", "{\"value\": \"6.3\", \"unit\": \"us\"",
                "between_hosts.latency.value", "number");
  ExpectRefused("{\"value\": 6.3, \"unit\"", "{\"value\": NaN, \"unit\"", "some.json", "");
  ExpectRefused("{\"value\": 6.3, \"unit\"", "{\"value\": 1e999, \"unit\"", "some.json", "");
  ExpectRefused("{\"value\": 200, \"unit\"", "{\"value\": 0, \"unit\"", "between_hosts.rate", "");
  ExpectRefused("{\"value\": 8, \"unit\": \"count\"", "{\"value\": 8.5, \"unit\": \"count\"",
                "hosts", "whole");
  ExpectRefused("[400, 171]", "[200, 171]", "copies[1].rate.by_run_bytes[2]", "increasing");
  ExpectRefused("[400, 171]", "[400, -171]", "copies[1].rate.by_run_bytes[2]", "above 0");
}

TEST(MachineDescription, RefusesAValueWithoutItsSource) {
  ExpectRefused("\"source\": \"stated: section 5\"", "\"source\": \"somebody said\"",
                "hosts.source", "estimated");
  ExpectRefused(", \"source\": \"stated: section 5\"", "", "hosts", "'source'");
}

TEST(MachineDescription, RefusesNamesOfNothing) {
  ExpectRefused("\"host\": \"kmem\"", "\"host\": \"vram\"", "staging.host", "'vram'");
  ExpectRefused("\"buses\": {\"memory\": 2}", "\"buses\": {\"pci\": 2}", "copies[0].buses.pci",
                "unknown");
  ExpectRefused("\"name\": \"user\"", "\"name\": \"main\"", "memories", "user");
}

TEST(MachineDescription, EveryPairOfMemoriesHasItsRateOnce) {
  ExpectRefused("\"to\": [\"user\", \"kmem\"]", "\"to\": [\"user\"]", "copies",
                "nothing from 'kmem' to 'kmem'");
  ExpectRefused("\"to\": [\"user\", \"kmem\"]", "\"to\": [\"user\", \"kmem\", \"sdram\"]",
                "copies[3]", "from 'kmem' to 'sdram' twice");
}

TEST(MachineDescription, NamesAFileThatIsNotThere) {
  MachineDescription machine;
  const Status status = MachineDescription::Read("transport/machines/none.json", &machine);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("none.json"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace brigade
