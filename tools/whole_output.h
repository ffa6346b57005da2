// WholeOutput: whether all that a program printed has reached standard output, which may be a file
// on a full disk.

#ifndef BRIGADE_TOOLS_WHOLE_OUTPUT_H_
#define BRIGADE_TOOLS_WHOLE_OUTPUT_H_

#include <cstdio>
#include <iostream>

namespace brigade {

// Returns the exit code of a program that has printed everything: `exit_code`; or 1, and prints
// why, if a line could not be written.
inline int WholeOutput(const char* program, int exit_code) {
  const bool printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (printed && std::cout.flush()) return exit_code;
  std::fprintf(stderr, "%s: cannot write standard output; its last lines are missing\n", program);
  return 1;
}

}  // namespace brigade

#endif  // BRIGADE_TOOLS_WHOLE_OUTPUT_H_
