// Network: the slots of all ranks and the messages between them, over the most pessimistic
// transport that the contract allows. A send completes only when its receive was posted, and where
// messages land in the sender's memory, only when the receiver and everyone it forwarded to have
// let go.

#ifndef BRIGADE_PATTERNS_CHECK_NETWORK_H_
#define BRIGADE_PATTERNS_CHECK_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "patterns/check/check_case.h"
#include "patterns/check/symbols.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

class Network {
 public:
  // A use of some bytes: the slot they were put in, or a lease on another holding's bytes. Bytes
  // may be overwritten when their holding is over: freed, and every send from it complete.
  struct Holding {
    int rank = 0;
    int pending_sends = 0;
    bool freed = false;
    Holding* lender = nullptr;
  };

  struct Slot {
    Value value;
    std::vector<Value> parts;  // instead, of a message of several blocks
    int run = -1;              // which ones: of the rank's schedule
    bool received = false;
    bool leased = false;  // what was received lies in the sender's memory
    bool arrived = false;
    bool sent = false;
    Holding* holding = nullptr;

    bool IsFilled() const;
  };

  struct Stream {
    std::vector<Slot> slots;
    int64_t opened = 0;
    int64_t awaited = 0;
    int64_t freed = 0;
    Slot* current = nullptr;
  };

  // The case must outlive the network.
  Network(const CheckCase& c, const std::vector<Schedule>& schedules);

  Stream& StreamOf(int rank, int stream) {
    return ranks_[static_cast<size_t>(rank)].streams[static_cast<size_t>(stream)];
  }
  // In use at once, over all streams of a rank.
  int PeakSlots(int rank) const { return ranks_[static_cast<size_t>(rank)].peak_slots; }

  // The next slot of the stream, empty; null if it must wait.
  Slot* Open(int rank, int stream);
  // The current slot has been used for the last time.
  void Free(int rank, int stream);

  // Segment `segment` of `blocks`, by which messages differ. False if a send meets a receive of
  // another segment.
  bool PostSend(int from, int to, Slot* slot, const BlockRun& blocks, int64_t segment);
  bool PostReceive(int from, int to, Slot* slot, const BlockRun& blocks, int64_t segment);

  // Something changed for the rank.
  void Wake(int rank);
  // The first rank for which something changed, which then counts as notified; -1: none.
  int NextAwake();

  // A rank whose stream has a slot still open; -1 if there is none.
  int WithOpenSlot() const;
  // A receiver of a message that was not received, or not sent; -1 if there is none.
  int WithUnmatchedMessage() const;

 private:
  struct Posted {
    Slot* slot = nullptr;        // of a receive
    Value value;                 // of a send
    std::vector<Value> parts;    // the same
    Holding* holding = nullptr;  // the same
    BlockRun blocks;
    int64_t segment = 0;
  };
  // First in, first out; a group of thousands of ranks has many of them.
  class Queue {
   public:
    bool empty() const { return head_ == items_.size(); }
    void push_back(Posted item) { items_.push_back(std::move(item)); }
    Posted pop_front() {
      Posted first = std::move(items_[head_++]);
      if (empty()) {
        items_.clear();
        head_ = 0;
      }
      return first;
    }

   private:
    std::vector<Posted> items_;
    size_t head_ = 0;
  };
  struct Edge {
    Queue sends;
    Queue receives;
  };
  struct Rank {
    std::vector<Stream> streams;
    int slots_in_use = 0;
    int peak_slots = 0;
    bool awake = false;
    std::vector<std::pair<int, Edge>> edges;  // by receiver
  };

  Edge& EdgeOf(int from, int to);
  bool Match(int from, int to);
  // Lets go of what a finished holding borrowed.
  void Settle(Holding* holding);

  const CheckCase& case_;
  std::vector<Rank> ranks_;
  std::deque<Holding> holdings_;
  std::deque<int> awake_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_NETWORK_H_
