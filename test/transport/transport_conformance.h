// The conformance suite: tests for every transport (transport_conformance.cc), and the code that a
// program must supply to run them over a transport.

#ifndef BRIGADE_TEST_TRANSPORT_TRANSPORT_CONFORMANCE_H_
#define BRIGADE_TEST_TRANSPORT_TRANSPORT_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "transport/bootstrap.h"
#include "transport/endpoint.h"

namespace brigade {

// One rank of the job, as the body of a test sees it.
struct ConformanceRank {
  int rank = 0;
  int size = 0;
  Endpoint* endpoint = nullptr;
  // The bootstrap of a group of some of the job's ranks, in this order; called by members only.
  std::function<std::unique_ptr<Bootstrap>(const std::vector<int>& members)> bootstrap;
  // Makes this rank vanish as seen by the others. Empty where ranks cannot be lost alone.
  std::function<void()> vanish;
};

struct ConformanceTransport {
  std::string name;
  // Runs the body once per rank, at the same time, on fresh endpoints.
  std::function<void(const std::function<void(ConformanceRank&)>& body)> run;
};

inline void PrintTo(const ConformanceTransport& transport, std::ostream* out) {
  *out << transport.name;
}

// Supplied by the program: every transport and wrapping it tests. Called before main.
std::vector<ConformanceTransport> ConformanceTransports();

}  // namespace brigade

#endif  // BRIGADE_TEST_TRANSPORT_TRANSPORT_CONFORMANCE_H_
