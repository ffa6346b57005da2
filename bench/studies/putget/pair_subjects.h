// PairSubjects: who competes where pairs of ranks exchange messages: Brigade's windows, MPI's, and
// MPI's messages, each blocking and non-blocking.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_PAIR_SUBJECTS_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_PAIR_SUBJECTS_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/runner/case.h"
#include "bench/studies/putget/pair_exchange.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {

extern const std::vector<std::string> kPairVariants;

class PairSubjects {
 public:
  // Collective; `channels` as PairExchange has them.
  PairSubjects(Study* study, const std::vector<Channel>& channels);

  // Adds all that are wanted to `the_case`. `ahead`: non-blocking.
  void AddTo(Case* the_case, const std::function<Status(PairExchange*, bool ahead)>& run,
             const std::function<std::string()>& check) const;
  // Collective. The last call.
  void Free();

 private:
  Study* const study_;
  std::vector<std::unique_ptr<PairExchange>> by_puts_;
  std::unique_ptr<PairExchange> by_messages_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_PAIR_SUBJECTS_H_
