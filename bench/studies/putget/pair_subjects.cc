#include "bench/studies/putget/pair_subjects.h"

#include <mpi.h>

#include <deque>
#include <utility>

#include "bench/contenders/one_sided.h"

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
  Status BeginPart(size_t /*channel*/, const Channel& with, const double* data, int64_t place,
                   int64_t count) override {
    return window_->PutNotify(data, count, with.to, place);
  }
  Status AwaitPart(size_t /*channel*/, int from) override { return window_->NotifyWait(from); }
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
  Status BeginPart(size_t channel, const Channel& with, const double* data, int64_t place,
                   int64_t count) override {
    const int tag = static_cast<int>(channel);
    MPI_Irecv(&arrived_[static_cast<size_t>(place)], static_cast<int>(count), MPI_DOUBLE, with.from,
              tag, comm_, &coming_[channel].emplace_back());
    MPI_Isend(data, static_cast<int>(count), MPI_DOUBLE, with.to, tag, comm_,
              &leaving_[channel].emplace_back());
    return Status();
  }
  Status AwaitPart(size_t channel, int /*from*/) override {
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

const std::vector<std::string> kPairVariants = {"send", "nbsend", "put", "nbput"};

PairSubjects::PairSubjects(Study* study, const std::vector<Channel>& channels) : study_(study) {
  const StudyOptions& options = study->options();
  if (options.Wants("put") || options.Wants("nbput")) {
    for (auto& window : study->Windows(PairExchange::DoublesFor(channels))) {
      by_puts_.push_back(std::make_unique<Puts>(std::move(window), channels, study->pauses()));
    }
  }
  if (options.WantsMessagesOfMpi()) {
    Session* const session = study->session();
    by_messages_ = std::make_unique<Messages>(session->comm(), session->PeerName("mpi"), channels,
                                              study->pauses());
  }
}

void PairSubjects::AddTo(Case* the_case,
                         const std::function<Status(PairExchange*, bool ahead)>& run,
                         const std::function<std::string()>& check) const {
  const auto add = [&](const std::string& variant, bool ahead, PairExchange* exchange) {
    if (!study_->options().Wants(variant)) return;
    Subject subject;
    subject.name = exchange->name();
    subject.pattern = variant;
    subject.run = [=](int) { return run(exchange, ahead); };
    subject.check = [=](int) { return check(); };
    the_case->subjects.push_back(std::move(subject));
  };
  for (const bool ahead : {false, true}) {
    for (const auto& puts : by_puts_) add(ahead ? "nbput" : "put", ahead, puts.get());
    if (by_messages_) add(ahead ? "nbsend" : "send", ahead, by_messages_.get());
  }
}

void PairSubjects::Free() {
  for (const auto& puts : by_puts_) AbortUnlessOk(puts->Free());
}

}  // namespace brigade::bench
