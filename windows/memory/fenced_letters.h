// FencedLetters: letters that are read when all members have met, as between fences.
//
// Each member has two boxes from each other one, used in turn: nobody writes to a box again before
// its owner has read it and met the others.

#ifndef BRIGADE_WINDOWS_MEMORY_FENCED_LETTERS_H_
#define BRIGADE_WINDOWS_MEMORY_FENCED_LETTERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "windows/memory/cache_line.h"
#include "windows/memory/letter_box.h"

namespace brigade {

class FencedLetters {
 public:
  // Of more, boxes would be many and short.
  static constexpr int kMostMembers = 64;
  // What each member shares: a front, and boxes behind it.
  static size_t FrontBytes() { return sizeof(Wall); }
  static size_t WallBytes(int members, size_t box_bytes) {
    return FrontBytes() + 2 * static_cast<size_t>(members) * box_bytes;
  }
  // `walls`: of all members, zeroed, where this process maps them. REQUIRES: they are aligned to
  // kLineBytes, and `box_bytes` is a multiple of it, the same for all.
  FencedLetters(int rank, std::vector<std::byte*> walls, size_t box_bytes);
  // There is memory for the boxes of this member, which from here on it looks into. Before that
  // nobody writes to them.
  void OpenBoxes();

  // The box for letters to `member` in this epoch, whose number is epoch().
  LetterBox* BoxFor(int member) { return &out_[2 * static_cast<size_t>(member) + turn()]; }
  uint64_t epoch() const { return epoch_; }
  // Sends what was added to a box.
  void Send(LetterBox* box);

  // All have met behind their last letters: an epoch is over. `reader`: as of LetterBox::Read.
  template <typename Reader>
  void Read(const Reader& reader);
  // Whether a member has read its letters of past epochs. Before its memory is reached otherwise.
  bool HasRead(int member);

 private:
  // Of a member; its boxes follow.
  struct Wall {
    // Of member 0, for all: by turn, the last epoch with letters to anybody.
    alignas(kLineBytes) std::atomic<uint64_t> written[2];
    // The last one with letters to anybody whose letters this member has read.
    alignas(kLineBytes) std::atomic<uint64_t> read;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");

  LetterBox Box(size_t owner, size_t from, size_t turn) const;
  Wall* WallOf(int member) const {
    return reinterpret_cast<Wall*>(walls_[static_cast<size_t>(member)]);
  }
  size_t turn() const { return epoch_ % 2; }

  const int rank_;
  const std::vector<std::byte*> walls_;
  const size_t box_bytes_;
  std::vector<LetterBox> out_;  // to each member, by turn
  std::vector<LetterBox> in_;   // from each; empty: not open
  uint64_t epoch_ = 1;
  uint64_t last_written_ = 0;      // the last past epoch with letters to anybody
  bool has_written_ = false;       // in this epoch
  std::vector<uint64_t> read_by_;  // by member: as far as it is known to have read
};

template <typename Reader>
void FencedLetters::Read(const Reader& reader) {
  const size_t ended = turn();
  const uint64_t epoch = epoch_++;
  has_written_ = false;
  if (WallOf(0)->written[ended].load(std::memory_order_acquire) != epoch) return;
  last_written_ = epoch;
  for (size_t box = ended; box < in_.size(); box += 2) in_[box].Read(epoch, reader);
  WallOf(rank_)->read.store(epoch, std::memory_order_release);
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_FENCED_LETTERS_H_
