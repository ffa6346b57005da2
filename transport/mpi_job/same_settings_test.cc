#include "transport/mpi_job/same_settings.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// Returns what process 0 of two finds.
Status Compare(const std::string& mine, const std::string& other) {
  bool has_said_length = false;
  return CompareSettings(mine, 2, [&](const void* said, size_t bytes, void* all) {
    auto* const table = static_cast<char*>(all);
    std::memcpy(table, said, bytes);
    const size_t length = other.size();
    if (has_said_length) {
      std::memcpy(table + bytes, other.data(), std::min(length, bytes));
    } else {
      std::memcpy(table + bytes, &length, bytes);
    }
    has_said_length = true;
    return Status();
  });
}

TEST(SameSettings, DifferAnywhere) {
  const std::string common(1000, 'x');
  EXPECT_TRUE(Compare(common, common).ok());
  EXPECT_TRUE(Compare("", "").ok());
  EXPECT_EQ(Compare("a", "b").message(),
            "processes differ in their settings: process 0 has a, process 1 has b");
  for (const char* const end : {"b", "ab", ""}) {
    const Status status = Compare(common + "a", common + end);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << end;
    std::string text = "processes differ in their settings: process 0 has ";
    text.append(common).append("a, process 1 has ").append(common).append(end);
    EXPECT_EQ(status.message(), text);
  }
}

TEST(SameSettings, AFailureOfTheTransportIsReturned) {
  const auto gather = [](const void*, size_t, void*) {
    return Status(StatusCode::kPeerLost, "gone");
  };
  EXPECT_EQ(CompareSettings("a", 2, gather).code(), StatusCode::kPeerLost);
}

}  // namespace
}  // namespace brigade
