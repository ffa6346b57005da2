#include "patterns/trace/trace.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace brigade {
namespace {

using Json = nlohmann::json;

class TraceTest : public ::testing::Test {
 protected:
  ~TraceTest() override { (void)Trace::Stop(); }

  // The part of rank 3 of 4.
  Json Load() {
    std::ifstream in(part_);
    return in ? Json::parse(in) : Json();
  }
  std::vector<Json> EventsOf(const Json& trace) {
    std::vector<Json> events;
    for (const Json& event : trace.at("traceEvents")) {
      if (event.at("ph") != "M") events.push_back(event);
    }
    return events;
  }
  bool Exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

  const std::string file_ = ::testing::TempDir() + "/trace_test.json";
  const std::string part_ = ::testing::TempDir() + "/trace_test.3.json";
};

TEST_F(TraceTest, PartsHaveNamesOfTheirOwn) {
  EXPECT_EQ(Trace::PartOf("lu.json", 3), "lu.3.json");
  EXPECT_EQ(Trace::PartOf("some.where/lu", 12), "some.where/lu.12");
  EXPECT_EQ(Trace::PartOf("/tmp/a.b.json", 0), "/tmp/a.b.0.json");
}

TEST_F(TraceTest, APartOfAnUnknownRankIsNamedAfterTheProcess) {
  const std::string part = Trace::PartOf(file_, getpid());
  ASSERT_TRUE(Trace::Start(file_, -1, 0).ok());
  ASSERT_TRUE(Trace::Stop().ok());
  EXPECT_TRUE(Exists(part));
  (void)std::remove(part.c_str());
}

// Spans of two threads overlap; on one line they would not nest.
TEST_F(TraceTest, TheProgressThreadHasALineOfItsOwn) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  {
    const TraceSpan call("pdgemr2d");
    std::thread([] {
      Trace::ThisIsTheProgressThread();
      const TraceSpan span(TraceKind::kPostSend, 8, 1);
      Trace::Mark(TraceKind::kSent, 8, 1);
    }).join();
  }
  ASSERT_TRUE(Trace::Stop().ok());
  const Json trace = Load();
  for (const Json& event : EventsOf(trace)) {
    EXPECT_EQ(event.at("tid"), event.at("cat") == "call" ? 0 : 1) << event;
  }
  EXPECT_EQ(EventsOf(trace).size(), 3u);
  EXPECT_NE(trace.dump().find(R"({"name":"progress thread"})"), std::string::npos);
}

// A thread may be at it when the recording ends.
TEST_F(TraceTest, EndsWhileAnotherThreadRecords) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  std::atomic<bool> recorded{false};
  std::thread other([&] {
    while (Trace::current() != nullptr) {
      Trace::Mark(TraceKind::kSent, 8, 1);
      recorded = true;
    }
  });
  while (!recorded) std::this_thread::yield();
  ASSERT_TRUE(Trace::Stop().ok());
  other.join();
  EXPECT_FALSE(EventsOf(Load()).empty());
}

TEST_F(TraceTest, AWatchIsCalledForEachEventUntilItIsRemoved) {
  static int calls;
  calls = 0;
  ASSERT_TRUE(Trace::Start(file_, 3, 4, /*most_events=*/0).ok());
  Trace::Watch([](const TraceEvent& event) { calls += event.kind == TraceKind::kWait ? 10 : 1; });
  {
    const TraceSpan span(TraceKind::kWait);
    Trace::Mark(TraceKind::kSent, 8, 1);
    EXPECT_EQ(calls, 1);
  }
  EXPECT_EQ(calls, 11);
  Trace::Watch(nullptr);
  Trace::Mark(TraceKind::kSent, 8, 1);
  EXPECT_EQ(calls, 11);
}

TEST_F(TraceTest, RecordsNothingWhileOff) {
  Trace::Mark(TraceKind::kSent, 8, 1);
  { const TraceSpan span(TraceKind::kWait); }
  {
    // Of a span that began before the trace nobody knows the beginning.
    const TraceSpan span(TraceKind::kWait);
    ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  }
  ASSERT_TRUE(Trace::Stop().ok());
  EXPECT_EQ(Trace::current(), nullptr);
  Trace::Mark(TraceKind::kSent, 8, 1);
  EXPECT_TRUE(EventsOf(Load()).empty());
  EXPECT_TRUE(Trace::Stop().ok()) << "there is nothing to stop";
}

TEST_F(TraceTest, SpansNestAndRecordTheirKindAndArguments) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  const uint64_t before_ns = Trace::NowNs();
  {
    const TraceSpan outer("dgebs2d", 800, 2, 'R', ' ');
    { const TraceSpan inner(TraceKind::kCopyIn, 100); }
    Trace::Mark(TraceKind::kSent, 164, 1);
    { const TraceSpan inner(TraceKind::kWait, 0, 5); }
  }
  const uint64_t after_ns = Trace::NowNs();
  ASSERT_TRUE(Trace::Stop().ok());

  const Json trace = Load();
  EXPECT_EQ(trace.at("otherData").at("rank"), 3);
  EXPECT_EQ(trace.at("otherData").at("ranks"), 4);
  EXPECT_EQ(trace.at("otherData").at("dropped_events"), 0);
  EXPECT_EQ(trace.at("traceEvents")[0].at("args").at("name"), "rank 3");
  const std::vector<Json> events = EventsOf(trace);
  ASSERT_EQ(events.size(), 4u);
  const Json &copy = events[0], &send = events[1], &wait = events[2], &call = events[3];
  EXPECT_EQ(copy.at("name"), "copy in");
  EXPECT_EQ(copy.at("ph"), "X");
  EXPECT_EQ(copy.at("args"), Json({{"bytes", 100}}));
  EXPECT_EQ(send.at("name"), "sent");
  EXPECT_EQ(send.at("ph"), "i");
  EXPECT_EQ(send.at("args"), Json({{"bytes", 164}, {"peer", 1}}));
  EXPECT_EQ(wait.at("cat"), "wait");
  EXPECT_EQ(wait.at("args").at("peer"), 5);
  EXPECT_EQ(call.at("name"), "dgebs2d");
  EXPECT_EQ(call.at("args"),
            Json({{"bytes", 800}, {"peer", 2}, {"scope", "R"}, {"topology", " "}}));
  const auto begin = [](const Json& event) { return event.at("ts").get<double>(); };
  const auto end = [&](const Json& event) { return begin(event) + event.value("dur", 0.0); };
  constexpr double kRounding = 0.01;  // us: two decimal numbers, added
  EXPECT_LE(begin(call), begin(copy));
  EXPECT_LE(end(copy), begin(send) + kRounding);
  EXPECT_LE(begin(send), begin(wait));
  EXPECT_LE(end(wait), end(call) + kRounding);
  // Microseconds of the clock that all ranks of a host share.
  EXPECT_GE(begin(call) + kRounding, static_cast<double>(before_ns) * 1e-3);
  EXPECT_LE(end(call) - kRounding, static_cast<double>(after_ns) * 1e-3);
  for (const Json& event : events) EXPECT_EQ(event.at("pid"), 3);
}

TEST_F(TraceTest, EveryKindHasAName) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  for (int kind = 1; kind < kTraceKinds; ++kind) Trace::Mark(static_cast<TraceKind>(kind), 0, 0);
  ASSERT_TRUE(Trace::Stop().ok());
  std::vector<std::string> names;
  for (const Json& event : EventsOf(Load())) names.push_back(event.at("name"));
  EXPECT_EQ(names,
            (std::vector<std::string>{"copy in", "copy out", "copy from overflow", "combine",
                                      "post send", "wait", "sent", "receive posted", "received"}));
}

TEST_F(TraceTest, KeepsTheFirstEventsAndCountsTheRest) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4, /*most_events=*/10).ok());
  for (int i = 0; i < 17; ++i) Trace::Mark(TraceKind::kSent, static_cast<size_t>(i), 0);
  ASSERT_TRUE(Trace::Stop().ok());
  const Json trace = Load();
  const std::vector<Json> events = EventsOf(trace);
  ASSERT_EQ(events.size(), 10u);
  EXPECT_EQ(events.back().at("args").at("bytes"), 9);
  EXPECT_EQ(trace.at("otherData").at("dropped_events"), 7);
}

TEST_F(TraceTest, OneAtATime) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  const Status second = Trace::Start("other.json", 3, 4);
  EXPECT_EQ(second.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(second.message().find(part_), std::string::npos) << second.message();
}

TEST_F(TraceTest, NoMemory) {
  EXPECT_EQ(Trace::Start(file_, 3, 4, SIZE_MAX / sizeof(TraceEvent)).code(),
            StatusCode::kOutOfMemory);
  EXPECT_EQ(Trace::current(), nullptr);
}

TEST_F(TraceTest, CannotBeWritten) {
  ASSERT_TRUE(Trace::Start("/nowhere/lu.json", 3, 4).ok());
  const Status status = Trace::Stop();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(status.message(),
            "cannot write the trace to /nowhere/lu.3.json.tmp: No such file or directory");
  EXPECT_EQ(Trace::current(), nullptr);
}

// As on a full disk: what is there is of another run, or complete, or not there.
TEST_F(TraceTest, LeavesNoPartOfAFile) {
  std::ofstream(part_) << "of another run";
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  EXPECT_FALSE(Exists(part_));
  for (int i = 0; i < 1000; ++i) Trace::Mark(TraceKind::kSent, 8, 0);
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit limit = before;
  limit.rlim_cur = 20000;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const Status status = Trace::Stop();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("File too large"), std::string::npos) << status.message();
  EXPECT_FALSE(Exists(part_));
  EXPECT_FALSE(Exists(part_ + ".tmp"));
}

TEST_F(TraceTest, ForkedChildWritesNothing) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  const pid_t child = fork();
  if (child == 0) {
    const bool ok = Trace::Stop().ok();
    _exit(ok && access(part_.c_str(), F_OK) != 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(Trace::Stop().ok());
  EXPECT_TRUE(Exists(part_));
}

// A child that finds the lock taken waits until its alarm.
TEST_F(TraceTest, AProcessForksWhileNoThreadRecords) {
  ASSERT_TRUE(Trace::Start(file_, 3, 4).ok());
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) Trace::Mark(TraceKind::kSent, 1, 0);
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      Trace::Mark(TraceKind::kSent, 1, 0);
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  over = true;
  other.join();
}

}  // namespace
}  // namespace brigade
