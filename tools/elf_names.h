// The names that an ELF file defines: a program or a library of this machine. Nothing in it is run.

#ifndef BRIGADE_TOOLS_ELF_NAMES_H_
#define BRIGADE_TOOLS_ELF_NAMES_H_

#include <set>
#include <string>

#include "membuf/status.h"

namespace brigade {

struct ElfNames {
  bool is_program = false;         // it can be started; else it is a library
  bool needs_libraries = false;    // it names shared libraries, which the loader brings
  std::set<std::string> exported;  // of the wanted names: those that other files find in it
  std::set<std::string> defined;   // of the wanted names: those that it has, unless it is stripped
};

// kInvalidArgument, naming the file: it cannot be read, or is no ELF file of this machine.
Status ReadElfNames(const std::string& path, const std::set<std::string>& wanted, ElfNames* found);

}  // namespace brigade

#endif  // BRIGADE_TOOLS_ELF_NAMES_H_
