// RunProcesses: the ranks of a job as processes of their own, which may die.

#ifndef BRIGADE_TEST_SUPPORT_RUN_PROCESSES_H_
#define BRIGADE_TEST_SUPPORT_RUN_PROCESSES_H_

#include <functional>
#include <vector>

#include "transport/bootstrap.h"

namespace brigade {

// Runs body(bootstrap) in one child per rank and returns when all have ended, with their status as
// of waitpid. A child exits with the result of its body. Hanging children are killed. REQUIRES:
// this process has one thread.
std::vector<int> RunProcesses(int ranks, const std::function<int(Bootstrap* bootstrap)>& body);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_RUN_PROCESSES_H_
