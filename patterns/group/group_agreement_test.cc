#include "patterns/group/group_agreement.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "test/support/run_ranks.h"

namespace brigade {
namespace {

constexpr int kRows = 2;
constexpr int kCols = 3;

// Returns the complaint of both ranks if rank 1 has `theirs`.
std::string Complaint(const AgreedSettings& mine, const AgreedSettings& theirs) {
  std::string complaints[2];
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    const Status status =
        CheckAgreement(world.MakeBootstrap(rank).get(), rank == 0 ? mine : theirs);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kMismatch) << status.message();
    complaints[rank] = status.message();
  });
  EXPECT_EQ(complaints[0], complaints[1]);
  return complaints[0];
}

std::string Complaint(const EngineOptions& options, const std::string& transport = "shm",
                      int rows = kRows, int cols = kCols) {
  return Complaint(AgreedSettings(EngineOptions(), "shm", kRows, kCols),
                   AgreedSettings(options, transport, rows, cols));
}

TEST(GroupAgreement, NamesBothRanksAndTheirValues) {
  EngineOptions options;
  EXPECT_EQ(Complaint(options), "");
  options.report_seconds = 1;  // each rank's own affair
  EXPECT_EQ(Complaint(options), "");
  options.chunk_bytes = 64;
  EXPECT_EQ(Complaint(options),
            "the ranks of a group differ in chunk bytes (BRIGADE_CHUNK_BYTES): rank 0 has 32768, "
            "rank 1 has 64");
  EXPECT_EQ(Complaint(options, "tcp"),
            "the ranks of a group differ in the transport (BRIGADE_TRANSPORT): rank 0 has shm, "
            "rank 1 has tcp");
}

TEST(GroupAgreement, ComparesEverySetting) {
  const auto differs_in = [](const std::string& complaint, const std::string& what) {
    EXPECT_EQ(complaint.find("the ranks of a group differ in " + what + ":"), 0) << complaint;
  };
  EngineOptions options;
  options.staging_bytes = 1;
  differs_in(Complaint(options), "staging bytes (BRIGADE_STAGING_BYTES)");
  options = EngineOptions();
  options.calibrate = EngineOptions::Calibrate::kAlways;
  EXPECT_EQ(Complaint(options),
            "the ranks of a group differ in calibration (BRIGADE_CALIBRATE): rank 0 has 0, rank 1 "
            "has always");
  options = EngineOptions();
  options.topology_is_hint = true;
  EXPECT_EQ(Complaint(options),
            "the ranks of a group differ in topologies (BRIGADE_TOPOLOGY): rank 0 has strict, rank "
            "1 has hint");
  differs_in(Complaint(EngineOptions(), "shm", kCols, kCols), "rows");
  AgreedSettings other(EngineOptions(), "shm", kRows, kCols);
  ++other.numbers.format;
  EXPECT_EQ(Complaint(AgreedSettings(EngineOptions(), "shm", kRows, kCols), other),
            "the ranks of a group differ in the wire format (start all ranks with one version of "
            "Brigade): rank 0 has " +
                std::to_string(other.numbers.format - 1) + ", rank 1 has " +
                std::to_string(other.numbers.format));
  differs_in(Complaint(EngineOptions(), "shm", kRows, kRows), "columns");
}

TEST(GroupAgreement, ComparesNamesOfAnyLength) {
  const auto complaint = [](const std::string& mine, const std::string& theirs) {
    return Complaint(AgreedSettings(EngineOptions(), mine, kRows, kCols),
                     AgreedSettings(EngineOptions(), theirs, kRows, kCols));
  };
  const size_t lengths[] = {0, 1, 23, 24, 25, 1000};
  for (const size_t length : lengths) {
    const std::string name(length, 'x');
    EXPECT_EQ(complaint(name, name), "");
    const std::string others[] = {name + "y", name + "z", name + std::string(1000, 'x')};
    for (const std::string& other : others) {
      for (const auto& [mine, theirs] :
           {std::pair(name, other), std::pair(other, name), std::pair(others[0], other)}) {
        std::string expected;
        if (mine != theirs) {
          expected =
              "the ranks of a group differ in the transport (BRIGADE_TRANSPORT): rank 0 has ";
          expected += mine + ", rank 1 has ";
          expected += theirs;
        }
        EXPECT_EQ(complaint(mine, theirs), expected);
      }
    }
  }
}

// Other bytes are another format, and need another number.
TEST(GroupAgreement, NumbersTheFormatOfHeaders) {
  EXPECT_EQ(AgreedSettings(EngineOptions(), "shm", kRows, kCols).numbers.format, 9u);
  const UserOp op{nullptr, nullptr, 0x0a0b, /*commutative=*/false};
  PatternCall call;
  call.pattern = Pattern::kReduce;
  call.topology = {Shape::kTree, 0x0c0d, /*by_host=*/true};
  call.root = 0x0e0f;
  call.op = CombineOp::kUser;
  call.type = Element::kByte;
  call.user_op = &op;
  WireHeader header;
  SetHeader(EntryOf(call.pattern), call, 0x01020304, 0x05060708090a, &header);
  constexpr uint8_t kBytes[] = {0x47, 0x42, 3,    0x40, 0x13, 0x04, 0,    0,    0x0d, 0x0c, 0,
                                0,    0x0f, 0x0e, 0,    0,    0xff, 0xff, 0xff, 0xff, 4,    3,
                                2,    1,    0x0a, 9,    8,    7,    6,    5,    0x0b, 0x0a};
  static_assert(sizeof(kBytes) == sizeof(header));
  EXPECT_EQ(std::memcmp(&header, kBytes, sizeof(header)), 0);
  call.pattern = Pattern::kAllToAll;
  call.equal_blocks = true;
  SetHeader(EntryOf(call.pattern), call, 0, 0, &header);
  EXPECT_EQ(header.shape, 0x60);
  call.pattern = Pattern::kAllReduce;
  call.op = CombineOp::kBitAnd;
  call.type = Element::kUint8;
  SetHeader(EntryOf(call.pattern), call, 0, 0, &header);
  EXPECT_EQ(header.arithmetic, 0xad);
}

}  // namespace
}  // namespace brigade
