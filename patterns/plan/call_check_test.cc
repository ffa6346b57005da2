#include "patterns/plan/call_check.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/wire_header.h"

namespace brigade {
namespace {

constexpr int kSize = 3;
constexpr int kRank = 1;

double values[8];

Matrix MatrixOf(int64_t elems, size_t elem_bytes = sizeof(double)) {
  Matrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(values);
  EXPECT_TRUE(StridedLayout::General(elems, 1, elems, elem_bytes, &matrix.layout).ok());
  return matrix;
}

// A right call of `pattern`.
struct RightCall {
  explicit RightCall(Pattern pattern) : blocks(kSize, MatrixOf(2)) {
    call.pattern = pattern;
    if (EntryOf(pattern).multi) {
      if (!EntryOf(pattern).topologies.empty()) {
        call.topology = EntryOf(pattern).topologies.front();
      }
      call.blocks = call.sent = blocks.data();
    }
    if (IsScan(pattern)) call.topology = {Shape::kHypercube, 0};
    call.matrix = MatrixOf(2);
  }

  Status Check() const {
    const CatalogueEntry& entry = EntryOf(call.pattern);
    const Status status = CheckSignature(entry, call, kSize);
    return status.ok() ? CheckMemory(entry, call, kSize, kRank) : status;
  }
  std::string Complaint() const {
    const Status status = Check();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    return status.message();
  }

  std::vector<Matrix> blocks;
  PatternCall call;
};

TEST(CallCheck, RightCallsPass) {
  for (const CatalogueEntry& entry : Catalogue()) {
    EXPECT_TRUE(RightCall(entry.pattern).Check().ok()) << entry.name;
    RightCall empty(entry.pattern);
    for (Matrix& block : empty.blocks) block = Matrix();
    empty.call.matrix = Matrix();
    EXPECT_TRUE(empty.Check().ok()) << entry.name;
  }
}

TEST(CallCheck, WrongCallsAreNamed) {
  RightCall call(Pattern::kBroadcast);
  call.call.scope = ChannelKind::kPointToPoint;
  EXPECT_EQ(call.Complaint(), "broadcast: needs a scope of row, column or all");

  call = RightCall(Pattern::kBroadcast);
  call.call.topology.shape = Shape::kReduceScatterAllgather;
  EXPECT_EQ(call.Complaint(), "pattern broadcast has no topology 'reduce-scatter + allgather'");

  for (const int root : {-1, kSize}) {
    call = RightCall(Pattern::kReceive);
    call.call.root = root;
    EXPECT_EQ(call.Complaint(), "receive: rank " + std::to_string(root) + " is outside 0..2");
  }

  call = RightCall(Pattern::kSend);
  call.call.matrix.data = nullptr;
  EXPECT_EQ(call.Complaint(), "send: matrix is a null pointer");

  call = RightCall(Pattern::kReduce);
  call.call.matrix = MatrixOf(2, 4);
  EXPECT_EQ(call.Complaint(), "reduce: matrix has elements of 4 bytes, not of double");

  std::vector<int32_t> locations(2);
  call = RightCall(Pattern::kReduce);
  call.call.locations = locations.data();
  EXPECT_EQ(call.Complaint(),
            "reduce: locations go with the maximum and minimum of reduce and all_reduce");
}

TEST(CallCheck, WrongArithmeticIsNamed) {
  RightCall call(Pattern::kAllReduce);
  call.call.op = CombineOp::kMax;
  call.call.type = Element::kComplexDouble;
  EXPECT_EQ(
      call.Complaint(),
      "all_reduce: complex double has no maximum; docs/user/calls.md lists what each type has");
  call.call.op = CombineOp::kBitXor;
  call.call.type = Element::kDouble;
  EXPECT_EQ(call.Complaint(),
            "all_reduce: double has no bitwise exclusive or; docs/user/calls.md lists what each "
            "type has");
  call.call.op = CombineOp::kProduct;
  EXPECT_TRUE(call.Check().ok());
  int32_t location = 0;
  call.call.locations = &location;
  EXPECT_EQ(call.Complaint(),
            "all_reduce: locations go with the maximum and minimum of reduce and all_reduce");
  call.call.op = CombineOp::kMin;
  EXPECT_TRUE(call.Check().ok());
}

TEST(CallCheck, WrongUserOperationsAreNamed) {
  UserOp op{[](void*, const void*, const void*, int64_t, void*) {}, nullptr, 8, true};
  RightCall call(Pattern::kReduce);
  call.call.op = CombineOp::kUser;
  EXPECT_EQ(call.Complaint(),
            "reduce: double has no user operation; docs/user/calls.md lists what each type has");
  call.call.type = Element::kByte;
  EXPECT_EQ(call.Complaint(), "reduce: user_op is a null pointer");
  call.call.user_op = &op;
  EXPECT_TRUE(call.Check().ok());
  op.element_bytes = 16;
  EXPECT_EQ(call.Complaint(), "reduce: matrix has elements of 8 bytes, not of 16");
  for (const size_t bytes : {size_t{0}, kMostUserElementBytes + 1}) {
    op.element_bytes = bytes;
    EXPECT_EQ(call.Complaint(), "reduce: a user operation has elements of " +
                                    std::to_string(bytes) + " bytes, not of 1..65535");
    EXPECT_FALSE(CheckMemory(EntryOf(Pattern::kReduce), call.call, kSize, kRank).ok());
  }
  op.element_bytes = 8;
  op.combine = nullptr;
  EXPECT_EQ(call.Complaint(), "reduce: the function of the user operation is a null pointer");
  EXPECT_FALSE(IsMemoryRight(EntryOf(Pattern::kReduce), call.call));
}

TEST(CallCheck, WrongSourcesAreNamed) {
  RightCall call(Pattern::kReduce);
  call.call.source = MatrixOf(2);
  EXPECT_TRUE(call.Check().ok());
  EXPECT_FALSE(IsMemoryRight(EntryOf(Pattern::kReduce), call.call));
  call.call.source = MatrixOf(3);
  EXPECT_EQ(call.Complaint(), "reduce: the source has 24 bytes, the matrix 16");
  call.call.source = MatrixOf(4, 4);
  EXPECT_EQ(call.Complaint(), "reduce: source has elements of 4 bytes, not of double");
  call.call.source->data = nullptr;
  EXPECT_EQ(call.Complaint(), "reduce: source is a null pointer");
  for (const Pattern pattern : {Pattern::kScan, Pattern::kExscan}) {
    RightCall scan(pattern);
    scan.call.source = MatrixOf(2);
    EXPECT_TRUE(scan.Check().ok());
    scan.call.source = MatrixOf(3);
    EXPECT_EQ(scan.Complaint(),
              PatternName(pattern) + std::string(": the source has 24 bytes, the matrix 16"));
  }
  // Other patterns ignore it.
  RightCall other(Pattern::kBroadcast);
  other.call.source = MatrixOf(3);
  EXPECT_TRUE(other.Check().ok());
}

TEST(CallCheck, WrongBlocksAreNamed) {
  RightCall missing(Pattern::kMultiReduce);
  missing.call.blocks = nullptr;
  EXPECT_EQ(missing.Complaint(), "multi_reduce: blocks is a null pointer");

  RightCall null(Pattern::kMultiBroadcast);
  null.blocks[2].data = nullptr;
  EXPECT_EQ(null.Complaint(), "multi_broadcast: block 2 is a null pointer");

  RightCall different(Pattern::kMultiBroadcast);
  different.blocks[1] = MatrixOf(2, 4);
  EXPECT_EQ(different.Complaint(), "multi_broadcast: blocks have elements of different sizes");

  RightCall own(Pattern::kGather);
  own.blocks[kRank].data = nullptr;
  EXPECT_EQ(own.Complaint(), "gather: block " + std::to_string(kRank) + " is a null pointer");

  RightCall sent(Pattern::kAllToAll);
  sent.call.sent = nullptr;
  EXPECT_EQ(sent.Complaint(), "all_to_all: sent is a null pointer");
  std::vector<Matrix> blocks(kSize, MatrixOf(2));
  blocks[0].data = nullptr;
  sent.call.sent = blocks.data();
  EXPECT_EQ(sent.Complaint(), "all_to_all: sent block 0 is a null pointer");
  blocks[0] = MatrixOf(2);
  blocks[kRank] = MatrixOf(1);
  EXPECT_EQ(sent.Complaint(), "all_to_all: the block that rank " + std::to_string(kRank) +
                                  " keeps has 8 bytes, and where it is received 16");

  RightCall result(Pattern::kMultiReduce);
  result.call.matrix = MatrixOf(1);
  EXPECT_EQ(result.Complaint(), "multi_reduce: the result has 8 bytes, the rank's own block 16");
}

// Blocks of different lengths are an error only if the call says that all are equal.
TEST(CallCheck, BlocksThatAreNotEqualAreNamed) {
  RightCall right(Pattern::kAllToAll);
  std::vector<Matrix> blocks(kSize, MatrixOf(2));
  PatternCall& call = right.call;
  call.sent = blocks.data();
  call.equal_blocks = true;
  EXPECT_TRUE(right.Check().ok());
  blocks[2] = MatrixOf(3);
  EXPECT_EQ(right.Complaint(),
            "all_to_all: sent block 2 has 24 bytes, the block that the rank keeps 16; call "
            "brigade_alltoallv on all ranks");
  std::swap(call.blocks, call.sent);
  EXPECT_EQ(right.Complaint().substr(0, 19), "all_to_all: block 2");
  call.equal_blocks = false;
  EXPECT_TRUE(right.Check().ok());
  call.topology = {Shape::kCirculant, 0};
  EXPECT_EQ(right.Complaint(),
            "all_to_all: a circulant graph needs blocks of equal lengths; call brigade_alltoall, "
            "or name no topology");
}

// A rank has memory for its own block only, unless it is the root.
TEST(CallCheck, BlocksOfOtherRanksMayBeNull) {
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    const int other = kRank == 0 ? 1 : 0;
    RightCall call(pattern);
    call.call.root = other;
    for (Matrix& block : call.blocks) block.data = nullptr;
    call.blocks[kRank] = MatrixOf(1, 4);  // only its byte count must be right
    EXPECT_TRUE(call.Check().ok());
    call.call.root = kRank;
    EXPECT_EQ(call.Complaint(), std::string(PatternName(pattern)) + ": block " +
                                    std::to_string(other) + " is a null pointer");
  }
}

}  // namespace
}  // namespace brigade
