// Every type and operation, operations of users, and sources apart from their results: random calls
// on ranks that are threads, or live in virtual time, against the operands combined one after the
// other in the order of ranks.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/half.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/group/operation.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// --- operations of users ---

// Integer matrices of 2 x 2: their product is associative and does not commute.
void MultiplyMatrices(void* result, const void* left, const void* right, int64_t count, void*) {
  using Square = std::array<uint32_t, 4>;
  for (int64_t i = 0; i < count; ++i) {
    const Square l = static_cast<const Square*>(left)[i];
    const Square r = static_cast<const Square*>(right)[i];
    static_cast<Square*>(result)[i] = {l[0] * r[0] + l[1] * r[2], l[0] * r[1] + l[1] * r[3],
                                       l[2] * r[0] + l[3] * r[2], l[2] * r[1] + l[3] * r[3]};
  }
}

// Texts of a length that does not divide a block.
struct Text {
  uint8_t length;
  char letters[22];
};
void Append(void* result, const void* left, const void* right, int64_t count, void*) {
  for (int64_t i = 0; i < count; ++i) {
    Text l = static_cast<const Text*>(left)[i];
    const Text& r = static_cast<const Text*>(right)[i];
    std::memcpy(l.letters + l.length, r.letters, r.length);
    l.length = static_cast<uint8_t>(l.length + r.length);
    static_cast<Text*>(result)[i] = l;
  }
}

void AddTriples(void* result, const void* left, const void* right, int64_t count, void*) {
  for (int64_t i = 0; i < 3 * count; ++i) {
    static_cast<uint32_t*>(result)[i] =
        static_cast<const uint32_t*>(left)[i] + static_cast<const uint32_t*>(right)[i];
  }
}

const UserOp kUserOps[] = {{MultiplyMatrices, nullptr, 16, false},
                           {Append, nullptr, sizeof(Text), false},
                           {AddTriples, nullptr, 12, true}};

// --- calls ---

// A call, as all ranks draw it alike.
struct Drawn {
  PatternCall call;  // without memory
  int number = 0;
  int64_t rows = 0;
  int64_t cols = 0;
  bool is_started = false;
  bool is_located = false;

  size_t ElemBytes() const { return ElementBytes(call); }
  bool multi() const { return call.pattern == Pattern::kMultiReduce; }
  int64_t ColsOf(int block) const {
    return block < 0 ? cols : std::max<int64_t>(0, cols + block % 3 - 1);
  }
};

uint64_t Hash(uint64_t x) {
  x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
  return x ^ x >> 29;
}

// Writes one element of a rank's contribution. Sums and products of floating numbers are exact in
// every order.
void WriteElement(const Drawn& drawn, int rank, int block, size_t index, std::byte* element) {
  const uint64_t seed =
      Hash(static_cast<uint64_t>(drawn.number) * 1000003 + static_cast<uint64_t>(rank) * 7919 +
           index * 31 + static_cast<uint64_t>(block + 1));
  const PatternCall& call = drawn.call;
  const size_t bytes = drawn.ElemBytes();
  if (call.user_op != nullptr && call.user_op->combine == Append) {
    Text text{};
    text.length = static_cast<uint8_t>(1 + (static_cast<size_t>(rank) + index) % 2);
    std::memset(text.letters, 'a' + rank, text.length);
    std::memcpy(element, &text, sizeof(text));
    return;
  }
  const bool rounds = (call.op == CombineOp::kSum || call.op == CombineOp::kProduct) &&
                      !IsOrderFree(call.op, call.type);
  if (!rounds) {
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
      const uint64_t bits = Hash(seed + at);
      std::memcpy(element + at, &bits, std::min(bytes - at, sizeof(bits)));
    }
    return;
  }
  const bool is_sum = call.op == CombineOp::kSum;
  const auto small = [&](uint64_t x) -> float {
    constexpr float kFactors[] = {1, -1, 2};
    return is_sum ? static_cast<float>(x % 5) - 2 : kFactors[x % 3];
  };
  const auto write = [&](auto value) { std::memcpy(element, &value, sizeof(value)); };
  // No product of these has a part of 0, whose sign could depend on the order.
  const bool one = seed % 2 == 0;
  const float re = is_sum ? small(seed) : one ? 1 : 3;
  const float im = is_sum ? small(seed >> 8) : 2;
  switch (call.type) {
    case Element::kFloat16:
      return write(FromFloat<Float16>(small(seed)));
    case Element::kBfloat16:
      return write(FromFloat<Bfloat16>(small(seed)));
    case Element::kFloat:
      return write(small(seed));
    case Element::kDouble:
      return write(static_cast<double>(small(seed)));
    case Element::kComplexFloat:
      return write(std::array<float, 2>{re, im});
    default:
      return write(std::array<double, 2>{re, im});
  }
}

// A matrix of a rank with its memory, of which every byte is known.
struct Owned {
  std::vector<std::byte> memory;
  std::byte* mapped = nullptr;
  Matrix matrix;

  Owned() = default;
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    memory.swap(other.memory);
    std::swap(mapped, other.mapped);
    std::swap(matrix, other.matrix);
    return *this;
  }
  ~Owned() {
    if (mapped != nullptr) SharedAllocations::Here().Free(mapped);
  }
  size_t Bytes() const {
    const StridedLayout& layout = matrix.layout;
    return static_cast<size_t>(layout.ld() * layout.cols()) * layout.elem_bytes();
  }
};

// Returns a matrix that holds a rank's contribution; rank -1: of other bytes.
Owned Make(const Drawn& drawn, int rank, int block, int64_t gap, bool in_mapped_memory) {
  Owned owned;
  const int64_t ld = std::max<int64_t>(1, drawn.rows + gap);
  const size_t elem_bytes = drawn.ElemBytes();
  Require(StridedLayout::General(drawn.rows, drawn.ColsOf(block), ld, elem_bytes,
                                 &owned.matrix.layout));
  const size_t bytes = owned.Bytes();
  if (in_mapped_memory) {
    void* memory = nullptr;
    Require(SharedAllocations::Here().Allocate(bytes + 1, &memory));
    owned.mapped = static_cast<std::byte*>(memory);
    owned.matrix.data = owned.mapped;
  } else {
    // Now and then at an odd address.
    const size_t shift = drawn.number % 3 == 0 ? 1 : 0;
    owned.memory.resize(bytes + 1 + shift);
    owned.matrix.data = owned.memory.data() + shift;
  }
  std::memset(owned.matrix.data, 0x6b, bytes);
  for (size_t i = 0; rank >= 0 && i < owned.matrix.layout.bytes() / elem_bytes; ++i) {
    const auto rows = static_cast<size_t>(drawn.rows);
    const size_t at = (i / rows * static_cast<size_t>(ld) + i % rows) * elem_bytes;
    WriteElement(drawn, rank, block, i, owned.matrix.data + at);
  }
  return owned;
}

// Returns the locations of a rank's contribution, few so that some are equal; empty without.
std::vector<int32_t> LocationsOf(const Drawn& drawn, int rank) {
  std::vector<int32_t> locations;
  if (!drawn.is_located) return locations;
  for (int64_t i = 0; i < drawn.rows * drawn.cols; ++i) {
    locations.push_back(static_cast<int32_t>(Hash(static_cast<uint64_t>(i + rank)) % 3));
  }
  return locations;
}

// Returns the operands of the first `ranks` ranks, combined one after the other, as a packed
// block; *locations also, unless it is null.
std::vector<std::byte> Expected(const Drawn& drawn, int ranks, int block,
                                std::vector<int32_t>* locations) {
  const size_t elem_bytes = drawn.ElemBytes();
  const auto elems = static_cast<size_t>(drawn.rows * drawn.ColsOf(block));
  const size_t bytes = elems * elem_bytes;
  const StridedLayout layout = StridedLayout::Contiguous(bytes);
  std::vector<std::byte> sum(bytes), next(bytes);
  std::vector<int32_t> winners = LocationsOf(drawn, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    for (size_t i = 0; i < elems; ++i) {
      WriteElement(drawn, rank, block, i, &(rank == 0 ? sum : next)[i * elem_bytes]);
    }
    if (rank == 0) continue;
    const std::vector<int32_t> others = LocationsOf(drawn, rank);
    int32_t* const at = drawn.is_located ? winners.data() : nullptr;
    Combine(drawn.call, elems, {&layout, sum.data(), 0, at}, {&layout, sum.data(), 0, at},
            {&layout, next.data(), 0, drawn.is_located ? others.data() : nullptr});
  }
  if (locations != nullptr) *locations = winners;
  return sum;
}

// Every byte of the matrix, gaps included.
void ExpectMemory(const Owned& owned, const std::vector<std::byte>& packed, int64_t rows,
                  const std::string& what) {
  const StridedLayout& layout = owned.matrix.layout;
  std::vector<std::byte> expected(owned.Bytes(), std::byte{0x6b});
  const size_t column = static_cast<size_t>(rows) * layout.elem_bytes();
  for (size_t at = 0; at < packed.size(); at += column) {
    std::memcpy(&expected[at / column * static_cast<size_t>(layout.ld()) * layout.elem_bytes()],
                &packed[at], column);
  }
  if (!expected.empty() && std::memcmp(expected.data(), owned.matrix.data, expected.size()) != 0) {
    throw std::runtime_error(what);
  }
}

std::vector<std::byte> Contribution(const Drawn& drawn, int rank) {
  const auto elems = static_cast<size_t>(drawn.rows * drawn.cols);
  std::vector<std::byte> packed(elems * drawn.ElemBytes());
  for (size_t i = 0; i < elems; ++i) {
    WriteElement(drawn, rank, -1, i, &packed[i * drawn.ElemBytes()]);
  }
  return packed;
}

Drawn Draw(int number, int ranks, bool has_shm, std::mt19937* random) {
  const auto below = [&](size_t n) { return static_cast<size_t>((*random)() % n); };
  constexpr Pattern kPatternsOfThis[] = {Pattern::kReduce, Pattern::kAllReduce,
                                         Pattern::kMultiReduce, Pattern::kScan, Pattern::kExscan};
  Drawn drawn;
  drawn.number = number;
  PatternCall& call = drawn.call;
  call.pattern = kPatternsOfThis[below(5)];
  call.root = static_cast<int>(below(static_cast<size_t>(ranks)));
  const std::vector<Topology>& topologies = EntryOf(call.pattern).topologies;
  const size_t t = below(topologies.size() + 2);
  call.topology = t < topologies.size() ? topologies[t] : Topology{Shape::kFree, 0};
  call.decreasing = below(2) == 0;
  if (below(2) == 0) {
    call.op = CombineOp::kUser;
    call.type = Element::kByte;
    call.user_op = &kUserOps[below(3)];
  } else {
    do {
      call.op = static_cast<CombineOp>(below(kCallOps - 1));
      call.type = static_cast<Element>(below(kCallElements));
    } while (!Combines(call.op, call.type));
    drawn.is_located = HasLocations(call.op) &&
                       (call.pattern == Pattern::kReduce || call.pattern == Pattern::kAllReduce) &&
                       below(2) == 0;
  }
  // Inline, of several segments, and long enough for zero-copy reads.
  const size_t longest[] = {1, 12, 12, 300, 600};
  drawn.rows = static_cast<int64_t>(1 + below(longest[below(5)]));
  drawn.cols = static_cast<int64_t>(1 + below(3));
  if (has_shm && below(4) == 0) drawn.cols *= drawn.multi() ? 8 : 30;
  drawn.is_started = below(4) == 0;
  return drawn;
}

std::string NameOf(const Drawn& drawn) {
  const PatternCall& call = drawn.call;
  return std::string(PatternName(call.pattern)) + " " + std::to_string(drawn.number) + ", " +
         CombineOpName(call.op) + " of " + ElementName(call.type) + " (" +
         std::to_string(drawn.ElemBytes()) + " bytes" +
         (drawn.is_located ? ", with locations" : "") + "), shape " +
         std::to_string(static_cast<int>(call.topology.shape)) + "/" +
         std::to_string(call.topology.parameter) + ", root " + std::to_string(call.root) + ", " +
         std::to_string(drawn.rows) + " x " + std::to_string(drawn.cols);
}

Status RunIt(Group* group, const Drawn& drawn, const PatternCall& call) {
  if (!drawn.is_started) return group->Run(call);
  std::unique_ptr<Operation> operation;
  Status status;
  do {
    status = group->Start(call, &operation);
  } while (status.code() == StatusCode::kNoResource);
  return status.ok() ? operation->Wait() : status;
}

// One rank's part of a drawn call, whose own choices are `random`'s.
void RunDrawn(Group* group, const Drawn& drawn, bool has_shm, std::mt19937* random) {
  const int rank = group->rank();
  const int ranks = group->ScopeSize(ChannelKind::kAll);
  const std::string name = NameOf(drawn) + ", rank " + std::to_string(rank);
  const auto gap = [&] { return static_cast<int64_t>((*random)() % 3 == 0 ? 2 : 0); };
  const auto mapped = [&] { return has_shm && drawn.number % 2 == 0; };
  PatternCall call = drawn.call;
  if (drawn.multi()) {
    std::vector<Owned> blocks;
    std::vector<Matrix> matrices;
    for (int q = 0; q < ranks; ++q) {
      blocks.push_back(Make(drawn, rank, q, gap(), mapped()));
      matrices.push_back(blocks.back().matrix);
    }
    const Owned result = Make(drawn, -1, rank, gap(), mapped());
    call.blocks = matrices.data();
    call.matrix = result.matrix;
    Require(RunIt(group, drawn, call).WithContext(name));
    ExpectMemory(result, Expected(drawn, ranks, rank, nullptr), drawn.rows,
                 name + ": wrong result");
    return;
  }
  const int combined = call.pattern == Pattern::kScan     ? rank + 1
                       : call.pattern == Pattern::kExscan ? rank
                                                          : ranks;
  const bool has_result = call.pattern == Pattern::kReduce ? call.root == rank : combined > 0;
  const bool has_source = (*random)() % 2 == 0;
  const Owned matrix = Make(drawn, has_source ? -1 : rank, -1, gap(), mapped());
  const Owned source = Make(drawn, rank, -1, gap(), mapped());
  call.matrix = matrix.matrix;
  if (has_source) {
    call.source = source.matrix;
    if (!has_result && (*random)() % 2 == 0) call.matrix = Matrix();
  }
  std::vector<int32_t> locations = LocationsOf(drawn, rank);
  if (drawn.is_located) call.locations = locations.data();
  Require(RunIt(group, drawn, call).WithContext(name));
  ExpectMemory(source, Contribution(drawn, rank), drawn.rows, name + ": the source was written");
  if (has_result) {
    std::vector<int32_t> winners;
    ExpectMemory(matrix, Expected(drawn, combined, -1, &winners), drawn.rows,
                 name + ": wrong result");
    if (locations != winners) throw std::runtime_error(name + ": wrong locations");
  } else {
    if (locations != LocationsOf(drawn, rank)) {
      throw std::runtime_error(name + ": the locations were written");
    }
    ExpectMemory(matrix, has_source ? std::vector<std::byte>() : Contribution(drawn, rank),
                 drawn.rows, name + ": the matrix was written");
  }
}

void RunCalls(Endpoint* endpoint, Bootstrap* bootstrap, int calls, bool has_shm, unsigned seed) {
  EngineOptions options;
  options.chunk_bytes = 1024;
  options.staging_bytes = 64 * 1024;
  options.calibrate = EngineOptions::Calibrate::kNever;
  std::unique_ptr<Engine> engine;
  Require(Engine::Create(endpoint, options, &engine));
  std::unique_ptr<Group> group;
  Require(Group::Create(engine.get(), bootstrap, 1, bootstrap->size(), &group));
  std::mt19937 alike(seed);
  std::mt19937 own(seed + 1 + static_cast<unsigned>(group->rank()));
  for (int number = 0; number < calls; ++number) {
    RunDrawn(group.get(), Draw(number, bootstrap->size(), has_shm, &alike), has_shm, &own);
  }
}

class Operations : public testing::TestWithParam<int> {};

TEST_P(Operations, OverStagedMessages) {
  for (const bool peer : {false, true}) {
    const unsigned seed = StressSeed();
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    InprocOptions options;
    options.lands_in_peer_memory = peer;
    options.lands_in_place = !peer;
    RunRanks(GetParam(), options, [&](InprocWorld& world, int rank) {
      const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
      RunCalls(endpoint.get(), world.MakeBootstrap(rank).get(), StressRounds(200, 1500), false,
               seed);
    });
  }
}

TEST_P(Operations, OverSharedMemory) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  RunRanks(GetParam(), {}, [&](InprocWorld& world, int rank) {
    std::unique_ptr<Endpoint> endpoint;
    Require(CreateShmEndpoint(ShmOptions(), &endpoint));
    RunCalls(endpoint.get(), world.MakeBootstrap(rank).get(), StressRounds(300, 2000), true, seed);
  });
}

TEST_P(Operations, OnSimulatedRanks) {
  const unsigned seed = StressSeed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  MachineDescription machine;
  Require(MachineDescription::Read("transport/machines/shaped_cluster.json", &machine));
  SimWorld world(machine, GetParam(), SimOptions());
  const Status status = world.Run([&](int rank) {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    RunCalls(endpoint.get(), world.MakeBootstrap(rank).get(), StressRounds(100, 1000), false, seed);
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// Zero-copy reads: of long matrices each rank copies the shares that others have combined, and no
// more, whether ranks have sources or not.
TEST(Sources, AreReadWhereTheyLie) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, {}, [&](InprocWorld& world, int rank) {
    std::unique_ptr<Endpoint> endpoint;
    Require(CreateShmEndpoint(ShmOptions(), &endpoint));
    std::unique_ptr<Engine> engine;
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    std::unique_ptr<Group> group;
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), 1, kRanks, &group));
    for (int number = 0; number < 4; ++number) {
      Drawn drawn;
      drawn.call.pattern = Pattern::kAllReduce;
      drawn.call.topology = {Shape::kReduceScatterAllgather, 0};
      drawn.number = number;
      drawn.rows = int64_t{kRanks} << 14;
      drawn.cols = 1;
      const bool has_source = (number + rank) % 2 == 0 || number == 3;
      const Owned matrix = Make(drawn, has_source ? -1 : rank, -1, 0, /*in_mapped_memory=*/true);
      const Owned source = Make(drawn, rank, -1, 0, /*in_mapped_memory=*/true);
      PatternCall call = drawn.call;
      call.matrix = matrix.matrix;
      if (has_source) call.source = source.matrix;
      OperationStatistics did;
      Require(group->Run(call, &did));
      ExpectMemory(matrix, Expected(drawn, kRanks, -1, nullptr), drawn.rows, "wrong result");
      ExpectMemory(source, Contribution(drawn, rank), drawn.rows, "the source was written");
      EXPECT_EQ(did.copies, uint64_t{kRanks - 1});
      EXPECT_EQ(did.bytes_copied, matrix.matrix.layout.bytes() / kRanks * (kRanks - 1));
      EXPECT_EQ(did.peak_staging_bytes, 0u);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(OnRanks, Operations, testing::Values(1, 2, 3, 5, 8),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace brigade
