// PlanCache: the plans of a group, by signature.

#ifndef BRIGADE_PATTERNS_PLAN_PLAN_CACHE_H_
#define BRIGADE_PATTERNS_PLAN_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "patterns/engine/pattern_call.h"
#include "patterns/plan/plan.h"
#include "patterns/plan/signature.h"
#include "patterns/schedule/pattern.h"

namespace brigade {

class PlanCache {
 public:
  // Plans that are kept at once.
  static constexpr size_t kMostPlans = 512;

  PlanCache() : plans_(kPlaces) {}

  // Returns the plan of a point-to-point call, or null.
  const Plan* FindPair(const PatternCall& call) {
    ++lookups_;
    const size_t place = PlaceOfPair(call);
    return place < pairs_.size() && call.locations == nullptr ? pairs_[place].get() : nullptr;
  }
  // Returns the plan of a signature of another call, or null.
  const Plan* Find(const Signature& signature) {
    ++lookups_;
    for (size_t place = signature.Hash() % kPlaces;; place = (place + 1) % kPlaces) {
      const Plan* const plan = plans_[place].get();
      if (plan == nullptr || plan->signature == signature) return plan;
    }
  }
  // Keeps a plan whose signature has none. Drops all others if there are kMostPlans: no call under
  // way may be using one. Persistent calls keep theirs.
  const Plan* Insert(std::shared_ptr<const Plan> plan);
  // Keeps the plan of a point-to-point call as long as the cache.
  const Plan* InsertPair(const PatternCall& call, std::shared_ptr<const Plan> plan);

  uint64_t lookups() const { return lookups_; }
  uint64_t made() const { return made_; }

 private:
  static constexpr size_t kPlaces = 2 * kMostPlans;

  // A negative peer becomes a huge number.
  static size_t PlaceOfPair(const PatternCall& call) {
    return static_cast<size_t>(call.root) * 4 + (call.pattern == Pattern::kSend ? 0 : 2) +
           (Signature::IsLong(call) ? 1 : 0);
  }

  std::vector<std::shared_ptr<const Plan>> plans_;
  std::vector<std::shared_ptr<const Plan>> pairs_;
  size_t count_ = 0;
  uint64_t lookups_ = 0;
  uint64_t made_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_PLAN_CACHE_H_
