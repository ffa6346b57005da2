// The text of a plan, for people.

#ifndef BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_
#define BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_

#include <string>

#include "patterns/plan/plan.h"
#include "patterns/protocol/protocol.h"

namespace brigade {

// Returns the calls that it is for, its topology and why, and its protocols in order, each on a
// line of its own.
std::string DescribePlan(const Plan& plan);
// Returns the line of a protocol: when it runs a call, and its copies.
std::string DescribeProtocol(const Protocol& protocol);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PROTOCOL_DESCRIBE_PLAN_H_
