// Accesses: what operations of a superstep do to the memory of one process. The checker's.

#ifndef BRIGADE_LI_SHIM_BACKEND_ACCESSES_H_
#define BRIGADE_LI_SHIM_BACKEND_ACCESSES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace brigade {
namespace li {

struct Access {
  uintptr_t begin;
  uintptr_t end;  // behind `begin`
  bool writes;
  bool is_put;
  // Whose operation, and the how many-th of that process's in the superstep, from 1.
  int process;
  int64_t number;
};

// Two of which one writes what the other accesses; the same ones in whatever order they are given.
std::optional<std::pair<Access, Access>> FindConflict(std::vector<Access> accesses);

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_BACKEND_ACCESSES_H_
