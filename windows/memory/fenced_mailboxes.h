// FencedMailboxes: mailboxes that are read when all members have met, as between fences.
//
// Each member has two boxes from each other one, used in turn: no member writes to a box again
// before its owner has read it and met the others.

#ifndef BRIGADE_WINDOWS_MEMORY_FENCED_MAILBOXES_H_
#define BRIGADE_WINDOWS_MEMORY_FENCED_MAILBOXES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "windows/memory/cache_line.h"
#include "windows/memory/mailbox.h"

namespace brigade {

class FencedMailboxes {
 public:
  // Of more, boxes would be many and short.
  static constexpr int kMostMembers = 64;
  // Each member shares an area: a front, and boxes behind it.
  static size_t FrontBytes() { return sizeof(Area); }
  static size_t AreaBytes(int members, size_t box_bytes) {
    return FrontBytes() + 2 * static_cast<size_t>(members) * box_bytes;
  }
  // `areas`: of all members, zeroed, where this process maps them. REQUIRES: they are aligned to
  // kCacheLineBytes, and `box_bytes` is a multiple of it, the same for all.
  FencedMailboxes(int rank, std::vector<std::byte*> areas, size_t box_bytes);
  // There is memory for the boxes of this member, which from here on it looks into. Before that
  // no member writes to them.
  void OpenBoxes();

  // The box for entries to `member` in this epoch, whose number is epoch().
  Mailbox* BoxFor(int member) { return &out_[2 * static_cast<size_t>(member) + turn()]; }
  uint64_t epoch() const { return epoch_; }
  // Sends what was added to a box.
  void Send(Mailbox* box);

  // All have met behind their last entries: an epoch is over. `reader`: as of Mailbox::Read.
  template <typename Reader>
  void Read(const Reader& reader);
  // Whether a member has read its entries of past epochs, before which its memory must not be
  // reached otherwise.
  bool HasRead(int member);

 private:
  // Of a member; its boxes follow.
  struct Area {
    // Of member 0, for all: by parity, the last epoch with any entries.
    alignas(kCacheLineBytes) std::atomic<uint64_t> written[2];
    // The last epoch with any entries whose entries this member has read.
    alignas(kCacheLineBytes) std::atomic<uint64_t> read;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");

  Mailbox Box(size_t owner, size_t from, size_t turn) const;
  Area* AreaOf(int member) const {
    return reinterpret_cast<Area*>(areas_[static_cast<size_t>(member)]);
  }
  size_t turn() const { return epoch_ % 2; }

  const int rank_;
  const std::vector<std::byte*> areas_;
  const size_t box_bytes_;
  std::vector<Mailbox> out_;  // to each member, by parity
  std::vector<Mailbox> in_;   // from each; empty: not open
  uint64_t epoch_ = 1;
  uint64_t last_written_ = 0;      // the last past epoch with any entries
  bool has_written_ = false;       // in this epoch
  std::vector<uint64_t> read_by_;  // by member: as far as it is known to have read
};

template <typename Reader>
void FencedMailboxes::Read(const Reader& reader) {
  const size_t ended = turn();
  const uint64_t epoch = epoch_++;
  has_written_ = false;
  if (AreaOf(0)->written[ended].load(std::memory_order_acquire) != epoch) return;
  last_written_ = epoch;
  for (size_t box = ended; box < in_.size(); box += 2) in_[box].Read(epoch, reader);
  AreaOf(rank_)->read.store(epoch, std::memory_order_release);
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_FENCED_MAILBOXES_H_
