// Ranks that outnumber processors do so as long as a group has them: a test of endpoints.

#ifndef BRIGADE_TEST_SUPPORT_CROWD_H_
#define BRIGADE_TEST_SUPPORT_CROWD_H_

#include <functional>
#include <memory>

#include "transport/endpoint.h"

namespace brigade {

// Two ranks on one processor open two groups and close them: each gives that up sooner (PollsAwake)
// until the second is closed. `create` makes the endpoint of a rank.
void ExpectCrowdUntilLastGroupCloses(const std::function<std::unique_ptr<Endpoint>()>& create);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_CROWD_H_
