#include "bench/studies/putget/pair_exchange.h"

#include <deque>
#include <utility>

namespace brigade::bench {
namespace {

class Puts final : public PairExchange {
 public:
  Puts(std::unique_ptr<OneSided> window, const std::vector<Channel>& channels, const Pauses& pauses)
      : PairExchange(channels, pauses), window_(std::move(window)) {}

  std::string name() const override { return window_->name(); }
  Status Free() override {
    BRIGADE_RETURN_IF_ERROR(window_->UnlockAll());
    return window_->Free();
  }

 protected:
  double* arrived() override { return window_->memory(); }
  Status BeginPart(size_t /*channel*/, int partner, const double* data, int64_t place,
                   int64_t count) override {
    return window_->PutNotify(data, count, partner, place);
  }
  Status AwaitPart(size_t /*channel*/, int partner) override {
    return window_->NotifyWait(partner);
  }
  Status EndRound(size_t /*channel*/) override { return Status(); }

 private:
  const std::unique_ptr<OneSided> window_;
};

class Messages final : public PairExchange {
 public:
  Messages(MPI_Comm comm, std::string name, const std::vector<Channel>& channels,
           const Pauses& pauses)
      : PairExchange(channels, pauses),
        comm_(comm),
        name_(std::move(name)),
        arrived_(static_cast<size_t>(DoublesFor(channels))),
        coming_(channels.size()),
        leaving_(channels.size()) {}

  std::string name() const override { return name_; }
  Status Free() override { return Status(); }

 protected:
  double* arrived() override { return arrived_.data(); }
  Status BeginPart(size_t channel, int partner, const double* data, int64_t place,
                   int64_t count) override {
    const int tag = static_cast<int>(channel);
    MPI_Irecv(&arrived_[static_cast<size_t>(place)], static_cast<int>(count), MPI_DOUBLE, partner,
              tag, comm_, &coming_[channel].emplace_back());
    MPI_Isend(data, static_cast<int>(count), MPI_DOUBLE, partner, tag, comm_,
              &leaving_[channel].emplace_back());
    return Status();
  }
  Status AwaitPart(size_t channel, int /*partner*/) override {
    MPI_Wait(&coming_[channel].front(), MPI_STATUS_IGNORE);
    coming_[channel].pop_front();
    return Status();
  }
  Status EndRound(size_t channel) override {
    std::vector<MPI_Request>* const leaving = &leaving_[channel];
    MPI_Waitall(static_cast<int>(leaving->size()), leaving->data(), MPI_STATUSES_IGNORE);
    leaving->clear();
    return Status();
  }

 private:
  const MPI_Comm comm_;
  const std::string name_;
  std::vector<double> arrived_;
  std::vector<std::deque<MPI_Request>> coming_;    // by channel
  std::vector<std::vector<MPI_Request>> leaving_;  // by channel
};

}  // namespace

PairExchange::PairExchange(const std::vector<Channel>& channels, const Pauses& pauses)
    : outgoing_(static_cast<size_t>(DoublesFor(channels))), pauses_(pauses) {
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

double* PairExchange::Outgoing(size_t channel) {
  return &outgoing_[static_cast<size_t>(PlaceOf(channel))];
}

Status PairExchange::Begin(size_t channel, int64_t first, int64_t count) {
  pauses_.Take();
  return BeginPart(channel, channels_[channel].channel.partner, Outgoing(channel) + first,
                   PlaceOf(channel) + first, count);
}

Status PairExchange::Await(size_t channel) {
  pauses_.Take();
  return AwaitPart(channel, channels_[channel].channel.partner);
}

Status PairExchange::End(size_t channel) {
  channels_[channel].round ^= 1;
  return EndRound(channel);
}

std::unique_ptr<PairExchange> ExchangeByPuts(std::unique_ptr<OneSided> window,
                                             const std::vector<Channel>& channels,
                                             const Pauses& pauses) {
  return std::make_unique<Puts>(std::move(window), channels, pauses);
}

std::unique_ptr<PairExchange> ExchangeByMessages(MPI_Comm comm, const std::string& name,
                                                 const std::vector<Channel>& channels,
                                                 const Pauses& pauses) {
  return std::make_unique<Messages>(comm, name, channels, pauses);
}

}  // namespace brigade::bench
