#include "bench/simulated/peer_rank.h"

#include "membuf/check.h"
#include "transport/simulated_processor.h"

namespace brigade::bench {
namespace {

// Memory for sent and received messages: only this part of a segment is sent
// (SimOptions::carries_payload).
constexpr size_t kTravelling = 64;
std::byte g_sent[kTravelling];
std::byte g_received[kTravelling];

}  // namespace

PeerRank::PeerRank(Endpoint* endpoint, GroupId group, int rank, int ranks)
    : endpoint_(endpoint), channel_{group, ChannelKind::kAll}, rank_(rank), ranks_(ranks) {
  BRIGADE_CHECK((ranks & (ranks - 1)) == 0);
}

Status PeerRank::Run(Pattern pattern, PeerAlgorithm algorithm, size_t bytes) {
  using A = PeerAlgorithm;
  const bool ring = algorithm == A::kRing;
  if (algorithm == A::kNotWritten) {
    return Status(StatusCode::kUnavailable, "no program of the algorithm that Open MPI takes here");
  }
  switch (pattern) {
    case Pattern::kBroadcast:
      Broadcast(algorithm, bytes);
      break;
    case Pattern::kReduce:
      if (algorithm == A::kInOrderBinary) {
        InOrderBinaryReduce(bytes);
      } else {
        TreeReduce(algorithm == A::kBinary ? BinaryTree() : InOrderBinomialTree(), bytes);
      }
      break;
    case Pattern::kMultiBroadcast:
      if (ring) {
        RingAllGather(bytes);
      } else if (algorithm == A::kBruck) {
        Bruck(bytes);
      } else if (algorithm == A::kNeighbourExchange) {
        NeighbourExchange(bytes);
      } else {
        GatherBroadcast(bytes);
      }
      break;
    case Pattern::kMultiReduce:
      if (ring) {
        RingReduceScatter(bytes);
      } else if (algorithm == A::kButterfly) {
        Butterfly(bytes);
      } else {
        RecursiveHalving(bytes);
      }
      break;
    default:
      return Status(StatusCode::kInvalidArgument, "no collective that is compared");
  }
  WaitAll();
  return failure_;
}

PeerRank::Request* PeerRank::StartSend(int peer, size_t bytes) {
  Request* const request = &requests_.emplace_back();
  ++messages_sent_;
  bytes_sent_ += bytes;
  const Status status = endpoint_->PostSend(channel_, peer, {g_sent, bytes}, request);
  if (!status.ok()) {
    request->status = status;
    request->done = true;
  }
  return request;
}

PeerRank::Request* PeerRank::StartReceive(int peer, size_t bytes) {
  Request* const request = &requests_.emplace_back();
  const Status status = endpoint_->PostReceive(channel_, peer, {g_received, bytes}, request);
  if (!status.ok()) {
    request->status = status;
    request->done = true;
  }
  return request;
}

void PeerRank::Wait(Request* request) {
  for (uint64_t idle_polls = 0; !request->done;) {
    if (!endpoint_->Progress()) endpoint_->polling()->Pause(idle_polls++);
  }
  if (failure_.ok()) failure_ = request->status;
}

void PeerRank::WaitAll() {
  for (Request& request : requests_) Wait(&request);
  requests_.clear();
}

void PeerRank::Exchange(int to, size_t sent_bytes, int from, size_t received_bytes) {
  Request* const received = StartReceive(from, received_bytes);
  Send(to, sent_bytes);
  Wait(received);
  WaitAll();
}

void PeerRank::Combine(size_t bytes) {
  bytes_combined_ += bytes;
  endpoint_->simulated_processor()->Combine(g_received, g_received, g_sent, bytes, bytes);
}

void PeerRank::Copy(size_t bytes) {
  endpoint_->simulated_processor()->Copy(g_received, g_sent, bytes, bytes);
}

PeerRank::Tree PeerRank::BinaryTree() const {
  // Level l has 2^l ranks; the children of its i-th rank are the i-th of either half of the next.
  int width = 1;
  int first = 0;
  while (rank_ >= first + width) {
    first += width;
    width *= 2;
  }
  Tree tree;
  for (const int child : {rank_ + width, rank_ + 2 * width}) {
    if (child < ranks_) tree.children.push_back(child);
  }
  if (rank_ > 0) {
    const int place = rank_ - first;
    const int half = width / 2;
    tree.parent = first - half + place % half;
  }
  return tree;
}

PeerRank::Tree PeerRank::BinomialTree() const {
  Tree tree;
  int distance = 1;
  while (distance <= rank_) distance *= 2;
  if (rank_ > 0) tree.parent = rank_ - distance / 2;
  for (; rank_ + distance < ranks_; distance *= 2) tree.children.push_back(rank_ + distance);
  return tree;
}

PeerRank::Tree PeerRank::InOrderBinomialTree() const {
  Tree tree;
  int distance = 1;
  for (; distance < ranks_ && (rank_ & distance) == 0; distance *= 2) {
    if (rank_ + distance < ranks_) tree.children.push_back(rank_ + distance);
  }
  if (rank_ > 0) tree.parent = rank_ - distance;
  return tree;
}

PeerRank::Tree PeerRank::FourNomialTree() const {
  constexpr int kBranches = 4;
  Tree tree;
  int distance = 1;
  while (distance < ranks_ && rank_ % (kBranches * distance) == 0) distance *= kBranches;
  if (rank_ > 0) tree.parent = rank_ / (kBranches * distance) * (kBranches * distance);
  for (distance /= kBranches; distance > 0; distance /= kBranches) {
    for (int i = 1; i < kBranches; ++i) {
      if (rank_ + i * distance < ranks_) tree.children.push_back(rank_ + i * distance);
    }
  }
  return tree;
}

PeerRank::Tree PeerRank::InOrderBinaryTree() const {
  // Ranks first..last, of which the last is the root; the lower half hangs on it, and what is left.
  Tree tree;
  int first = 0;
  int last = ranks_ - 1;
  int parent = -1;
  for (;;) {
    const int lower_last = first + (last - first + 1) / 2 - 1;
    if (rank_ == last) {
      tree.parent = parent;
      if (last - 1 > lower_last) tree.children.push_back(last - 1);
      if (lower_last >= first) tree.children.push_back(lower_last);
      return tree;
    }
    parent = last;
    if (rank_ > lower_last) {
      first = lower_last + 1;
      --last;
    } else {
      last = lower_last;
    }
  }
}

void PeerRank::Broadcast(PeerAlgorithm algorithm, size_t bytes) {
  switch (algorithm) {
    case PeerAlgorithm::kLinear:
      return Linear(bytes);
    case PeerAlgorithm::kBinary:
      return TreeBroadcast(BinaryTree(), bytes);
    case PeerAlgorithm::kBinomial:
      return TreeBroadcast(BinomialTree(), bytes);
    case PeerAlgorithm::kFourNomial:
      return TreeBroadcast(FourNomialTree(), bytes);
    default:
      return ScatterAllGather(bytes);
  }
}

void PeerRank::Linear(size_t bytes) {
  if (rank_ > 0) return Receive(0, bytes);
  for (int r = 1; r < ranks_; ++r) StartSend(r, bytes);
  WaitAll();
}

void PeerRank::TreeBroadcast(const Tree& tree, size_t bytes) {
  if (tree.parent >= 0) Receive(tree.parent, bytes);
  for (const int child : tree.children) StartSend(child, bytes);
  WaitAll();
}

// Rank r's share is the r-th; a relay has the shares of the ranks behind it, too.
void PeerRank::ScatterAllGather(size_t bytes) {
  const size_t share_bytes =
      (bytes + static_cast<size_t>(ranks_) - 1) / static_cast<size_t>(ranks_);
  const auto shares = [&](int count) { return share_bytes * static_cast<size_t>(count); };
  const Tree tree = InOrderBinomialTree();
  if (tree.parent >= 0) Receive(tree.parent, shares(rank_ - tree.parent));
  for (auto child = tree.children.rbegin(); child != tree.children.rend(); ++child) {
    Send(*child, shares(*child - rank_));
  }
  for (int distance = 1; distance < ranks_; distance *= 2) {
    Exchange(rank_ ^ distance, shares(distance), rank_ ^ distance, shares(distance));
  }
}

// While the message of one child is combined, that of the next may come.
void PeerRank::TreeReduce(const Tree& tree, size_t bytes) {
  Request* coming = nullptr;
  for (const int child : tree.children) {
    Request* const next = StartReceive(child, bytes);
    if (coming != nullptr) {
      Wait(coming);
      Combine(bytes);
    }
    coming = next;
  }
  if (coming != nullptr) {
    Wait(coming);
    Combine(bytes);
  }
  if (tree.parent >= 0) Send(tree.parent, bytes);
  WaitAll();
}

void PeerRank::InOrderBinaryReduce(size_t bytes) {
  TreeReduce(InOrderBinaryTree(), bytes);
  if (rank_ == ranks_ - 1) Send(0, bytes);
  if (rank_ == 0) Receive(ranks_ - 1, bytes);
}

void PeerRank::GatherBroadcast(size_t block_bytes) {
  if (rank_ > 0) {
    Send(0, block_bytes);
  } else {
    for (int r = 1; r < ranks_; ++r) Receive(r, block_bytes);
  }
  WaitAll();
  const size_t bytes = block_bytes * static_cast<size_t>(ranks_);
  Broadcast(PeerAlgorithmFor(Pattern::kBroadcast, ranks_, bytes), bytes);
}

void PeerRank::Bruck(size_t block_bytes) {
  for (int distance = 1; distance < ranks_; distance *= 2) {
    const size_t bytes = block_bytes * static_cast<size_t>(distance);
    Exchange((rank_ + ranks_ - distance) % ranks_, bytes, (rank_ + distance) % ranks_, bytes);
  }
}

void PeerRank::RingAllGather(size_t block_bytes) {
  const int next = (rank_ + 1) % ranks_;
  const int previous = (rank_ + ranks_ - 1) % ranks_;
  for (int s = 1; s < ranks_; ++s) Exchange(next, block_bytes, previous, block_bytes);
}

// Pairs exchange their own; then each passes on the two that came last.
void PeerRank::NeighbourExchange(size_t block_bytes) {
  const bool even = rank_ % 2 == 0;
  const int after = (rank_ + 1) % ranks_;
  const int before = (rank_ + ranks_ - 1) % ranks_;
  const int neighbours[2] = {even ? after : before, even ? before : after};
  Exchange(neighbours[0], block_bytes, neighbours[0], block_bytes);
  for (int s = 1; s < ranks_ / 2; ++s) {
    const int neighbour = neighbours[s % 2];
    Exchange(neighbour, 2 * block_bytes, neighbour, 2 * block_bytes);
  }
}

// Open MPI copies all contributions first, in every form, and the result at the end.
void PeerRank::RingReduceScatter(size_t block_bytes) {
  const int next = (rank_ + 1) % ranks_;
  const int previous = (rank_ + ranks_ - 1) % ranks_;
  Copy(block_bytes * static_cast<size_t>(ranks_));
  Request* coming = StartReceive(previous, block_bytes);
  Send(next, block_bytes);
  for (int s = 2; s < ranks_; ++s) {
    Request* const following = StartReceive(previous, block_bytes);
    Wait(coming);
    Combine(block_bytes);
    Send(next, block_bytes);
    coming = following;
  }
  Wait(coming);
  Combine(block_bytes);
  Copy(block_bytes);
  WaitAll();
}

void PeerRank::RecursiveHalving(size_t block_bytes) {
  Copy(block_bytes * static_cast<size_t>(ranks_));
  for (int distance = ranks_ / 2; distance > 0; distance /= 2) {
    const size_t bytes = block_bytes * static_cast<size_t>(distance);
    Exchange(rank_ ^ distance, bytes, rank_ ^ distance, bytes);
    Combine(bytes);
  }
  Copy(block_bytes);
}

void PeerRank::Butterfly(size_t block_bytes) {
  Copy(block_bytes * static_cast<size_t>(ranks_));
  int blocks = ranks_;
  int owner = 0;  // of what this rank ends up with: its number, backwards in binary
  for (int distance = 1; distance < ranks_; distance *= 2) {
    blocks /= 2;
    const size_t bytes = block_bytes * static_cast<size_t>(blocks);
    Exchange(rank_ ^ distance, bytes, rank_ ^ distance, bytes);
    Combine(bytes);
    if ((rank_ & distance) != 0) owner += blocks;
  }
  if (owner == rank_) {
    Copy(block_bytes);
  } else {
    Exchange(owner, block_bytes, owner, block_bytes);
  }
}

}  // namespace brigade::bench
