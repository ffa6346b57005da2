#include "bench/studies/putget/pair_exchange.h"

namespace brigade::bench {

PairExchange::PairExchange(const std::vector<Channel>& channels, const Pauses& pauses)
    : outgoing_(new double[static_cast<size_t>(DoublesFor(channels))]), pauses_(pauses) {
  int64_t place = 0;
  for (const Channel& channel : channels) {
    channels_.push_back({channel, place, 0});
    place += 2 * channel.doubles;
  }
}

int64_t PairExchange::DoublesFor(const std::vector<Channel>& channels) {
  int64_t doubles = 1;  // nobody has nothing
  for (const Channel& channel : channels) doubles += 2 * channel.doubles;
  return doubles;
}

int64_t PairExchange::PlaceOf(size_t channel) const {
  const State& state = channels_[channel];
  return state.place + state.round * state.channel.doubles;
}

double* PairExchange::Outgoing(size_t channel) { return outgoing_.get() + PlaceOf(channel); }

Status PairExchange::Begin(size_t channel, int64_t first, int64_t count) {
  pauses_.Take();
  return BeginPart(channel, channels_[channel].channel, Outgoing(channel) + first,
                   PlaceOf(channel) + first, count);
}

Status PairExchange::Await(size_t channel) {
  pauses_.Take();
  return AwaitPart(channel, channels_[channel].channel.from);
}

Status PairExchange::End(size_t channel) {
  channels_[channel].round ^= 1;
  return EndRound(channel);
}

}  // namespace brigade::bench
