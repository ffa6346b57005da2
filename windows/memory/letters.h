// Letters: short puts into memory that their origins do not see, on one host.
//
// Between fences they are read when all have met; from start to complete by whoever waits for the
// origin to complete. A member has boxes for them once somebody has wanted to write to it.

#ifndef BRIGADE_WINDOWS_MEMORY_LETTERS_H_
#define BRIGADE_WINDOWS_MEMORY_LETTERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "windows/layout/layout_cursor.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/fenced_letters.h"
#include "windows/memory/letter_box.h"
#include "windows/memory/member.h"

namespace brigade {

class Letters {
 public:
  // What each member shares; no boxes: so many members have no letters.
  static WallSize SizeOfWall(int members);
  // `walls`: of all members, zeroed, where this process maps them. Boxes need no memory yet.
  Letters(int rank, const std::vector<std::byte*>& walls);

  // Whether somebody has wanted to write to this member, and nothing has come of it yet.
  bool are_wanted() const {
    return own_front()->boxes.load(std::memory_order_relaxed) == Boxes::kWanted;
  }
  // Whether this member's boxes have memory now; if not, there will be none.
  void OpenBoxes(bool have_memory);

  // Take the bytes along `from`, for where `to` says in the memory of `target`, or say no: they are
  // many, there is no room, or there are no boxes. Cursors begin where they are, and are moved on.
  // `offset`: of the first value.
  bool PutFenced(int target, LayoutCursor* from, const std::byte* origin, int64_t bytes,
                 LayoutCursor* to, int64_t offset);
  // `start`: how often this rank has started an epoch with that target.
  bool PutStarted(uint64_t start, int target, LayoutCursor* from, const std::byte* origin,
                  int64_t bytes, LayoutCursor* to, int64_t offset);

  // The caller of Withdraw, and of EndStart, holds the target's MemberPage::combining(): the epoch
  // that was started may end meanwhile.

  // Passes what was put so into the memory of a member, and has not been read, to
  // `deliver`(slot, offset, ConstByteSpan), and takes it back. `start`: of the last epoch.
  template <typename Deliver>
  void Withdraw(uint64_t start, int target, const Deliver& deliver) {
    fenced_.BoxFor(target)->Withdraw(fenced_.epoch(), deliver);
    started_out_[static_cast<size_t>(target)].Withdraw(start, deliver);
  }

  // All have met behind what they have put between fences: it is put into `memory`.
  void EndFence(std::byte* memory);
  // Likewise what `origin` has put since it started, before it completed.
  void EndStart(uint64_t start, int origin, std::byte* memory);
  // Whether a member has done what was put between past fences. Before its memory is reached
  // otherwise.
  bool HasRead(int member) { return fenced_.HasRead(member); }

 private:
  enum class Boxes : uint32_t { kNone, kWanted, kThere, kRefused };
  // Of a member's wall; that of the fenced letters follows.
  struct Front {
    alignas(kLineBytes) std::atomic<Boxes> boxes;
  };
  static_assert(std::atomic<Boxes>::is_always_lock_free, "processes share it");

  Front* FrontOf(int member) const {
    return reinterpret_cast<Front*>(walls_[static_cast<size_t>(member)]);
  }
  Front* own_front() const { return FrontOf(rank_); }
  // Whether so many bytes are few, and a member has boxes. If nobody has wanted those, this rank
  // has now.
  bool Takes(int member, int64_t bytes);
  LetterBox StartedBox(size_t owner, size_t from) const;

  const int rank_;
  const std::vector<std::byte*> walls_;
  const int64_t most_bytes_;  // of a put
  FencedLetters fenced_;
  std::vector<LetterBox> started_out_;  // to each member
  std::vector<LetterBox> started_in_;   // from each; empty: not open
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_LETTERS_H_
