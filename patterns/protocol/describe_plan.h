// The text of a plan, for people.

#ifndef BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_
#define BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_

#include <string>

#include "patterns/plan/plan.h"

namespace brigade {

// Returns the calls that it is for, its topology and why, how its messages are cut, and its
// protocols in order, each on a line of its own: when it runs a call, and its copies.
std::string DescribePlan(const Plan& plan);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_
