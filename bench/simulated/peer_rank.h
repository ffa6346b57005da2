// PeerRank: one rank of a collective of Open MPI in simulation: its messages, combines and copies,
// lengths only, straight on the endpoint. Nothing is staged, cut or headed, and a message that
// comes early is not copied: at least as fast as the real thing.

#ifndef BRIGADE_BENCH_SIMULATED_PEER_RANK_H_
#define BRIGADE_BENCH_SIMULATED_PEER_RANK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/simulated/peer_rules.h"
#include "membuf/status.h"
#include "patterns/engine/pattern_call.h"
#include "transport/endpoint.h"

namespace brigade::bench {

class PeerRank {
 public:
  // `endpoint` is of a simulation without payload, and has all ranks in `group`. REQUIRES: a power
  // of two of ranks.
  PeerRank(Endpoint* endpoint, GroupId group, int rank, int ranks);

  // One operation, its root rank 0. `bytes`: of the matrix, or of each block. kUnavailable if
  // the algorithm is not written; else the first failure.
  Status Run(Pattern pattern, PeerAlgorithm algorithm, size_t bytes);

  // Counters of this rank's sends.
  uint64_t messages_sent() const { return messages_sent_; }
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_combined() const { return bytes_combined_; }

 private:
  struct Request : Completion {
    Request() : Completion([](Completion* self) { static_cast<Request*>(self)->done = true; }) {}
    bool done = false;
  };
  struct Tree {
    int parent = -1;
    std::vector<int> children;  // in the order in which they are served
  };

  // --- the calls that algorithms are made of, as MPI's ---
  Request* StartSend(int peer, size_t bytes);
  Request* StartReceive(int peer, size_t bytes);
  void Wait(Request* request);
  void WaitAll();
  void Send(int peer, size_t bytes) { Wait(StartSend(peer, bytes)); }
  void Receive(int peer, size_t bytes) { Wait(StartReceive(peer, bytes)); }
  void Exchange(int to, size_t sent_bytes, int from, size_t received_bytes);
  void Combine(size_t bytes);
  void Copy(size_t bytes);

  // --- neighbours in each topology ---
  Tree BinaryTree() const;
  // The child of the largest distance last: its own distances are even larger.
  Tree BinomialTree() const;
  // All ranks of a subtree follow each other.
  Tree InOrderBinomialTree() const;
  Tree FourNomialTree() const;
  // Its root is the last rank.
  Tree InOrderBinaryTree() const;

  // --- the algorithms ---
  void Broadcast(PeerAlgorithm algorithm, size_t bytes);
  void Linear(size_t bytes);
  void TreeBroadcast(const Tree& tree, size_t bytes);
  void ScatterAllGather(size_t bytes);
  void TreeReduce(const Tree& tree, size_t bytes);
  void InOrderBinaryReduce(size_t bytes);
  void GatherBroadcast(size_t block_bytes);
  void Bruck(size_t block_bytes);
  void RingAllGather(size_t block_bytes);
  void NeighbourExchange(size_t block_bytes);
  void RingReduceScatter(size_t block_bytes);
  void RecursiveHalving(size_t block_bytes);
  void Butterfly(size_t block_bytes);

  Endpoint* const endpoint_;
  const Channel channel_;
  const int rank_;
  const int ranks_;
  std::deque<Request> requests_;  // all since WaitAll
  Status failure_;                // the first
  uint64_t messages_sent_ = 0;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_combined_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PEER_RANK_H_
