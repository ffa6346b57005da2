#include "bench/simulated/paper_patterns.h"

#include <algorithm>
#include <vector>

#include "membuf/check.h"
#include "membuf/combine.h"
#include "membuf/pack.h"
#include "patterns/schedule/topology.h"

namespace brigade::bench {
namespace {

std::byte* Bytes(std::vector<double>* values) {
  return reinterpret_cast<std::byte*>(values->data());
}

StridedLayout Columns(int rows, int cols, int ld) {
  StridedLayout layout;
  const Status status = StridedLayout::General(rows, cols, ld, sizeof(double), &layout);
  BRIGADE_CHECK(status.ok());
  return layout;
}

// A binomial tree over ranks counted from its root: children by the size of their subtrees, the
// least first.
struct TreePlace {
  int parent = -1;
  std::vector<int> children;

  TreePlace(int rank, int root, int ranks) {
    const int relative = (rank + ranks - root) % ranks;
    int bit = 1;
    for (; bit < ranks && (relative & bit) == 0; bit <<= 1) {
      if (relative + bit < ranks) children.push_back((relative + bit + root) % ranks);
    }
    if (relative != 0) parent = (relative - bit + root) % ranks;
  }
};

}  // namespace

std::string PaperCell::Describe() const {
  return std::string(ring ? "ring " : "tree ") + (reduces ? "reduce" : "broadcast") + " of " +
         std::to_string(rows) + " x " + std::to_string(cols) + " on " + std::to_string(ranks) +
         " ranks, " + (staged ? "staged" : "plain");
}

PaperRank::PaperRank(const PaperCell& cell, Group* group, SimulatedProcessor* processor)
    : cell_(cell), group_(group), processor_(processor), rank_(group->rank()) {
  const int own_cols = cell.cols / cell.ranks;
  const size_t own_elems = rows() * static_cast<size_t>(own_cols);
  own_.resize(own_elems);
  if (cell.reduces && cell.ring) result_.resize(own_elems);
  workspace_.resize(own_elems * static_cast<size_t>(cell.ranks));
  for (std::vector<double>& buffer : buffers_) buffer.resize(own_elems);
  own_layout_ = Columns(cell.rows, own_cols, cell.rows);
  message_layout_ = StridedLayout::Contiguous(own_elems * sizeof(double));
  blocks_.resize(static_cast<size_t>(cell.ranks));
  for (int q = 0; q < cell.ranks; ++q) {
    Matrix& block = blocks_[static_cast<size_t>(q)];
    block.data = reinterpret_cast<std::byte*>(Column(q));
    block.layout = Columns(cell.rows, own_cols, cell.rows * cell.ranks);
  }
}

void PaperRank::Fill() {
  for (int col = 0; col < cell_.cols; ++col) {
    const bool mine = col % cell_.ranks == rank_;
    for (int row = 0; row < cell_.rows; ++row) {
      const double value = ValueAt(rank_, row, col);
      Column(col)[row] = cell_.reduces ? value : -1;
      if (mine) own_[static_cast<size_t>(col / cell_.ranks) * rows() + row] = value;
    }
  }
}

bool PaperRank::IsRight() const {
  const int all = cell_.ranks * (cell_.ranks + 1) / 2;
  for (int col = 0; col < cell_.cols; ++col) {
    const int owner = col % cell_.ranks;
    if (cell_.reduces && owner != rank_) continue;
    const double* found = result_.empty()
                              ? Column(col)
                              : result_.data() + static_cast<size_t>(col / cell_.ranks) * rows();
    for (int row = 0; row < cell_.rows; ++row) {
      const double expected = cell_.reduces ? all * ValueAt(0, row, col) : ValueAt(owner, row, col);
      if (found[row] != expected) return false;
    }
  }
  return true;
}

void PaperRank::CopyOwnIn() {
  const Matrix& target = blocks_[static_cast<size_t>(rank_)];
  const size_t bytes = message_layout_.bytes();
  if (!processor_->Copy(target.data, Bytes(&own_), bytes, target.layout.run_bytes())) return;
  CopyOut(target.layout, target.data, 0, bytes, Bytes(&own_));
}

Status PaperRank::Run() {
  CopyOwnIn();
  if (cell_.staged) return Staged();
  if (cell_.ring) return cell_.reduces ? PlainRingReduce() : PlainRingBroadcast();
  for (int root = 0; root < cell_.ranks; ++root) {
    BRIGADE_RETURN_IF_ERROR(cell_.reduces ? PlainTreeReduce(root) : PlainTreeBroadcast(root));
  }
  return Status();
}

Status PaperRank::Staged() {
  PatternCall call;
  if (cell_.ring) {
    call.pattern = cell_.reduces ? Pattern::kMultiReduce : Pattern::kMultiBroadcast;
    call.blocks = blocks_.data();
    if (cell_.reduces) call.matrix = {Bytes(&result_), own_layout_};
    return group_->Run(call);
  }
  call.pattern = cell_.reduces ? Pattern::kReduce : Pattern::kBroadcast;
  call.topology = {Shape::kTree, 2};
  for (int root = 0; root < cell_.ranks; ++root) {
    call.root = root;
    call.matrix = blocks_[static_cast<size_t>(root)];
    BRIGADE_RETURN_IF_ERROR(group_->Run(call));
  }
  return Status();
}

Status PaperRank::Send(int peer, std::byte* message) {
  PatternCall call;
  call.pattern = Pattern::kSend;
  call.root = peer;
  call.matrix = {message, message_layout_};
  return group_->Run(call);
}

Status PaperRank::Receive(int peer, std::byte* message) {
  PatternCall call;
  call.pattern = Pattern::kReceive;
  call.root = peer;
  call.matrix = {message, message_layout_};
  return group_->Run(call);
}

std::byte* PaperRank::Packed(int block, std::byte* buffer) {
  const Matrix& matrix = blocks_[static_cast<size_t>(block)];
  if (matrix.layout.contiguous()) return matrix.data;
  const size_t bytes = message_layout_.bytes();
  if (processor_->Copy(buffer, matrix.data, bytes, matrix.layout.run_bytes())) {
    CopyIn(buffer, matrix.layout, matrix.data, 0, bytes);
  }
  return buffer;
}

std::byte* PaperRank::BufferOf(int block, std::byte* buffer) {
  const Matrix& matrix = blocks_[static_cast<size_t>(block)];
  return matrix.layout.contiguous() ? matrix.data : buffer;
}

void PaperRank::Unpack(int block, const std::byte* message) {
  const Matrix& matrix = blocks_[static_cast<size_t>(block)];
  if (message == matrix.data) return;
  const size_t bytes = message_layout_.bytes();
  if (!processor_->Copy(matrix.data, message, bytes, matrix.layout.run_bytes())) return;
  CopyOut(matrix.layout, matrix.data, 0, bytes, message);
}

void PaperRank::Add(std::byte* dst, const StridedLayout& dst_layout, int block,
                    const std::byte* message) {
  const Matrix& matrix = blocks_[static_cast<size_t>(block)];
  const size_t bytes = message_layout_.bytes();
  const size_t run_bytes = std::min(dst_layout.run_bytes(), matrix.layout.run_bytes());
  if (!processor_->Combine(dst, matrix.data, message, bytes, run_bytes)) return;
  Combine(CombineOp::kSum, Element::kDouble, bytes / sizeof(double), {&dst_layout, dst, 0, nullptr},
          {&matrix.layout, matrix.data, 0, nullptr}, {&message_layout_, message, 0, nullptr});
}

Status PaperRank::PlainTreeBroadcast(int root) {
  const TreePlace place(rank_, root, cell_.ranks);
  std::byte* const buffer = Bytes(&buffers_[0]);
  std::byte* message;
  if (rank_ == root) {
    message = Packed(root, buffer);
  } else {
    message = BufferOf(root, buffer);
    BRIGADE_RETURN_IF_ERROR(Receive(place.parent, message));
  }
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    BRIGADE_RETURN_IF_ERROR(Send(*child, message));
  }
  if (rank_ != root) Unpack(root, message);
  return Status();
}

Status PaperRank::PlainTreeReduce(int root) {
  const TreePlace place(rank_, root, cell_.ranks);
  const Matrix& mine = blocks_[static_cast<size_t>(root)];
  std::byte* const partial = Bytes(&buffers_[0]);
  std::byte* const incoming = Bytes(&buffers_[1]);
  if (place.children.empty()) return Send(place.parent, Packed(root, partial));
  bool first = true;
  for (int child : place.children) {
    BRIGADE_RETURN_IF_ERROR(Receive(child, incoming));
    if (rank_ == root) {
      Add(mine.data, mine.layout, root, incoming);
    } else if (first) {
      Add(partial, message_layout_, root, incoming);
    } else {
      const size_t bytes = message_layout_.bytes();
      if (processor_->Combine(partial, partial, incoming, bytes, bytes)) {
        Combine(CombineOp::kSum, Element::kDouble, bytes / sizeof(double),
                {&message_layout_, partial, 0, nullptr}, {&message_layout_, partial, 0, nullptr},
                {&message_layout_, incoming, 0, nullptr});
      }
    }
    first = false;
  }
  return rank_ == root ? Status() : Send(place.parent, partial);
}

Status PaperRank::PlainRingBroadcast() {
  const int ranks = cell_.ranks;
  const int next = (rank_ + 1) % ranks;
  const int previous = (rank_ + ranks - 1) % ranks;
  BRIGADE_RETURN_IF_ERROR(Send(next, Packed(rank_, Bytes(&buffers_[0]))));
  for (int s = 1; s < ranks; ++s) {
    const int block = (rank_ + ranks - s) % ranks;
    std::byte* const message = BufferOf(block, Bytes(&buffers_[0]));
    BRIGADE_RETURN_IF_ERROR(Receive(previous, message));
    if (s + 1 < ranks) BRIGADE_RETURN_IF_ERROR(Send(next, message));
    Unpack(block, message);
  }
  return Status();
}

Status PaperRank::PlainRingReduce() {
  const int ranks = cell_.ranks;
  const int next = (rank_ + 1) % ranks;
  const int previous = (rank_ + ranks - 1) % ranks;
  std::byte* const buffer = Bytes(&buffers_[0]);
  BRIGADE_RETURN_IF_ERROR(Send(next, Packed(previous, buffer)));
  for (int s = 2; s <= ranks; ++s) {
    const int block = (rank_ + ranks - s) % ranks;
    BRIGADE_RETURN_IF_ERROR(Receive(previous, buffer));
    if (block == rank_) {
      Add(Bytes(&result_), own_layout_, block, buffer);
    } else {
      Add(buffer, message_layout_, block, buffer);
      BRIGADE_RETURN_IF_ERROR(Send(next, buffer));
    }
  }
  return Status();
}

}  // namespace brigade::bench
