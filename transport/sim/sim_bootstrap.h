// SimBootstrap: collective calls of the members of a new group, which have no channel yet. A call
// takes no time except the wait for its last member.

#ifndef BRIGADE_TRANSPORT_SIM_SIM_BOOTSTRAP_H_
#define BRIGADE_TRANSPORT_SIM_SIM_BOOTSTRAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/core/errors.h"
#include "transport/sim/rank_scheduler.h"
#include "transport/sim/sim_streams.h"

namespace brigade {

// The collective calls of all bootstraps of a simulation.
class SimGathers {
 public:
  using Members = std::vector<int>;  // ranks of the job, in group order

  // One collective call of a bootstrap under way.
  struct Gather {
    size_t bytes = 0;
    std::vector<std::byte> all;
    int arrived = 0;
    int left = 0;
    bool mismatch = false;
    int different = 0;  // the first member whose bytes are not member 0's
    std::shared_ptr<SimGroup> group;
  };

  SimGathers(RankScheduler* scheduler, int ranks)
      : scheduler_(scheduler), everyone_(static_cast<size_t>(ranks)) {
    std::iota(everyone_.begin(), everyone_.end(), 0);
  }

  const Members* everyone() const { return &everyone_; }
  // The same list for the same members.
  const Members* ListOf(const Members& members) {
    return members == everyone_ ? &everyone_ : &*lists_.insert(members).first;
  }

  // Member `rank` of `members` makes its next collective call: contribute(&gather) at once, and
  // take(gather) when all have.
  template <typename Contribute, typename Take>
  void Meet(const Members* members, int rank, const Contribute& contribute, const Take& take) {
    std::vector<uint64_t>& calls = calls_[members];
    calls.resize(members->size());
    const auto key = std::make_pair(members, calls[static_cast<size_t>(rank)]++);
    const int self = (*members)[static_cast<size_t>(rank)];
    scheduler_->CatchUp(self);
    Gather& gather = gathers_[key];
    contribute(&gather);
    const int size = static_cast<int>(members->size());
    if (++gather.arrived == size) {
      for (int member : *members) scheduler_->Wake(member);
      scheduler_->Yield(self);  // the last to come is not the first to go
    }
    while (gather.arrived < size) scheduler_->Sleep(self);
    take(gather);
    if (++gather.left == size) gathers_.erase(key);
  }

 private:
  RankScheduler* const scheduler_;
  Members everyone_;
  std::set<Members> lists_;
  // A call is known by its members and its number among each member's calls with these.
  std::map<const Members*, std::vector<uint64_t>> calls_;
  std::map<std::pair<const Members*, uint64_t>, Gather> gathers_;
};

class SimBootstrap : public Bootstrap {
 public:
  SimBootstrap(SimGathers* gathers, const SimGathers::Members* members, int rank)
      : gathers_(gathers), members_(members), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_->size()); }
  const SimGathers::Members* members() const { return members_; }

  Status AllGather(const void* mine, size_t bytes, void* all) override {
    bool mismatch = false;
    gathers_->Meet(
        members_, rank_, [&](SimGathers::Gather* gather) { Contribute(gather, mine, bytes); },
        [&](const SimGathers::Gather& gather) {
          mismatch = gather.mismatch;
          if (!mismatch && bytes > 0) std::memcpy(all, gather.all.data(), gather.all.size());
        });
    return SizesAgree(mismatch, bytes);
  }

  Status FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                        void* other) override {
    bool mismatch = false;
    const auto of = [&](const SimGathers::Gather& gather, int member) {
      return gather.all.data() + bytes * static_cast<size_t>(member);
    };
    gathers_->Meet(
        members_, rank_,
        [&](SimGathers::Gather* gather) {
          Contribute(gather, mine, bytes);
          if (gather->arrived + 1 < size() || gather->mismatch) return;
          // The last to come looks for all.
          int& member = gather->different;
          while (member < size() && std::memcmp(of(*gather, 0), of(*gather, member), bytes) == 0) {
            ++member;
          }
        },
        [&](const SimGathers::Gather& gather) {
          mismatch = gather.mismatch;
          if (mismatch) return;
          *rank = gather.different < size() ? gather.different : -1;
          std::memcpy(first, of(gather, 0), bytes);
          std::memcpy(other, of(gather, std::max(*rank, 0)), bytes);
        });
    return SizesAgree(mismatch, bytes);
  }

 private:
  void Contribute(SimGathers::Gather* gather, const void* mine, size_t bytes) const {
    if (gather->arrived == 0) {
      gather->bytes = bytes;
      gather->all.resize(bytes * members_->size());
    }
    gather->mismatch |= gather->bytes != bytes;
    if (gather->mismatch || bytes == 0) return;
    std::memcpy(gather->all.data() + bytes * static_cast<size_t>(rank_), mine, bytes);
  }
  static Status SizesAgree(bool mismatch, size_t bytes) {
    return mismatch ? GatherSizesDiffer("sim", bytes) : Status();
  }

  SimGathers* const gathers_;
  const SimGathers::Members* const members_;
  const int rank_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_SIM_BOOTSTRAP_H_
