#include "patterns/group/group_agreement.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// Two ranks, the caller's being 0, as the other has settings of its own.
class TwoRanks : public Bootstrap {
 public:
  explicit TwoRanks(const AgreedSettings& other) : other_(other) {}

  int rank() const override { return 0; }
  int size() const override { return 2; }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    std::memcpy(all, mine, bytes);
    std::memcpy(static_cast<std::byte*>(all) + bytes, &other_, bytes);
    return Status();
  }

 private:
  const AgreedSettings other_;
};

constexpr int kRows = 2;
constexpr int kCols = 3;

std::string Complaint(const EngineOptions& options, const std::string& transport = "shm",
                      int rows = kRows, int cols = kCols) {
  TwoRanks bootstrap(AgreedSettings(options, transport, rows, cols));
  const Status status =
      CheckAgreement(&bootstrap, AgreedSettings(EngineOptions(), "shm", kRows, kCols));
  EXPECT_TRUE(status.ok() || status.code() == StatusCode::kMismatch);
  return status.message();
}

TEST(GroupAgreement, NamesBothRanksAndTheirValues) {
  EngineOptions options;
  EXPECT_EQ(Complaint(options), "");
  options.report_seconds = 1;  // each rank's own affair
  EXPECT_EQ(Complaint(options), "");
  options.chunk_bytes = 64;
  EXPECT_EQ(Complaint(options),
            "the ranks of a group differ in chunk bytes: rank 0 has 32768, rank 1 has 64");
  EXPECT_EQ(Complaint(options, "tcp"),
            "the ranks of a group differ in the transport: rank 0 has shm, rank 1 has tcp");
}

TEST(GroupAgreement, ComparesEverySetting) {
  const auto differs_in = [](const std::string& complaint, const std::string& what) {
    EXPECT_EQ(complaint.find("the ranks of a group differ in " + what + ":"), 0) << complaint;
  };
  EngineOptions options;
  options.staging_bytes = 1;
  differs_in(Complaint(options), "staging bytes");
  options = EngineOptions();
  options.calibrate = EngineOptions::Calibrate::kAlways;
  differs_in(Complaint(options), "whether to measure their edges");
  options = EngineOptions();
  options.topology_is_hint = true;
  differs_in(Complaint(options), "whether topologies are hints");
  differs_in(Complaint(EngineOptions(), "shm", kCols, kCols), "rows");
  differs_in(Complaint(EngineOptions(), "shm", kRows, kRows), "columns");
}

TEST(GroupAgreement, CutsLongNames) {
  EXPECT_NE(Complaint(EngineOptions(), std::string(100, 'x')), "");
}

}  // namespace
}  // namespace brigade
