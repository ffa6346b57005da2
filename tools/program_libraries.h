// Which library serves each interface of ours in a program, as the dynamic loader would find it.

#ifndef BRIGADE_TOOLS_PROGRAM_LIBRARIES_H_
#define BRIGADE_TOOLS_PROGRAM_LIBRARIES_H_

#include <string>
#include <utility>
#include <vector>

#include "membuf/status.h"

namespace brigade {

// A line for each interface: its name, and the file whose functions the program will call, with
// what to do if it is not Brigade's. The program is not run: its libraries, those of LD_PRELOAD
// included, are what the loader lists. Libraries that the program opens itself are not seen.
// kInvalidArgument, naming the file: it is no program, or its libraries cannot be listed.
Status DescribeProgram(const std::string& program,
                       std::vector<std::pair<std::string, std::string>>* lines);

}  // namespace brigade

#endif  // BRIGADE_TOOLS_PROGRAM_LIBRARIES_H_
