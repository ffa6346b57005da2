// MemberAttributes: what each member of a window knows of every other.

#ifndef BRIGADE_WINDOWS_MEMORY_MEMBER_H_
#define BRIGADE_WINDOWS_MEMORY_MEMBER_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "transport/host/host.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {

enum class WindowMemory : uint64_t {
  kPrivate = 0,  // anything the user has
  kShared,       // from our own allocator: its whole host can map it
  kProcess,      // all that the member's process has and will have
  kDynamic,      // of that, what the user attaches; displacements are addresses
};
// Of kProcess and kDynamic: offset 0 is this address. Null is in no memory.
inline constexpr uint64_t kProcessAddress = 1;
inline constexpr uint64_t kProcessBytes = uint64_t{1} << 62;

// The size of the mailbox area that a member shares: a front, and boxes behind it. Memory for the
// boxes is allocated when another member wants to use them.
struct MailboxSize {
  size_t front_bytes = 0;
  size_t boxes_bytes = 0;  // 0: no mailboxes
};

struct MemberAttributes {
  Host host;
  SharedSegment::Address segment;
  uint64_t page_offset = 0;  // of the MemberPage in the segment
  WindowMemory kind = WindowMemory::kPrivate;
  SharedSegment::Address memory_segment;  // kShared: where the memory is
  // kShared: in that. In `segment`: kDynamic, of the AttachedRanges; kPrivate, of the mailboxes.
  uint64_t memory_offset = 0;
  uint64_t mailbox_bytes = 0;  // kPrivate: of its mailboxes; 0: it has none
  uint64_t address = 0;        // else: in the member's process
  uint64_t readable = 0;       // else: an address that can be read there, if `bytes` are any
  uint64_t bytes = 0;
  int64_t unit = 0;  // of displacements
};
static_assert(std::is_trivially_copyable_v<MemberAttributes> &&
                  std::has_unique_object_representations_v<MemberAttributes>,
              "members' attributes travel as bytes");

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_MEMBER_H_
