#include "transport/core/completion_queue.h"

#include <new>

#include "gtest/gtest.h"
#include "membuf/status.h"

namespace brigade {
namespace {

TEST(CompletionQueueTest, RunsTheCallbacksBehindOneThatThrows) {
  Completion throws([](Completion*) { throw std::bad_alloc(); });
  Completion returns([](Completion* completion) {
    completion->status = Status(StatusCode::kAborted, "the callback ran");
  });
  CompletionQueue queue;
  {
    const CompletionQueue::Hold hold(&queue);
    queue.Finish(&throws, CompletionQueue::kSend);
    queue.Finish(&returns, CompletionQueue::kSend);
  }
  EXPECT_THROW(queue.Run(), std::bad_alloc);
  ASSERT_FALSE(queue.running());
  EXPECT_TRUE(queue.Run());
  EXPECT_EQ(returns.status.code(), StatusCode::kAborted);
}

}  // namespace
}  // namespace brigade
