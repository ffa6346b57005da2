// Error texts of BSPlib for wrong arguments. A failed call has no effect: the program could
// continue.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <string>

#include "bsp_shim/program.h"
#include "membuf/status.h"

namespace brigade {
namespace bsp {
namespace {

using testing::HasSubstr;
using Buffering = Program::Buffering;

#define EXPECT_REFUSED(call, text)                             \
  do {                                                         \
    const Status status = call;                                \
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);    \
    EXPECT_THAT(status.message(), HasSubstr(text)) << (#call); \
  } while (false)

#define ASSERT_OK(call)                            \
  do {                                             \
    const Status status = call;                    \
    ASSERT_TRUE(status.ok()) << status.ToString(); \
  } while (false)

// Not of a queue: that would take 2 GiB.
TEST(QueueSizeTest, IsLimitedToTheRangeOfInt) {
  constexpr size_t kMost = INT_MAX;
  int count = -1;
  int bytes = -1;
  ASSERT_OK(QueueSize(kMost, kMost, &count, &bytes));
  EXPECT_EQ(count, INT_MAX);
  EXPECT_EQ(bytes, INT_MAX);
  count = bytes = -1;
  EXPECT_REFUSED(QueueSize(3, kMost + 1, &count, &bytes),
                 "3 messages of 2147483648 bytes, which an int cannot represent");
  EXPECT_REFUSED(QueueSize(kMost + 1, 0, &count, &bytes),
                 "2147483648 messages of 0 bytes, which an int cannot represent");
  EXPECT_EQ(count, -1);
  EXPECT_EQ(bytes, -1);
}

// A program can begin once, and so there is one test of it.
TEST(ArgumentsTest, AreChecked) {
  auto* const program = new Program;
  const int n = program->processes();
  int x = 1;
  int y = 2;
  int result = -7;
  EXPECT_REFUSED(program->Sync(), "bsp_begin must come first");
  EXPECT_REFUSED(program->Begin(0), "its argument is 0: at least 1 process");
  EXPECT_REFUSED(program->Init(nullptr), "its procedure is NULL");
  ASSERT_OK(program->Begin(n));
  EXPECT_REFUSED(program->Begin(n), "the program has begun already");
  EXPECT_REFUSED(program->Init([] {}), "it must come before bsp_begin");

  // Nothing is in effect yet.
  int tag_bytes = sizeof(int);
  int process = -1;
  ASSERT_OK(program->Process(&process));
  ASSERT_OK(program->Push(&x, sizeof(x)));
  ASSERT_OK(program->SetTagSize(&tag_bytes));
  EXPECT_REFUSED(program->Put(Buffering::kBuffered, 0, &y, &x, 0, 1),
                 "is not registered on this process, or not yet: that takes effect at bsp_sync");
  EXPECT_REFUSED(program->Move(&result, 1), "no message is left");
  ASSERT_OK(program->Sync());
  ASSERT_OK(program->Send(process, &y, &y, sizeof(y)));
  ASSERT_OK(program->Sync());

  const std::string beyond = " bytes beyond the 4 bytes that process 0 has registered";
  const std::string negative = " bytes: must be 0 or more";
  const std::string nobody = ": they are 0 to " + std::to_string(n - 1);
  for (const Buffering buffering : {Buffering::kBuffered, Buffering::kUnbuffered}) {
    EXPECT_REFUSED(program->Put(buffering, 0, &y, &y, 0, 1), "is not registered on this process");
    EXPECT_REFUSED(program->Get(buffering, 0, &y, 0, &y, 1), "is not registered on this process");
    EXPECT_REFUSED(program->Put(buffering, 0, &y, nullptr, 0, 1),
                   "is not registered on this process");
    EXPECT_REFUSED(program->Put(buffering, 0, &y, &x, 1, 4), "4 bytes at offset 1 end 1" + beyond);
    EXPECT_REFUSED(program->Get(buffering, 0, &x, 5, &y, 1), "1 bytes at offset 5 end 2" + beyond);
    EXPECT_REFUSED(program->Put(buffering, 0, &y, &x, INT_MAX, INT_MAX),
                   " end 4294967290" + beyond);
    EXPECT_REFUSED(program->Put(buffering, 0, &y, &x, -1, 1), "offset -1 is negative");
    EXPECT_REFUSED(program->Get(buffering, 0, &x, -1, &y, 1), "offset -1 is negative");
    EXPECT_REFUSED(program->Put(buffering, 0, &y, &x, 0, -1), "-1" + negative);
    EXPECT_REFUSED(program->Get(buffering, 0, &x, 0, &y, -1), "-1" + negative);
    EXPECT_REFUSED(program->Put(buffering, n, &y, &x, 0, 1),
                   "there is no process " + std::to_string(n) + nobody);
    EXPECT_REFUSED(program->Get(buffering, -1, &x, 0, &y, 1), "there is no process -1" + nobody);
    EXPECT_REFUSED(program->Put(buffering, 0, nullptr, &x, 0, 1), "its source is NULL");
    EXPECT_REFUSED(program->Get(buffering, 0, &x, 0, nullptr, 1), "its destination is NULL");
    EXPECT_TRUE(program->Put(buffering, n, nullptr, nullptr, -1, 0).ok());
    EXPECT_TRUE(program->Get(buffering, n, nullptr, -1, nullptr, 0).ok());
  }

  EXPECT_REFUSED(program->Push(&y, -1), "-1" + negative);
  EXPECT_REFUSED(program->Push(nullptr, 1), "1 bytes at NULL");
  EXPECT_REFUSED(program->Pop(&y), "is not registered on this process");
  ASSERT_OK(program->Pop(&x));
  EXPECT_REFUSED(program->Pop(&x), "is not registered on this process");

  tag_bytes = -4;
  EXPECT_REFUSED(program->SetTagSize(&tag_bytes), "-4" + negative);
  EXPECT_EQ(tag_bytes, -4);
  EXPECT_REFUSED(program->SetTagSize(nullptr), "its argument is NULL");
  EXPECT_REFUSED(program->Send(n, &y, &x, 1), nobody);
  EXPECT_REFUSED(program->Send(-1, &y, &x, 1), nobody);
  EXPECT_REFUSED(program->Send(0, &y, &x, -1), "-1" + negative);
  EXPECT_REFUSED(program->Send(0, &y, nullptr, 1), "its payload is NULL");
  EXPECT_REFUSED(program->Send(0, nullptr, &x, 1), "its tag is NULL, and tags have 4 bytes");

  int messages = 0;
  void* payload = nullptr;
  EXPECT_REFUSED(program->CountMessages(nullptr, &result), "an argument is NULL");
  EXPECT_REFUSED(program->CountMessages(&messages, nullptr), "an argument is NULL");
  EXPECT_REFUSED(program->GetTag(nullptr, &y), "its status is NULL");
  EXPECT_REFUSED(program->GetTag(&result, nullptr), "its tag is NULL, and tags have 4 bytes");
  EXPECT_REFUSED(program->Move(nullptr, 1), "its payload is NULL");
  EXPECT_REFUSED(program->Move(&result, -1), "-1" + negative);
  EXPECT_REFUSED(program->MoveDirectly(nullptr, &payload, &result), "an argument is NULL");
  EXPECT_REFUSED(program->MoveDirectly(&payload, nullptr, &result), "an argument is NULL");

  // None of that did anything: the message is there, and the supersteps go on.
  ASSERT_OK(program->CountMessages(&messages, &result));
  EXPECT_EQ(messages, 1);
  ASSERT_OK(program->Move(&result, sizeof(result)));
  EXPECT_EQ(result, 2);
  ASSERT_OK(program->Sync());
  EXPECT_EQ(x, 1);
  ASSERT_OK(program->End());
  EXPECT_REFUSED(program->Put(Buffering::kBuffered, 0, &x, &x, 0, 0), "a call after bsp_end");
  EXPECT_REFUSED(program->End(), "a call after bsp_end");
}

}  // namespace
}  // namespace bsp
}  // namespace brigade
