#include "windows/memory/letters.h"

#include <algorithm>

#include "membuf/byte_span.h"
#include "membuf/copy_bytes.h"
#include "membuf/rules.h"
#include "windows/layout/layout_copy.h"

namespace brigade {
namespace {

constexpr int kMostMembers = 64;
constexpr size_t kBoxesOfEach = 3;  // two between fences, and one from start to complete

size_t BoxBytes(size_t members) {
  return rules::kLetterBytesOfWindow / (kBoxesOfEach * members) / LetterBox::kLine *
         LetterBox::kLine;
}

// A letter for each run of the target's. False: there is no room for all of them.
bool AddAll(LetterBox* box, uint64_t epoch, LayoutCursor* from, const std::byte* origin,
            int64_t bytes, LayoutCursor* to, int64_t offset) {
  if (!box->MayTake(epoch, static_cast<size_t>(bytes))) return false;
  for (int64_t left = bytes; left > 0;) {
    const Runs runs = to->Next();
    const int64_t now = std::min(left, runs.bytes);
    std::byte* const at =
        box->Add(epoch, 0, static_cast<uint64_t>(offset + runs.offset), static_cast<size_t>(now));
    if (at == nullptr) {
      box->TakeBack();
      return false;
    }
    Gather(from, origin, now, at);
    to->Skip(now);
    left -= now;
  }
  return true;
}

auto Into(std::byte* memory) {
  return [memory](int /*slot*/, uint64_t offset, ConstByteSpan bytes) {
    CopyBytes(memory + offset, bytes.data, bytes.bytes);
  };
}

}  // namespace

size_t Letters::WallBytes(int members) {
  if (members < 2 || members > kMostMembers) return 0;
  const auto all = static_cast<size_t>(members);
  return FencedLetters::WallBytes(members, BoxBytes(all)) + all * BoxBytes(all);
}

Letters::Letters(int rank, const std::vector<std::byte*>& walls)
    : fenced_(rank, walls, BoxBytes(walls.size())) {
  const size_t box_bytes = BoxBytes(walls.size());
  const size_t before = FencedLetters::WallBytes(static_cast<int>(walls.size()), box_bytes);
  const auto own = static_cast<size_t>(rank);
  for (size_t member = 0; member < walls.size(); ++member) {
    started_out_.emplace_back(walls[member] + before + own * box_bytes, box_bytes);
    started_in_.emplace_back(walls[own] + before + member * box_bytes, box_bytes);
  }
}

bool Letters::PutFenced(int target, LayoutCursor* from, const std::byte* origin, int64_t bytes,
                        LayoutCursor* to, int64_t offset) {
  LetterBox* const box = fenced_.BoxFor(target);
  if (!AddAll(box, fenced_.epoch(), from, origin, bytes, to, offset)) return false;
  fenced_.Send(box);
  return true;
}

bool Letters::PutStarted(uint64_t start, int target, LayoutCursor* from, const std::byte* origin,
                         int64_t bytes, LayoutCursor* to, int64_t offset) {
  LetterBox* const box = &started_out_[static_cast<size_t>(target)];
  if (!AddAll(box, start, from, origin, bytes, to, offset)) return false;
  box->Send();
  return true;
}

void Letters::EndFence(std::byte* memory) { fenced_.Read(Into(memory)); }

void Letters::EndStart(uint64_t start, int origin, std::byte* memory) {
  LetterBox& box = started_in_[static_cast<size_t>(origin)];
  box.Read(start, Into(memory));
  box.Clear();
}

}  // namespace brigade
