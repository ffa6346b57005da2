#include "bench/contenders/plain_patterns.h"

#include <algorithm>

namespace brigade::bench {
namespace {

constexpr int kTag = 0;

int Elements(const PanelView& panel) { return static_cast<int>(panel.rows * panel.cols); }

void Add(const std::vector<double>& addend, size_t elements, std::vector<double>* sum) {
  for (size_t i = 0; i < elements; ++i) (*sum)[i] += addend[i];
}

}  // namespace

PlainPatterns::PlainPatterns(MPI_Comm comm) {
  MPI_Comm_dup(comm, &comm_);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &ranks_);
}

PlainPatterns::~PlainPatterns() { MPI_Comm_free(&comm_); }

void PlainPatterns::TreeBroadcast(int root, const PanelView& panel) {
  const int count = Elements(panel);
  mine_.resize(count);
  const int relative = (rank_ - root + ranks_) % ranks_;
  int reach = 1;  // below which power of two this rank's children lie
  while (reach < ranks_ && (relative & reach) == 0) reach *= 2;
  if (relative == 0) {
    Pack(panel, mine_.data());
  } else {
    MPI_Recv(mine_.data(), count, MPI_DOUBLE, (rank_ - reach + ranks_) % ranks_, kTag, comm_,
             MPI_STATUS_IGNORE);
  }
  std::vector<MPI_Request> sends;
  for (int step = reach / 2; step >= 1; step /= 2) {
    if (relative + step >= ranks_) continue;
    sends.emplace_back();
    MPI_Isend(mine_.data(), count, MPI_DOUBLE, (rank_ + step) % ranks_, kTag, comm_, &sends.back());
  }
  if (relative != 0) Unpack(mine_.data(), panel);
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

void PlainPatterns::RingBroadcast(int root, const PanelView& panel) {
  const int count = Elements(panel);
  mine_.resize(count);
  if (rank_ == root) {
    Pack(panel, mine_.data());
  } else {
    MPI_Recv(mine_.data(), count, MPI_DOUBLE, Left(), kTag, comm_, MPI_STATUS_IGNORE);
  }
  MPI_Request send = MPI_REQUEST_NULL;
  if (Right() != root) {
    MPI_Isend(mine_.data(), count, MPI_DOUBLE, Right(), kTag, comm_, &send);
  }
  if (rank_ != root) Unpack(mine_.data(), panel);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

void PlainPatterns::TreeReduce(int root, const PanelView& panel) {
  const int count = Elements(panel);
  mine_.resize(count);
  theirs_.resize(count);
  Pack(panel, mine_.data());
  const int relative = (rank_ - root + ranks_) % ranks_;
  for (int step = 1; step < ranks_; step *= 2) {
    if ((relative & step) != 0) {
      MPI_Send(mine_.data(), count, MPI_DOUBLE, (rank_ - step + ranks_) % ranks_, kTag, comm_);
      return;
    }
    if (relative + step >= ranks_) continue;
    MPI_Recv(theirs_.data(), count, MPI_DOUBLE, (rank_ + step) % ranks_, kTag, comm_,
             MPI_STATUS_IGNORE);
    Add(theirs_, count, &mine_);
  }
  Unpack(mine_.data(), panel);
}

void PlainPatterns::RingReduce(int root, const PanelView& panel) {
  const int count = Elements(panel);
  mine_.resize(count);
  theirs_.resize(count);
  Pack(panel, mine_.data());
  if (Left() != root) {  // the chain begins right of the root
    MPI_Recv(theirs_.data(), count, MPI_DOUBLE, Left(), kTag, comm_, MPI_STATUS_IGNORE);
    Add(theirs_, count, &mine_);
  }
  if (rank_ == root) {
    Unpack(mine_.data(), panel);
  } else {
    MPI_Send(mine_.data(), count, MPI_DOUBLE, Right(), kTag, comm_);
  }
}

void PlainPatterns::MultiBroadcast(const std::vector<PanelView>& blocks) {
  size_t largest = 0;
  for (const PanelView& block : blocks) {
    largest = std::max<size_t>(largest, Elements(block));
  }
  mine_.resize(largest);
  theirs_.resize(largest);
  Pack(blocks[rank_], mine_.data());
  for (int step = 1; step < ranks_; ++step) {
    const PanelView& out = blocks[(rank_ - step + 1 + ranks_) % ranks_];
    const PanelView& in = blocks[(rank_ - step + ranks_) % ranks_];
    MPI_Sendrecv(mine_.data(), Elements(out), MPI_DOUBLE, Right(), kTag, theirs_.data(),
                 Elements(in), MPI_DOUBLE, Left(), kTag, comm_, MPI_STATUS_IGNORE);
    Unpack(theirs_.data(), in);
    mine_.swap(theirs_);
  }
}

void PlainPatterns::MultiReduce(const std::vector<PanelView>& blocks, const PanelView& result) {
  size_t largest = 0;
  for (const PanelView& block : blocks) {
    largest = std::max<size_t>(largest, Elements(block));
  }
  mine_.resize(largest);
  theirs_.resize(largest);
  Pack(blocks[Left()], mine_.data());
  for (int step = 1; step < ranks_; ++step) {
    const PanelView& out = blocks[(rank_ - step + ranks_) % ranks_];
    const PanelView& in = blocks[(rank_ - step - 1 + ranks_) % ranks_];
    MPI_Sendrecv(mine_.data(), Elements(out), MPI_DOUBLE, Right(), kTag, theirs_.data(),
                 Elements(in), MPI_DOUBLE, Left(), kTag, comm_, MPI_STATUS_IGNORE);
    Pack(in, mine_.data());
    Add(theirs_, Elements(in), &mine_);
  }
  Unpack(mine_.data(), result);
}

}  // namespace brigade::bench
