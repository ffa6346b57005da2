// Every method of brigade.hpp, over one transport, in a job of four ranks.
//   every_method TRANSPORT

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "brigade/brigade.hpp"
#include "test/support/load_blas.h"

namespace {

using brigade::Operation;
using brigade::Plan;
using brigade::Result;
using brigade::View;
using Values = std::vector<double>;

int me, size;

void Check(bool condition, const char* what) {
  if (condition) return;
  std::printf("rank %d: %s\n", me, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

void Ok(const Result& result, const char* what) {
  if (!result) std::printf("rank %d: %s\n", me, result.text.c_str());
  Check(result.status == BRIGADE_OK, what);
}

// The forms of a call with equal arguments. `prepare` sets what the call reads and writes, before
// each call; `verify` checks it afterwards.
struct Forms {
  const char* name;
  std::function<void()> prepare;
  std::function<Result()> run;
  std::function<Result(Operation*)> start;
  std::function<Result(Plan*)> plan;
  std::function<bool()> verify;

  void Run() const {
    Operation operation;
    Plan made;
    prepare();
    Ok(run(), name);
    Check(verify(), name);
    prepare();
    Ok(start(&operation), name);
    Ok(operation.Wait(), name);
    Check(verify(), name);
    Ok(plan(&made), name);
    prepare();
    Ok(made.Run(), name);
    Check(verify(), name);
    prepare();
    Ok(made.Start(&operation), name);
    while (!operation.Test()) continue;
    Ok(operation.Wait(), name);
    Check(verify(), name);
  }
};

#define RUN_FORMS(prepare, verify, method, ...)                                            \
  Forms{#method,                                                                           \
        prepare,                                                                           \
        [&] { return group.method(__VA_ARGS__); },                                         \
        [&](Operation* operation) { return group.Start##method(__VA_ARGS__, operation); }, \
        [&](Plan* plan) { return group.Plan##method(__VA_ARGS__, plan); },                 \
        verify}                                                                            \
      .Run()

// A block of two elements for each rank.
std::vector<View<double>> BlocksOf(Values& values) {
  std::vector<View<double>> blocks;
  for (int q = 0; q < size; ++q) blocks.emplace_back(values.data() + 2 * q, 2);
  return blocks;
}

struct Calls {
  explicit Calls(const brigade::Group& of) : group(of) {}

  // The sums of what ranks `first` to `end` - 1 contribute.
  static Values SumOf(int first, int end) {
    Values sum(2);
    for (int q = first; q < end; ++q) {
      sum[0] += q + 1;
      sum[1] += 10.0 * (q + 1);
    }
    return sum;
  }
  void Prepare() {
    const Values mine = SumOf(me, me + 1);
    own = mine;  // a copy, for plans keep the address
    buffer = mine;
    result = {-1, -1};
    for (size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<double>(i) + 100 * me;
      others[i] = -1;
    }
  }
  // Element i of `others` is element j of the block of rank q.
  bool OthersAre(const std::function<double(int q, int j)>& value) const {
    for (int i = 0; i < 2 * size; ++i) {
      if (others[static_cast<size_t>(i)] != value(i / 2, i % 2)) return false;
    }
    return true;
  }
  bool AreGathered() const {
    return OthersAre([](int q, int j) { return (j == 0 ? 1 : 10) * (q + 1); });
  }
  bool IsScattered(int from, double factor, double added) const {
    return result ==
           Values{factor * 2 * me + added + 100 * from, factor * (2 * me + 1) + added + 100 * from};
  }

  void PairsAndBroadcast() {
    const auto prepare = [&] { Prepare(); };
    const auto is_left = [&] { return result == SumOf(left, left + 1); };
    const auto send = [&] {
      Prepare();
      Ok(group.Send(own, right), "Send");
    };
    const auto receive = [&] {
      Ok(group.Receive(result, left), "Receive");
      return is_left();
    };
    RUN_FORMS(prepare, receive, Send, own, right);
    RUN_FORMS(send, is_left, Receive, result, left);
    RUN_FORMS(prepare, is_left, SendReceive, own, right, result, left);
    RUN_FORMS(
        prepare, [&] { return buffer == SumOf(1, 2); }, Broadcast, buffer, 1);
    Forms{"Barrier",
          prepare,
          [&] { return group.Barrier(); },
          [&](Operation* operation) { return group.StartBarrier(operation); },
          [&](Plan* plan) { return group.PlanBarrier(plan); },
          [] { return true; }}
        .Run();
  }

  void Reductions() {
    const auto prepare = [&] { Prepare(); };
    const Values sum = SumOf(0, size);
    const Values unset = {-1, -1};
    RUN_FORMS(
        prepare, [&] { return result == (me == 1 ? sum : unset); }, Reduce, own, result,
        BRIGADE_SUM, 1);
    RUN_FORMS(
        prepare, [&] { return buffer == (me == 1 ? sum : own); }, ReduceInPlace, buffer,
        BRIGADE_SUM, 1);
    RUN_FORMS(
        prepare, [&] { return result == sum; }, AllReduce, own, result, BRIGADE_SUM);
    RUN_FORMS(
        prepare, [&] { return buffer == sum; }, AllReduceInPlace, buffer, BRIGADE_SUM);
    const auto is_scattered = [&] { return IsScattered(0, size, 50.0 * size * (size - 1)); };
    RUN_FORMS(prepare, is_scattered, ReduceScatter, all_blocks, result, BRIGADE_SUM);
    RUN_FORMS(prepare, is_scattered, ReduceScatterV, BlocksOf(all), result, BRIGADE_SUM);
    RUN_FORMS(
        prepare, [&] { return result == SumOf(0, me + 1); }, Scan, own, result, BRIGADE_SUM);
    RUN_FORMS(
        prepare, [&] { return buffer == SumOf(0, me + 1); }, ScanInPlace, buffer, BRIGADE_SUM);
    RUN_FORMS(
        prepare, [&] { return result == (me == 0 ? unset : SumOf(0, me)); }, ExScan, own, result,
        BRIGADE_SUM);
    RUN_FORMS(
        prepare, [&] { return buffer == (me == 0 ? own : SumOf(0, me)); }, ExScanInPlace, buffer,
        BRIGADE_SUM);
  }

  void Blocks() {
    const auto prepare = [&] { Prepare(); };
    const auto are_gathered = [&] { return AreGathered(); };
    const auto are_at_root = [&] {
      return me == 1 ? AreGathered() : OthersAre([](int, int) { return -1; });
    };
    const auto is_scattered = [&] { return IsScattered(1, 1, 0); };
    const auto are_exchanged = [&] {
      return OthersAre([](int q, int j) { return 2 * me + j + 100 * q; });
    };
    RUN_FORMS(prepare, are_gathered, AllGather, own, other_blocks);
    RUN_FORMS(prepare, are_gathered, AllGatherV, own, BlocksOf(others));
    RUN_FORMS(prepare, are_at_root, Gather, own, other_blocks, 1);
    RUN_FORMS(prepare, are_at_root, GatherV, own, BlocksOf(others), 1);
    RUN_FORMS(prepare, is_scattered, Scatter, all_blocks, result, 1);
    RUN_FORMS(prepare, is_scattered, ScatterV, BlocksOf(all), result, 1);
    RUN_FORMS(prepare, are_exchanged, AllToAll, all_blocks, other_blocks);
    RUN_FORMS(prepare, are_exchanged, AllToAllV, BlocksOf(all), BlocksOf(others));
  }

  brigade::Group group;
  const int right = (me + 1) % size;
  const int left = (me + size - 1) % size;
  Values own = Values(2), buffer = Values(2), result = Values(2);
  Values all = Values(2 * static_cast<size_t>(size)), others = all;
  const View<double> all_blocks{all.data(), 2, size};
  const View<double> other_blocks{others.data(), 2, size};
};

// Ends two sums by `end`, which returns the number of operations that it has ended.
template <typename End>
void Complete(brigade::Group& group, const char* name, const End& end) {
  double sums[2] = {1, 2};
  std::vector<Operation> operations(2);
  for (size_t i = 0; i < 2; ++i) {
    const auto sum = brigade::ViewOfOne(sums[i]);
    Ok(group.StartAllReduceInPlace(sum, BRIGADE_SUM, &operations[i]), name);
  }
  for (size_t ended = 0; ended < 2;) ended += end(operations);
  Check(sums[0] == size && sums[1] == 2 * size, name);
}

void Completion(brigade::Group group) {
  using Operations = std::vector<Operation>;
  size_t index = 0;
  std::vector<size_t> indices;
  bool done = false;
  Complete(group, "WaitAll", [](Operations& operations) {
    Ok(brigade::WaitAll(operations), "WaitAll");
    return 2;
  });
  Complete(group, "WaitAny", [&](Operations& operations) {
    Ok(brigade::WaitAny(operations, &index), "WaitAny");
    return index < 2 ? 1 : 0;
  });
  Complete(group, "WaitSome", [&](Operations& operations) {
    Ok(brigade::WaitSome(operations, &indices), "WaitSome");
    return indices.size();
  });
  Complete(group, "TestAll", [&](Operations& operations) {
    Ok(brigade::TestAll(operations, &done), "TestAll");
    return done ? 2 : 0;
  });
  Complete(group, "TestAny", [&](Operations& operations) {
    Ok(brigade::TestAny(operations, &index, &done), "TestAny");
    return index < 2 ? 1 : 0;
  });
  Complete(group, "TestSome", [&](Operations& operations) {
    Ok(brigade::TestSome(operations, &indices), "TestSome");
    return indices.size();
  });
  Operations none;
  Ok(brigade::WaitSome(none, &indices), "WaitSome");
  Ok(brigade::TestSome(none, &indices), "TestSome");
  Check(indices.empty(), "there is no operation");
}

void MemoryAndOptions(brigade::Group group) {
  const auto larger = [](const double& left, const double& right) {
    return left < right ? right : left;
  };
  brigade::UserFunction<double, decltype(larger)> maximum(larger, /*commutes=*/true);
  brigade::Statistics statistics;
  brigade::CallOptions options;
  options.user_op = &maximum;
  options.statistics = &statistics;
  const auto memory = brigade::Allocate<double>(3);
  Check(memory != nullptr, "Allocate");
  for (int i = 0; i < 3; ++i) memory[static_cast<size_t>(i)] = me + i;
  const View<double> values(memory.get(), 3);
  Ok(group.AllReduceInPlace(values, BRIGADE_USER, options), "UserFunction");
  Check(memory[0] == size - 1 && memory[2] == size + 1, "UserFunction");
  Check(statistics.messages_sent > 0, "Statistics");
}

void Groups(const brigade::Engine& engine, brigade::Group group) {
  brigade::Group made;
  brigade::Failure failure;
  double one = 1;
  const auto view = brigade::ViewOfOne(one);
  Ok(group.Split(me % 2, 0, &made), "Split");
  Ok(made.AllReduceInPlace(view, BRIGADE_SUM), "Split");
  Check(made.rank() == me / 2 && one == made.size(), "Split");
  Ok(group.FromRanks({0}, 1, 1, &made), "FromRanks");
  Check((made.get() != nullptr) == (me == 0), "FromRanks");
  Ok(group.Duplicate(&made), "Duplicate");
  Ok(made.Error(), "Error");
  Ok(made.GetFailure(&failure), "GetFailure");
  Ok(group.Barrier(), "no rank aborts before all have looked");
  made.Abort("it is enough");
  Check(made.Error().status == BRIGADE_ABORTED, "Error");
  Check(made.GetFailure(&failure).status == BRIGADE_ABORTED, "GetFailure");
  Check(failure.status == BRIGADE_ABORTED && failure.rank >= 0, "Failure");
  Ok(made.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_SELF), 1, 1), "FromMpi");
  Ok(made.Barrier(), "FromMpi");
}

int Gather(const void* mine, void* all, size_t bytes, void*) {
  const int count = static_cast<int>(bytes);
  return MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
}

// Groups without MPI, which the transport "mpi" cannot have.
void Bootstraps() {
  brigade::EngineOptions options;
  brigade::BootstrapOptions alone;
  options.transport = "shm";
  alone.job = "of one rank";
  brigade::Engine engine;
  brigade::Bootstrap bootstrap;
  brigade::Group group;
  Ok(engine.Create(options), "Create");
  Ok(bootstrap.Callback(Gather, nullptr, me, size), "Callback");
  Ok(group.FromBootstrap(engine, bootstrap, 1, size), "FromBootstrap");
  Ok(group.Barrier(), "FromBootstrap");
  Ok(bootstrap.Tcp("127.0.0.1:1", 0, 1, alone), "Tcp");
  Check(bootstrap.get() != nullptr, "Tcp");
  Ok(group.FromBootstrap(engine, bootstrap, 1, 1), "FromBootstrap");
  Check(group.size() == 1, "FromBootstrap");
}

// This rank puts its number into the memory of the next, and finds the number of the last.
void PutAround(const brigade::Window& window, const double* memory, int64_t displacement) {
  const double sent = me;
  const int right = (me + 1) % size;
  Check(brigade_window_fence(window.get(), 0) == BRIGADE_OK, "fence");
  Check(
      brigade_window_put(window.get(), &sent, 1, BRIGADE_DOUBLE, right, displacement) == BRIGADE_OK,
      brigade_error_text());
  Check(brigade_window_fence(window.get(), BRIGADE_FENCE_NOTHING_SUCCEEDS) == BRIGADE_OK, "fence");
  Check(*memory == (me + size - 1) % size, "what was put");
}

void Windows(const brigade::Group& group) {
  brigade::Window window;
  Values memory(2);
  Ok(window.Create(group, memory.data(), 16, 8), "Create");
  PutAround(window, &memory[1], 1);
  Ok(window.Free(), "Free");
  void* allocated = nullptr;
  Ok(window.Allocate(group, 16, 8, &allocated), "Allocate");
  PutAround(window, static_cast<const double*>(allocated) + 1, 1);
  Ok(window.Free(), "Free");

  std::vector<int64_t> addresses(static_cast<size_t>(size));
  const auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(memory.data()));
  MPI_Allgather(&address, 1, MPI_INT64_T, addresses.data(), 1, MPI_INT64_T, MPI_COMM_WORLD);
  Ok(window.CreateDynamic(group), "CreateDynamic");
  Check(brigade_window_attach(window.get(), memory.data(), 16) == BRIGADE_OK, "attach");
  PutAround(window, memory.data(), addresses[static_cast<size_t>((me + 1) % size)]);
  Ok(window.Free(), "Free");
}

// The product of a column and a row of ones, by rows of a grid of one column.
void Products(const brigade::Group& group) {
  brigade::LoadBlas();
  brigade::Group column;
  brigade::Multiplier multiplier;
  brigade::Product product;
  brigade::MultiplyOptions options;
  brigade::MultiplyStatistics statistics;
  std::vector<int> ranks;
  for (int q = 0; q < size; ++q) ranks.push_back(q);
  Ok(group.FromRanks(ranks, size, 1, &column), "FromRanks");
  Ok(multiplier.Create(column), "Create");
  const double one = 1, zero = 0;
  double a = me;
  Values b(static_cast<size_t>(size), 1), c(static_cast<size_t>(size));
  product.type = BRIGADE_DOUBLE;
  product.m = product.n = size;
  product.k = 1;
  product.alpha = &one;
  product.beta = &zero;
  product.a = {&a, size, 1, 1, 1, 0, 0, 1, 0, 0, nullptr};
  product.b = {b.data(), 1, size, 1, size, 0, 0, 1, 0, 0, nullptr};
  product.c = {c.data(), size, size, 1, size, 0, 0, 1, 0, 0, nullptr};
  Ok(multiplier.Multiply(product, &options, &statistics), "Multiply");
  Check(c == Values(static_cast<size_t>(size), me) && statistics.products > 0, "Multiply");
  Ok(multiplier.Free(), "Free");
}

void EveryMethod(const char* transport) {
  brigade::EngineOptions options;
  options.transport = transport;
  brigade::Engine engine;
  brigade::Group group;
  Ok(engine.Create(options), "Create");
  Ok(group.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size), "FromMpi");
  Check(group.rank() == me && group.size() == size, "rank and size");
  Calls calls(group);
  calls.PairsAndBroadcast();
  calls.Reductions();
  calls.Blocks();
  Completion(group);
  MemoryAndOptions(group);
  Groups(engine, group);
  Bootstraps();
  Windows(group);
  Products(group);
  int descriptor = -1;
  const Result opened = engine.GetDescriptor(&descriptor);
  if (std::string(transport) == "mpi") {
    Check(opened.status == BRIGADE_UNAVAILABLE, "GetDescriptor over mpi");
  } else {
    Check(opened && descriptor >= 0, "GetDescriptor");
  }
  engine.Progress();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  EveryMethod(argc > 1 ? argv[1] : "auto");
  std::printf("rank %d: passed\n", me);
  MPI_Finalize();
  return 0;
}
