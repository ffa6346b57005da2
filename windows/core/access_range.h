// The error text of an access that is not inside the memory that a member exposes.

#ifndef BRIGADE_WINDOWS_CORE_ACCESS_RANGE_H_
#define BRIGADE_WINDOWS_CORE_ACCESS_RANGE_H_

#include <cstdint>
#include <string>

#include "windows/memory/member.h"

namespace brigade {

// Names the bytes of `rank`'s memory that the access covers, the size of that memory, and how far
// the access begins before it or ends beyond it. The access covers the bytes from `low` to `high`,
// which is exclusive, relative to `displacement`, which counts in the member's units.
std::string DescribeAccessOutside(const MemberAttributes& member, int rank, int64_t displacement,
                                  int64_t low, int64_t high);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_ACCESS_RANGE_H_
