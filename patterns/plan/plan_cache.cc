#include "patterns/plan/plan_cache.h"

#include <utility>

namespace brigade {

const Plan* PlanCache::Insert(std::shared_ptr<const Plan> plan) {
  if (count_ == kMostPlans) {
    for (std::shared_ptr<const Plan>& kept : plans_) kept.reset();
    count_ = 0;
  }
  ++count_;
  ++made_;
  size_t place = plan->signature.Hash() % kPlaces;
  while (plans_[place] != nullptr) place = (place + 1) % kPlaces;
  plans_[place] = std::move(plan);
  return plans_[place].get();
}

const Plan* PlanCache::InsertPair(const PatternCall& call, std::shared_ptr<const Plan> plan) {
  ++made_;
  const size_t place = PlaceOfPair(call);
  if (place >= pairs_.size()) pairs_.resize(place + 1);
  pairs_[place] = std::move(plan);
  return pairs_[place].get();
}

}  // namespace brigade
