// ServedWindow: what one rank exposes, as the code that works on it on behalf of others sees it.

#ifndef BRIGADE_WINDOWS_MESSAGE_SERVED_WINDOW_H_
#define BRIGADE_WINDOWS_MESSAGE_SERVED_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "windows/memory/attached_ranges.h"
#include "windows/memory/member_page.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

struct ServedWindow {
  int rank = 0;  // whose it is
  std::byte* memory = nullptr;
  int64_t bytes = 0;
  std::optional<AttachedRanges> attached;  // what others may reach of it, where that is not all
  MemberPage page{nullptr, 0};
  std::optional<OpenAccesses> checked;  // if conflicts are looked for

  // How often each member has posted its window to this rank, completed its access to this rank's,
  // and been in a fence, with all its requests done here.
  std::vector<uint64_t> posted_by;
  std::vector<uint64_t> completed_by;
  std::vector<uint64_t> fenced_by;
  // Locks of other members' windows that were granted to this rank, and the flushes that it has
  // answers to: the latest token.
  std::vector<uint64_t> granted_by;
  std::vector<uint32_t> flushed_by;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_SERVED_WINDOW_H_
