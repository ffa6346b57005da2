#include "test/patterns/mismatch_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/schedule/topology.h"

namespace brigade {
namespace {

constexpr Pattern kCollectives[] = {Pattern::kBroadcast,   Pattern::kReduce,
                                    Pattern::kAllReduce,   Pattern::kMultiBroadcast,
                                    Pattern::kMultiReduce, Pattern::kBarrier};

constexpr Pattern kOfBlocksAndPrefixes[] = {Pattern::kGather, Pattern::kScatter, Pattern::kAllToAll,
                                            Pattern::kScan, Pattern::kExscan};

TestCall Of(Pattern pattern, int root = 0, size_t elems = 10) {
  TestCall call;
  call.pattern = pattern;
  call.root = root;
  call.elems = elems;
  if (HasDirection(pattern)) call.topology = {Shape::kIncreasingRings, 1};
  if (IsScan(pattern)) call.topology = {Shape::kHypercube, 0};
  return call;
}

TestCall In(ChannelKind scope, TestCall call) {
  call.scope = scope;
  return call;
}

TestCall Along(Topology topology, TestCall call) {
  call.topology = topology;
  return call;
}

void Nothing(void*, const void*, const void*, int64_t, void*) {}

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<MismatchCase> MakeCases() {
  std::vector<MismatchCase> cases;
  const auto add = [&](const std::string& name, int odd_rank, std::vector<TestCall> odd,
                       std::vector<TestCall> others, std::vector<std::string> texts) {
    cases.push_back({name, odd_rank, std::move(odd), std::move(others), std::move(texts)});
  };
  for (const Pattern odd : kCollectives) {
    for (const Pattern others : kCollectives) {
      if (odd == others) continue;
      const std::string name = std::string(PatternName(odd)) + " among " + PatternName(others);
      for (const int odd_rank : {0, 3}) {
        for (const size_t elems : {size_t{10}, size_t{3000}}) {
          add(name + " of " + std::to_string(elems), odd_rank, {Of(odd, 0, elems)},
              {Of(others, 0, elems)}, {"differ in the pattern"});
        }
      }
    }
  }
  // Patterns of blocks and prefixes, each with all other patterns.
  const auto add_pair = [&](Pattern odd, Pattern others) {
    const std::string name = std::string(PatternName(odd)) + " among " + PatternName(others);
    for (const int odd_rank : {0, 3}) {
      add(name, odd_rank, {Of(odd)}, {Of(others)}, {"differ in the pattern"});
    }
  };
  for (const Pattern pattern : kOfBlocksAndPrefixes) {
    for (const Pattern other : kCollectives) {
      add_pair(pattern, other);
      add_pair(other, pattern);
    }
    for (const Pattern other : kOfBlocksAndPrefixes) {
      if (other != pattern) add_pair(pattern, other);
    }
  }
  const std::vector<std::string> in_root = {"differ in the root"};
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce}) {
    const std::string name = std::string(PatternName(pattern)) + " with root ";
    for (const size_t elems : {size_t{1}, size_t{100}, size_t{3000}, size_t{40000}}) {
      for (const int root : {1, 2, 3}) {
        for (const Topology topology :
             {Topology{Shape::kTree, 2}, Topology{Shape::kTree, 4},
              Topology{Shape::kIncreasingRings, 1}, Topology{Shape::kTwoTree, 0}}) {
          add(name + std::to_string(root) + " of " + std::to_string(elems), 3,
              {Along(topology, Of(pattern, root, elems))}, {Along(topology, Of(pattern, 0, elems))},
              in_root);
        }
      }
    }
  }
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (const size_t elems : {size_t{1}, size_t{3000}}) {
      for (const int root : {1, 3}) {
        for (const Topology topology : {Topology{Shape::kTree, 2}, Topology{Shape::kTree, 4}}) {
          add(PatternName(pattern) + (" with root " + std::to_string(root)) + " of " +
                  std::to_string(elems),
              3, {Along(topology, Of(pattern, root, elems))},
              {Along(topology, Of(pattern, 0, elems))}, in_root);
        }
      }
    }
  }
  const std::vector<std::string> in_bytes = {"differ in bytes", "differ in the lengths"};
  for (const Pattern pattern : kCollectives) {
    if (pattern == Pattern::kBarrier) continue;
    const std::string name = std::string(PatternName(pattern)) + " of ";
    for (const auto& [odd, others] :
         {std::pair{1, 2}, {10, 9}, {3001, 3000}, {10, 3000}, {3000, 10}}) {
      add(name + std::to_string(odd) + " among " + std::to_string(others), 1,
          {Of(pattern, 0, static_cast<size_t>(odd))}, {Of(pattern, 0, static_cast<size_t>(others))},
          in_bytes);
    }
  }
  for (const Pattern pattern : kOfBlocksAndPrefixes) {
    for (const size_t odd : {size_t{9}, size_t{3000}}) {
      add(PatternName(pattern) + (" of " + std::to_string(odd)) + " among 10", 1,
          {Of(pattern, 0, odd)}, {Of(pattern)}, in_bytes);
    }
  }
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (const Topology topology : {Topology{Shape::kTree, 2}, Topology{Shape::kTree, 4}}) {
      TestCall odd = Along(topology, Of(pattern));
      odd.last_elems = 9;
      add(PatternName(pattern) + std::string(" whose last block is shorter"), 1, {odd},
          {Along(topology, Of(pattern))}, in_bytes);
    }
  }
  for (const size_t elems : {size_t{0}, size_t{10}, size_t{3000}}) {
    TestCall equal = Of(Pattern::kAllToAll, 0, elems);
    equal.equal_blocks = true;
    const TestCall any = Of(Pattern::kAllToAll, 0, elems);
    const std::string name = "all_to_all of " + std::to_string(elems);
    const std::vector<std::string> in_blocks = {"differ in the lengths of blocks"};
    for (const Topology topology :
         {Topology{Shape::kIncreasingRings, 1}, Topology{Shape::kCirculant, 0}}) {
      add(name + ", equal among any", 0, {Along(topology, equal)}, {any}, in_blocks);
      add(name + ", any among equal", 3, {any}, {Along(topology, equal)}, in_blocks);
    }
    const TestCall circulant = Along({Shape::kCirculant, 0}, equal);
    // Messages on a graph have several blocks, so other bytes may be what a rank sees first.
    add(name + " along a ring", 2, {equal}, {circulant},
        {"differ in the topology", "differ in bytes", "differ in the lengths"});
    TestCall longer = circulant;
    ++longer.elems;
    add(name + ", longer along a graph", 1, {longer}, {circulant}, in_bytes);
  }
  for (const Pattern pattern : {Pattern::kScan, Pattern::kExscan}) {
    const std::string name = PatternName(pattern);
    TestCall odd = Of(pattern);
    odd.op = CombineOp::kAbsMax;
    add(name + " that takes maxima", 2, {odd}, {Of(pattern)}, {"differ in the arithmetic"});
    add(name + " along a chain", 1, {Along({Shape::kIncreasingRings, 1}, Of(pattern))},
        {Of(pattern)}, {"differ in the topology"});
  }
  for (const Pattern pattern : {Pattern::kReduce, Pattern::kAllReduce, Pattern::kMultiReduce}) {
    const std::string name = PatternName(pattern);
    TestCall odd = Of(pattern);
    odd.type = Element::kInt64;
    add(name + " of int64", 2, {odd}, {Of(pattern)}, {"differ in the arithmetic"});
    odd = Of(pattern);
    odd.op = CombineOp::kAbsMax;
    add(name + " that takes maxima", 2, {odd}, {Of(pattern)}, {"differ in the arithmetic"});
  }
  // Doubles are as long as the shorter elements; 20 of the one are as long as 10 of the other.
  static const UserOp ops[] = {
      {Nothing, nullptr, 8, true}, {Nothing, nullptr, 8, false}, {Nothing, nullptr, 16, true}};
  for (const Pattern pattern :
       {Pattern::kReduce, Pattern::kAllReduce, Pattern::kMultiReduce, Pattern::kScan}) {
    const std::string name = std::string(PatternName(pattern)) + " by a user operation ";
    TestCall calls[3];
    for (int i = 0; i < 3; ++i) {
      calls[i] = Of(pattern, pattern == Pattern::kReduce ? 1 : 0, i == 2 ? 10 : 20);
      calls[i].op = CombineOp::kUser;
      calls[i].type = Element::kByte;
      calls[i].user_op = &ops[i];
    }
    add(name + "that does not commute", 2, {calls[1]}, {calls[0]},
        {"non-commutative user op on 8 bytes"});
    add(name + "on longer elements", 2, {calls[2]}, {calls[0]},
        {"commutative user op on 16 bytes"});
    TestCall sum = calls[0];
    sum.op = CombineOp::kSum;
    sum.type = Element::kDouble;
    add(name + "among sums", 3, {calls[0]}, {sum}, {"commutative user op on 8 bytes"});
  }
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce, Pattern::kAllReduce}) {
    for (const size_t elems : {size_t{10}, size_t{3000}}) {
      add(std::string(PatternName(pattern)) + " along rings of " + std::to_string(elems), 3,
          {Along({Shape::kIncreasingRings, 1}, Of(pattern, 0, elems))}, {Of(pattern, 0, elems)},
          {"differ in the topology"});
    }
  }
  const std::vector<std::string> in_order = {"come in different orders"};
  for (const auto& [scope, name] :
       {std::pair{ChannelKind::kRow, "row"}, {ChannelKind::kColumn, "column"}}) {
    add(std::string("barrier of a ") + name, 3, {In(scope, Of(Pattern::kBarrier))},
        {Of(Pattern::kBarrier)}, in_order);
    add(std::string("all_to_all of a ") + name, 3, {In(scope, Of(Pattern::kAllToAll))},
        {Of(Pattern::kAllToAll)}, in_order);
    // Rank 1 sends to rank 3, and rank 2 to rank 3.
    add(std::string("all-reduce of a ") + name, 0, {In(scope, Of(Pattern::kAllReduce))},
        {Of(Pattern::kAllReduce)}, in_order);
  }
  add("receives from each other", 1, {Of(Pattern::kReceive, 0)}, {Of(Pattern::kReceive, 1)},
      in_order);
  add("a receive, and a barrier", 1, {Of(Pattern::kReceive, 0)}, {Of(Pattern::kBarrier)}, in_order);
  add("calls in another order", 3, {Of(Pattern::kAllReduce), Of(Pattern::kBarrier)},
      {Of(Pattern::kBarrier), Of(Pattern::kAllReduce)}, {"differ in the pattern"});
  return cases;
}

// The matrices of a call.
class Data {
 public:
  Data(const Group& group, const TestCall& tested) {
    call.pattern = tested.pattern;
    call.scope = tested.scope;
    call.root = tested.root;
    call.topology = tested.topology;
    call.type = tested.type;
    call.op = tested.op;
    call.user_op = tested.user_op;
    call.equal_blocks = tested.equal_blocks;
    const auto ranks = static_cast<size_t>(group.ScopeSize(tested.scope));
    memory_.resize(2 * ranks + 1);
    for (std::vector<double>& memory : memory_) {
      const bool is_last = &memory == &memory_[ranks - 1] && tested.last_elems > 0;
      const size_t elems = is_last ? tested.last_elems : tested.elems;
      memory.resize(elems * ElementBytes(call) / 8 + 1);
      const auto rows = static_cast<int64_t>(elems);
      Matrix matrix;
      matrix.data = reinterpret_cast<std::byte*>(memory.data());
      made_ = StridedLayout::General(rows, 1, rows, ElementBytes(call), &matrix.layout);
      blocks_.push_back(matrix);
    }
    if (HasMatrix(tested.pattern)) call.matrix = blocks_.back();
    if (EntryOf(tested.pattern).multi) call.blocks = blocks_.data();
    call.sent = blocks_.data() + ranks;
  }
  const Status& made() const { return made_; }
  PatternCall call;

 private:
  std::vector<std::vector<double>> memory_;
  std::vector<Matrix> blocks_;
  Status made_;
};

Status RunCall(Group* group, const TestCall& tested) {
  const Data data(*group, tested);
  return data.made().ok() ? group->Run(data.call) : data.made();
}

}  // namespace

const std::vector<MismatchCase>& MismatchCases() {
  static const std::vector<MismatchCase>& cases = *new std::vector<MismatchCase>(MakeCases());
  return cases;
}

MismatchCase MismatchOfRoots(size_t elems) {
  const Topology flat{Shape::kTree, 4};
  return {"broadcast from another root",
          3,
          {Along(flat, Of(Pattern::kBroadcast, 1, elems))},
          {Along(flat, Of(Pattern::kBroadcast, 0, elems))},
          {"differ in the root"}};
}

Status RunCalls(Group* group, const MismatchCase& tested) {
  Status status;
  for (const TestCall& call : group->rank() == tested.odd_rank ? tested.odd : tested.others) {
    if (status.ok()) status = RunCall(group, call);
  }
  return status;
}

Status StartAndTest(Group* group, const TestCall& tested) {
  const Data data(*group, tested);
  BRIGADE_RETURN_IF_ERROR(data.made());
  std::unique_ptr<Operation> operation;
  BRIGADE_RETURN_IF_ERROR(group->Start(data.call, &operation));
  while (!operation->Test()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  return operation->Wait();
}

Status RunCase(Group* group, const MismatchCase& tested) {
  using Clock = std::chrono::steady_clock;
  Status status = RunCalls(group, tested);
  for (int i = 0; status.ok() && i < 2; ++i) status = RunCall(group, TestCall());
  const auto end = Clock::now() + std::chrono::minutes(2);
  while (status.ok() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    status = group->failure();
  }
  return status;
}

EngineOptions MismatchOptions() {
  EngineOptions options;
  options.chunk_bytes = 4096;
  options.staging_bytes = 256 * 1024;
  options.calibrate = EngineOptions::Calibrate::kNever;
  options.match_check_seconds = 0.02;
  return options;
}

std::string WrongOutcome(const MismatchCase& tested, const Status& status, bool goes_on) {
  const auto says = [&](const std::string& text) {
    return status.message().find(text) != std::string::npos;
  };
  const bool is_named = status.code() == StatusCode::kMismatch &&
                        (std::any_of(tested.texts.begin(), tested.texts.end(), says) ||
                         (goes_on && says("differ in the number of earlier calls")));
  return is_named ? "" : tested.name + ": " + status.ToString();
}

}  // namespace brigade
