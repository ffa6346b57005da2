#include "patterns/engine/executor.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

TEST(Executor, ABoundedNumberIsKeptAfterABurst) {
  InprocWorld world(1);
  const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(0);
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(Engine::Create(endpoint.get(), EngineOptions(), &engine).ok());
  std::vector<std::unique_ptr<Executor>> burst;
  for (size_t i = 0; i < 2 * Executor::kMostIdle; ++i) burst.push_back(Executor::New(engine.get()));
  for (std::unique_ptr<Executor>& executor : burst) Executor::Keep(std::move(executor));
  EXPECT_EQ(engine->idle_executors()->size(), Executor::kMostIdle);
  burst.resize(1);
  burst[0] = Executor::New(engine.get());
  EXPECT_EQ(engine->idle_executors()->size(), Executor::kMostIdle - 1);
}

}  // namespace
}  // namespace brigade
