// WholeOutput: whether a table has reached standard output, which is a file on a disk that may be
// full.

#ifndef BRIGADE_BENCH_SIMULATED_WHOLE_OUTPUT_H_
#define BRIGADE_BENCH_SIMULATED_WHOLE_OUTPUT_H_

#include <iostream>

namespace brigade::bench {

// Returns the exit code of a program that has printed a table: `exit_code`; or 1, and prints why,
// if a line could not be written.
inline int WholeOutput(const char* program, int exit_code) {
  if (std::cout.flush()) return exit_code;
  std::cerr << program << ": cannot write standard output; its last lines are missing\n";
  return 1;
}

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_WHOLE_OUTPUT_H_
