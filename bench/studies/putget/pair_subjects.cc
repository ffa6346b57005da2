#include "bench/studies/putget/pair_subjects.h"

#include <utility>

namespace brigade::bench {

const std::vector<std::string> kPairVariants = {"send", "nbsend", "put", "nbput"};

PairSubjects::PairSubjects(Study* study, const std::vector<Channel>& channels) : study_(study) {
  const StudyOptions& options = study->options();
  if (options.Wants("put") || options.Wants("nbput")) {
    for (auto& window : study->Windows(PairExchange::DoublesFor(channels))) {
      by_puts_.push_back(ExchangeByPuts(std::move(window), channels, study->pauses()));
    }
  }
  if (options.WantsMessagesOfMpi()) {
    Session* const session = study->session();
    by_messages_ =
        ExchangeByMessages(session->comm(), session->PeerName("mpi"), channels, study->pauses());
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
