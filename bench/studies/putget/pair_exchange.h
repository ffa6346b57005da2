// PairExchange: messages that pairs of ranks exchange, in rounds, without acknowledgements.
//
// A channel is between two ranks. In each of its rounds both send each other messages of equal
// length, in one or several parts, and both receive all of it. Or two channels are used together:
// one leads from a rank's first neighbour to its second, the other one back. Messages have two
// places per channel, at the sender and at the receiver, used in turn. Two are enough. A rank
// writes to a place, here or at its partner, that was last used two rounds ago. In the round in
// between it received its partner's message, which the partner sent after it had received and read
// the message of the round before. One place would not be enough: a partner that has not read this
// round's message may have sent its own, which is all that this rank waits for.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_PAIR_EXCHANGE_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_PAIR_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/studies/putget/pauses.h"
#include "membuf/status.h"

namespace brigade::bench {

struct Channel {
  // Other ranks. Negative, in virtual time only: no rank.
  int to = 0;
  int from = 0;
  int64_t doubles = 0;  // of the longest message
};

class PairExchange {
 public:
  virtual ~PairExchange() = default;

  virtual std::string name() const = 0;

  // Returns the place of this rank's message in the channel's current round, and of its partner's.
  // The partner's message may be read until the next round ends.
  double* Outgoing(size_t channel);
  const double* Incoming(size_t channel) { return arrived() + PlaceOf(channel); }

  // Sends a part, and expects as much: doubles `first` to `first + count` of the message. Partners
  // begin parts, of all channels that they share, in the same order.
  Status Begin(size_t channel, int64_t first, int64_t count);
  // Waits for the earliest part that was begun and not awaited. Parts of all channels with a
  // partner are awaited in the order in which they were begun.
  Status Await(size_t channel);
  // Ends the channel's round. All its parts were awaited.
  Status End(size_t channel);
  // Calls `work`, which is so many operations on doubles. In virtual time, where messages have no
  // contents, takes the time of the operations instead.
  template <typename Work>
  void Compute(double operations, const Work& work) {
    if (!TakesTimeOf(operations)) work();
  }
  // As Compute, for a copy of `bytes` bytes, `run_bytes` of them in a row.
  template <typename Work>
  void Copy(size_t bytes, size_t run_bytes, const Work& work) {
    if (!TakesTimeOfCopy(bytes, run_bytes)) work();
  }

  // Collective. The last call.
  virtual Status Free() = 0;

  // Returns the doubles of all messages of `channels` at their receiver. Channels are equal on all
  // ranks, except for the partners.
  static int64_t DoublesFor(const std::vector<Channel>& channels);

 protected:
  // A pause comes before each part that is sent or awaited.
  PairExchange(const std::vector<Channel>& channels, const Pauses& pauses);

  virtual double* arrived() = 0;
  // `place`: of the part among all that arrive.
  virtual Status BeginPart(size_t channel, const Channel& with, const double* data, int64_t place,
                           int64_t count) = 0;
  virtual Status AwaitPart(size_t channel, int from) = 0;
  virtual Status EndRound(size_t channel) = 0;
  virtual bool TakesTimeOf(double /*operations*/) { return false; }
  virtual bool TakesTimeOfCopy(size_t /*bytes*/, size_t /*run_bytes*/) { return false; }

 private:
  int64_t PlaceOf(size_t channel) const;

  struct State {
    Channel channel;
    int64_t place = 0;  // of the first of its two messages
    int round = 0;      // modulo 2
  };
  std::vector<State> channels_;
  const std::unique_ptr<double[]> outgoing_;
  Pauses pauses_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_PAIR_EXCHANGE_H_
