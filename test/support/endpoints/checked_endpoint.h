// CheckedEndpoint: checks that the caller keeps its side of the endpoint contract, and that the
// transport below keeps the order of completions. For tests; costs a pass over every sent byte.
//
// A broken rule aborts the process with the rule's text, at the call that broke it.

#ifndef BRIGADE_TEST_SUPPORT_ENDPOINTS_CHECKED_ENDPOINT_H_
#define BRIGADE_TEST_SUPPORT_ENDPOINTS_CHECKED_ENDPOINT_H_

#include <memory>

#include "transport/endpoint.h"

namespace brigade {

// Every lease of a PostReceive carries a token of its own, so that releasing is never a no-op.
std::unique_ptr<Endpoint> MakeCheckedEndpoint(std::unique_ptr<Endpoint> target);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_ENDPOINTS_CHECKED_ENDPOINT_H_
