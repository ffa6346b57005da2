#include "membuf/status.h"

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(Status, OkCarriesNothing) {
  Status s;
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.message(), "");
  EXPECT_EQ(s.ToString(), "ok");
  EXPECT_TRUE(s.WithContext("opening").ok());
}

TEST(Status, FailureKeepsCodeAndTextThroughCopies) {
  Status s(StatusCode::kPeerLost, "rank 3 is gone");
  Status copy = s;
  s = Status();
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(copy.code(), StatusCode::kPeerLost);
  EXPECT_EQ(copy.WithContext("broadcast").ToString(), "peer lost: broadcast: rank 3 is gone");
}

}  // namespace
}  // namespace brigade
