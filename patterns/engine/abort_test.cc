#include "patterns/engine/abort.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/control.h"

namespace brigade {
namespace {

ConstByteSpan Bytes(const std::string& message) {
  return {reinterpret_cast<const std::byte*>(message.data()), message.size()};
}

// Returns the abort that a reader assembles. It is complete with the last message, not earlier.
Abort Told(const Abort& abort) {
  AbortReader reader;
  const std::vector<std::string> messages = abort.ToMessages();
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_LE(messages[i].size(), kMostControlBytes);
    EXPECT_EQ(reader.Take(Bytes(messages[i])), i + 1 == messages.size());
  }
  return reader.abort();
}

TEST(Abort, ArrivesWithItsTextOfAnyLength) {
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{47}, size_t{48}, size_t{94}, size_t{200}}) {
    Abort abort{3, StatusCode::kMismatch, Pattern::kReduce, 123456789012, std::string(bytes, 'x')};
    const Abort told = Told(abort);
    EXPECT_EQ(told.rank, 3);
    EXPECT_EQ(told.code, StatusCode::kMismatch);
    EXPECT_EQ(told.pattern, Pattern::kReduce);
    EXPECT_EQ(told.sequence, 123456789012u);
    EXPECT_EQ(told.text, abort.text);
  }
}

TEST(Abort, SaysTheBeginningOfALongText) {
  const Abort told = Told({0, StatusCode::kAborted, {}, 0, std::string(200, 'a') + "b"});
  EXPECT_EQ(told.text, std::string(200, 'a'));
  EXPECT_FALSE(told.pattern.has_value());
}

TEST(Abort, NamesRankCallAndReason) {
  EXPECT_EQ((Abort{2, StatusCode::kMismatch, Pattern::kAllReduce, 7, "why"}.ToStatus().ToString()),
            "mismatch: rank 2 of the group broke it in all_reduce number 7: why");
  EXPECT_EQ((Abort{2, StatusCode::kPeerLost, {}, 0, "why"}.ToStatus().ToString()),
            "peer lost: rank 2 of the group broke it: why");
  EXPECT_EQ((Abort{2, StatusCode::kAborted, {}, 0, "why"}.ToStatus().ToString()),
            "aborted: rank 2 of the group aborted it: why");
}

// Of a rank gone wild, or of another version.
TEST(AbortReader, TakesNothingElse) {
  AbortReader reader;
  EXPECT_FALSE(reader.Take(ConstByteSpan()));
  EXPECT_FALSE(reader.Take(Bytes(std::string(1, '\x7f'))));
  EXPECT_FALSE(reader.Take(Bytes(std::string("\x02text before its head"))));
  std::string head = Abort{}.ToMessages()[0];
  EXPECT_FALSE(reader.Take(Bytes(head.substr(1))));
  head[1] = static_cast<char>(200);  // no such status
  head[2] = static_cast<char>(100);  // nor pattern
  EXPECT_TRUE(reader.Take(Bytes(head)));
  EXPECT_EQ(reader.abort().code, StatusCode::kInternal);
  EXPECT_FALSE(reader.abort().pattern.has_value());
}

}  // namespace
}  // namespace brigade
