// A process that has no memory left, not even for the text of a failure: calls end with that
// failure, and objects can be destroyed. failures_test.cc has processes that lack memory once.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "test/support/counted_new.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/group_member.h"
#include "test/support/run_ranks.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

// The thread that runs its Progress has no memory any more from a number of calls on.
class UsesUpMemory : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool Progress() override {
    const bool is_caller = std::this_thread::get_id() == caller_;
    if (is_caller ? left == 0 || --left > 0 : !beside_calls) return ForwardingEndpoint::Progress();
    no_memory_is_left = true;
    left = is_caller ? 1 : 0;  // nor in later calls
    throw std::bad_alloc();
  }
  int left = 0;  // calls of the caller's thread; 0: any number
  bool beside_calls = false;

 private:
  const std::thread::id caller_ = std::this_thread::get_id();
};

// A group of one rank, which waits for a message from itself that never comes.
class Waiter {
 public:
  explicit Waiter(InprocWorld* world) : endpoint_(world->CreateEndpoint(0)), data_(5000) {
    Require(Engine::Create(&endpoint_, GroupMember::Small(), &engine));
    Require(Group::Create(engine.get(), world->MakeBootstrap(0).get(), 1, 1, &group));
    call.pattern = Pattern::kReceive;
    const auto elems = static_cast<int64_t>(data_.size());
    call.matrix.data = reinterpret_cast<std::byte*>(data_.data());
    Require(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout));
  }
  ~Waiter() { no_memory_is_left = false; }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  UsesUpMemory* endpoint() { return &endpoint_; }
  // With memory for the test's own texts.
  static void ExpectNoMemory(const Status& status) {
    no_memory_is_left = false;
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
  }

 private:
  UsesUpMemory endpoint_;
  std::vector<double> data_;

 public:
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
  PatternCall call;
};

TEST(NoMemoryAtAll, ACallEnds) {
  InprocWorld world(1);
  Waiter me(&world);
  me.endpoint()->left = 100;
  me.ExpectNoMemory(me.group->Run(me.call));
  EXPECT_TRUE(me.engine->IsIdle());
}

TEST(NoMemoryAtAll, AStartedOperationEnds) {
  InprocWorld world(1);
  Waiter me(&world);
  std::unique_ptr<Operation> operation;
  Require(me.group->Start(me.call, &operation));
  me.endpoint()->left = 100;
  me.ExpectNoMemory(operation->Wait());
  EXPECT_TRUE(me.engine->IsIdle());
}

TEST(NoMemoryAtAll, InTheProgressThreadAnOperationEnds) {
  InprocOptions options;
  options.allows_progress_thread = true;
  InprocWorld world(1, options);
  Waiter me(&world);
  me.endpoint()->beside_calls = true;
  std::unique_ptr<Operation> operation;
  Require(me.group->Start(me.call, &operation));
  while (me.group->failure().ok()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  me.ExpectNoMemory(operation->Wait());
}

TEST(NoMemoryAtAll, OperationsAndGroupsAreDestroyed) {
  InprocWorld world(1);
  Waiter me(&world);
  std::unique_ptr<Operation> operation;
  Require(me.group->Start(me.call, &operation));
  me.endpoint()->left = 3;
  operation.reset();
  me.endpoint()->left = 0;
  me.ExpectNoMemory(me.group->failure());
  std::unique_ptr<Group> other;
  Require(Group::Create(me.engine.get(), world.MakeBootstrap(0).get(), 1, 1, &other));
  me.endpoint()->left = 1;
  other.reset();
  no_memory_is_left = false;
  me.endpoint()->left = 0;
  EXPECT_TRUE(me.engine->IsIdle());
}

}  // namespace
}  // namespace brigade
