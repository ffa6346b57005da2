#include "test/support/all_patterns.h"

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "patterns/catalogue/catalogue.h"

namespace brigade {
namespace {

using Doubles = std::vector<double>;

// A whole number, so that sums are exact.
double Datum(int rank, int block, size_t k) {
  return rank * 1000 + block * 100000 + static_cast<double>(k % 977);
}

Doubles Data(int rank, int block, int64_t elems) {
  Doubles data(static_cast<size_t>(elems));
  for (size_t k = 0; k < data.size(); ++k) data[k] = Datum(rank, block, k);
  return data;
}

Matrix MatrixOf(Doubles* data) {
  Matrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(data->data());
  const auto elems = static_cast<int64_t>(data->size());
  const Status status = StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout);
  if (!status.ok()) throw std::runtime_error(status.ToString());
  return matrix;
}

class Caller {
 public:
  Caller(Group* group, ChannelKind scope)
      : group_(group),
        scope_(scope),
        ranks_(group->ScopeSize(scope)),
        me_(group->ScopeRank(scope)) {}

  void RunAll(int64_t elems) {
    Run(Call(Pattern::kBarrier), nullptr);
    for (const int root : {0, ranks_ - 1}) {
      Doubles data = Data(me_, 0, elems);
      Run(Call(Pattern::kBroadcast, root), &data);
      Expect(data, [&](size_t k) { return Datum(root, 0, k); });
      data = Data(me_, 0, elems);
      Run(Call(Pattern::kReduce, root), &data);
      if (me_ == root) Expect(data, [&](size_t k) { return Sum(0, k); });
    }
    Doubles data = Data(me_, 0, elems);
    Run(Call(Pattern::kAllReduce), &data);
    Expect(data, [&](size_t k) { return Sum(0, k); });
    data = Data(me_, 0, elems);
    Run(Call(Pattern::kScan), &data);
    Expect(data, [&](size_t k) { return SumBelow(me_ + 1, 0, k); });
    data = Data(me_, 0, elems);
    Run(Call(Pattern::kExscan), &data);
    Expect(data, [&](size_t k) { return me_ == 0 ? Datum(0, 0, k) : SumBelow(me_, 0, k); });
    RunMulti(elems);
    for (const int root : {0, ranks_ - 1}) RunBlocks(elems, root);
    for (const bool equal : {false, true}) RunAllToAll(elems, equal);
  }

  void SendRound(int64_t elems) {
    Doubles data = Data(me_, 0, elems);
    Run(Call(Pattern::kSend, (me_ + 1) % ranks_), &data);
    const int from = (me_ + ranks_ - 1) % ranks_;
    Run(Call(Pattern::kReceive, from), &data);
    Expect(data, [&](size_t k) { return Datum(from, 0, k); });
  }

 private:
  PatternCall Call(Pattern pattern, int root = 0) const {
    PatternCall call;
    call.pattern = pattern;
    call.scope = scope_;
    call.root = root;
    call.topology.shape = Shape::kFree;
    return call;
  }

  void Run(PatternCall call, Doubles* data) {
    what_ = std::string(PatternName(call.pattern)) + " in scope " +
            std::to_string(static_cast<int>(scope_)) + " of " + std::to_string(ranks_) +
            " ranks on rank " + std::to_string(me_) + ", root " + std::to_string(call.root);
    if (data != nullptr) call.matrix = MatrixOf(data);
    const Status status = group_->Run(call);
    if (!status.ok()) throw std::runtime_error(what_ + ": " + status.ToString());
  }

  void Expect(const Doubles& data, const std::function<double(size_t)>& expected) const {
    for (size_t k = 0; k < data.size(); ++k) {
      if (data[k] == expected(k)) continue;
      throw std::runtime_error(what_ + ": element " + std::to_string(k) + " is " +
                               std::to_string(data[k]) + ", not " + std::to_string(expected(k)));
    }
  }

  double Sum(int block, size_t k) const { return SumBelow(ranks_, block, k); }
  static double SumBelow(int ranks, int block, size_t k) {
    double sum = 0;
    for (int rank = 0; rank < ranks; ++rank) sum += Datum(rank, block, k);
    return sum;
  }

  void RunMulti(int64_t elems) {
    std::vector<Doubles> blocks;
    std::vector<Matrix> matrices;
    const auto run = [&](Pattern pattern, Doubles* result) {
      matrices.clear();
      for (Doubles& block : blocks) matrices.push_back(MatrixOf(&block));
      PatternCall call = Call(pattern);
      call.blocks = matrices.data();
      Run(call, result);
    };
    for (int q = 0; q < ranks_; ++q) blocks.push_back(Data(q == me_ ? me_ : -1, 0, elems + q));
    run(Pattern::kMultiBroadcast, nullptr);
    for (int q = 0; q < ranks_; ++q) {
      Expect(blocks[static_cast<size_t>(q)], [&](size_t k) { return Datum(q, 0, k); });
    }
    blocks.clear();
    for (int q = 0; q < ranks_; ++q) blocks.push_back(Data(me_, q, elems + q));
    Doubles result(static_cast<size_t>(elems + me_));
    run(Pattern::kMultiReduce, &result);
    Expect(result, [&](size_t k) { return Sum(me_, k); });
  }

  // Scatters the root's blocks, and gathers them again.
  void RunBlocks(int64_t elems, int root) {
    std::vector<Doubles> blocks;
    std::vector<Matrix> matrices;
    for (int q = 0; q < ranks_; ++q) blocks.push_back(Data(me_ == root ? root : -1, q, elems + q));
    for (Doubles& block : blocks) matrices.push_back(MatrixOf(&block));
    PatternCall call = Call(Pattern::kScatter, root);
    call.blocks = matrices.data();
    Run(call, nullptr);
    Expect(blocks[static_cast<size_t>(me_)], [&](size_t k) { return Datum(root, me_, k); });
    for (int q = 0; me_ == root && q < ranks_; ++q) {
      Doubles& block = blocks[static_cast<size_t>(q)];
      if (q != root) block.assign(block.size(), -1);
    }
    call.pattern = Pattern::kGather;
    Run(call, nullptr);
    for (int q = 0; me_ == root && q < ranks_; ++q) {
      Expect(blocks[static_cast<size_t>(q)], [&](size_t k) { return Datum(root, q, k); });
    }
  }

  // The block from rank p to rank q has p more elements than the shortest, unless all are equal.
  void RunAllToAll(int64_t elems, bool equal) {
    std::vector<Doubles> sent, received;
    std::vector<Matrix> sources, targets;
    for (int q = 0; q < ranks_; ++q) {
      sent.push_back(Data(me_, q, elems + (equal ? 0 : me_)));
      received.emplace_back(static_cast<size_t>(elems + (equal ? 0 : q)), -1);
    }
    for (Doubles& block : sent) sources.push_back(MatrixOf(&block));
    for (Doubles& block : received) targets.push_back(MatrixOf(&block));
    PatternCall call = Call(Pattern::kAllToAll);
    call.equal_blocks = equal;
    call.sent = sources.data();
    call.blocks = targets.data();
    Run(call, nullptr);
    for (int q = 0; q < ranks_; ++q) {
      Expect(received[static_cast<size_t>(q)], [&](size_t k) { return Datum(q, me_, k); });
    }
  }

  Group* const group_;
  const ChannelKind scope_;
  const int ranks_;
  const int me_;
  std::string what_;
};

}  // namespace

void RunAllPatterns(Group* group, int64_t elems) {
  for (const ChannelKind scope : {ChannelKind::kAll, ChannelKind::kRow, ChannelKind::kColumn}) {
    Caller(group, scope).RunAll(elems);
  }
  Caller(group, ChannelKind::kPointToPoint).SendRound(elems);
}

}  // namespace brigade
