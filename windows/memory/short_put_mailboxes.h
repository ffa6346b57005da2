// ShortPutMailboxes: short puts into memory that their origins do not map, on one host, and short
// gets of it.
//
// The mailboxes of puts between fences are read when all members have met; those of puts from start
// to complete by the target's wait. A get is a question, and its answer is an entry of the next
// epoch, in which there are no other entries. A member has memory for its mailboxes once another
// member has wanted to use one.

#ifndef BRIGADE_WINDOWS_MEMORY_SHORT_PUT_MAILBOXES_H_
#define BRIGADE_WINDOWS_MEMORY_SHORT_PUT_MAILBOXES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/byte_span.h"
#include "windows/layout/layout_cursor.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/fenced_mailboxes.h"
#include "windows/memory/mailbox.h"
#include "windows/memory/member.h"

namespace brigade {

class ShortPutMailboxes {
 public:
  // Returns the size of each member's area. If it has no boxes, windows of `members` members have
  // no mailboxes.
  static MailboxSize SizeOfArea(int members);
  // `areas`: of all members, zeroed, where this process maps them. Boxes need no memory yet.
  ShortPutMailboxes(int rank, const std::vector<std::byte*>& areas);

  // Whether another member has wanted to put something here, and memory was neither made nor
  // refused yet.
  bool are_wanted() const {
    return own_front()->boxes.load(std::memory_order_relaxed) == Boxes::kWanted;
  }
  // Whether this member's boxes have memory now; if not, there will be none.
  void OpenBoxes(bool have_memory);

  // Take the bytes along `from`, for those along `to` in the memory of `target`, or return false:
  // they are many, there is no room, or there are no boxes. Cursors begin where they are, and are
  // moved on. `offset`: of the first value.
  bool PutFenced(int target, LayoutCursor* from, const std::byte* origin, int64_t bytes,
                 LayoutCursor* to, int64_t offset);
  // `start`: how often this rank has started an epoch with that target.
  bool PutStarted(uint64_t start, int target, LayoutCursor* from, const std::byte* origin,
                  int64_t bytes, LayoutCursor* to, int64_t offset);

  // Requests bytes at `offset` in the memory of `target`, which are in `result` when this member is
  // through with EndFence. Or returns false, as puts do.
  bool GetFenced(int target, int64_t offset, int64_t bytes, std::byte* result);

  // The caller of Withdraw, and of EndStart, holds the target's MemberPage::combining(): the epoch
  // that was started may end meanwhile.

  // Passes what was put so into the memory of a member, and has not been read, to
  // `deliver`(offset, ConstByteSpan), requests to `fetch`(offset, ByteSpan), and takes it
  // all back. `start`: of the last epoch.
  template <typename Deliver, typename Fetch>
  void Withdraw(uint64_t start, int target, const Deliver& deliver, const Fetch& fetch);

  // All have met behind their puts and gets between fences: puts are applied to `memory`, and data
  // of gets are on their way. True, to all, if there is something: they must meet once
  // more, and call it again.
  bool EndFence(std::byte* memory);
  // The same for what `origin` has put since it started, before it completed.
  void EndStart(uint64_t start, int origin, std::byte* memory);
  // Whether a member has done what was put between past fences. Before its memory is reached
  // otherwise.
  bool HasRead(int member) { return fenced_.HasRead(member); }

 private:
  enum class Boxes : uint32_t { kNone, kWanted, kThere, kRefused };
  // At the beginning of a member's area; that of FencedMailboxes follows.
  struct Front {
    alignas(kCacheLineBytes) std::atomic<Boxes> boxes;
    // Of member 0, for all: the last epoch, of even and of odd number, with any questions.
    alignas(kCacheLineBytes) std::atomic<uint64_t> asked[2];
  };
  static_assert(std::atomic<Boxes>::is_always_lock_free, "processes share it");

  enum class Slot : int { kPut, kQuestion, kAnswer };
  // The entry of a get, whose offset is the place to read. The entry of the answer has `index` for
  // its offset.
  struct Question {
    int64_t bytes;
    int32_t from;
    uint32_t index;
  };

  Front* FrontOf(int member) const {
    return reinterpret_cast<Front*>(areas_[static_cast<size_t>(member)]);
  }
  Front* own_front() const { return FrontOf(rank_); }
  // Whether so many bytes are few, and a member has boxes. If none has wanted those, this rank
  // has now.
  bool Takes(int member, int64_t bytes);
  Mailbox StartedBox(size_t owner, size_t from) const;
  void Answer(const Question& question, const std::byte* data);
  static Question QuestionIn(ConstByteSpan entry);

  const int rank_;
  const std::vector<std::byte*> areas_;
  const int64_t most_bytes_;  // of a put
  FencedMailboxes fenced_;
  std::vector<Mailbox> started_out_;  // to each member
  std::vector<Mailbox> started_in_;   // from each; empty: not open
  // Of this epoch: where answers go, by index, and what room they take, by member.
  std::vector<std::byte*> results_;
  std::vector<size_t> asked_of_;
};

template <typename Deliver, typename Fetch>
void ShortPutMailboxes::Withdraw(uint64_t start, int target, const Deliver& deliver,
                                 const Fetch& fetch) {
  const auto take = [&](int slot, uint64_t offset, ConstByteSpan bytes) {
    if (slot == static_cast<int>(Slot::kPut)) {
      deliver(offset, bytes);
    } else {
      const Question question = QuestionIn(bytes);
      fetch(offset, ByteSpan{results_[question.index], static_cast<size_t>(question.bytes)});
    }
  };
  fenced_.BoxFor(target)->Withdraw(fenced_.epoch(), take);
  started_out_[static_cast<size_t>(target)].Withdraw(start, take);
}

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_SHORT_PUT_MAILBOXES_H_
