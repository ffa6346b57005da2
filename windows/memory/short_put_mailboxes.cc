#include "windows/memory/short_put_mailboxes.h"

#include <algorithm>
#include <cstring>

#include "membuf/byte_span.h"
#include "membuf/check.h"
#include "membuf/copy_bytes.h"
#include "windows/layout/layout_copy.h"
#include "windows/memory/member_page.h"
#include "windows/rules.h"

namespace brigade {
namespace {

constexpr size_t kBoxesOfEach = 3;  // two between fences, and one from start to complete

size_t BoxBytes(size_t members) {
  return rules::kMailboxBytesOfWindow / (kBoxesOfEach * members) / kCacheLineBytes *
         kCacheLineBytes;
}

std::vector<std::byte*> Behind(size_t bytes, std::vector<std::byte*> areas) {
  for (std::byte*& area : areas) area += bytes;
  return areas;
}

// Whether so many bytes are in so many runs at most.
bool IsWithin(size_t most_runs, LayoutCursor* cursor, int64_t bytes) {
  const int64_t begin = cursor->position();
  int64_t runs_left = static_cast<int64_t>(most_runs);
  for (int64_t left = bytes; runs_left >= 0;) {
    const Runs runs = cursor->Next();
    const int64_t now = std::min(left, runs.count * runs.bytes);
    runs_left -= (now + runs.bytes - 1) / runs.bytes;
    left -= now;
    if (left == 0) break;
    cursor->Skip(now);
  }
  if (cursor->position() != begin) cursor->Seek(begin);
  return runs_left >= 0;
}

// Adds an entry for each run of the target's. False: there is no room for all of them.
bool AddAll(Mailbox* box, uint64_t epoch, LayoutCursor* from, const std::byte* origin,
            int64_t bytes, LayoutCursor* to, int64_t offset) {
  const size_t most = box->MostEntriesOf(epoch, static_cast<size_t>(bytes));
  if (most == 0 || !IsWithin(most, to, bytes)) return false;
  for (int64_t left = bytes; left > 0;) {
    const Runs runs = to->Next();
    const int64_t now = std::min(left, runs.bytes);
    Gather(
        from, origin, now,
        box->Add(epoch, 0, static_cast<uint64_t>(offset + runs.offset), static_cast<size_t>(now)));
    to->Skip(now);
    left -= now;
  }
  return true;
}

}  // namespace

MailboxSize ShortPutMailboxes::SizeOfArea(int members) {
  static_assert(FencedMailboxes::kMostMembers <= MemberPage::kMaxFlagPeers,
                "epochs with mailboxes are counted by flags");
  if (members < 2 || members > FencedMailboxes::kMostMembers) return MailboxSize();
  const auto all = static_cast<size_t>(members);
  return {sizeof(Front) + FencedMailboxes::FrontBytes(), kBoxesOfEach * all * BoxBytes(all)};
}

ShortPutMailboxes::ShortPutMailboxes(int rank, const std::vector<std::byte*>& areas)
    : rank_(rank),
      areas_(areas),
      most_bytes_(static_cast<int64_t>(BoxBytes(areas.size()) / rules::kMailboxShare)),
      fenced_(rank, Behind(sizeof(Front), areas), BoxBytes(areas.size())),
      asked_of_(areas.size()) {
  for (size_t member = 0; member < areas.size(); ++member) {
    started_out_.push_back(StartedBox(member, static_cast<size_t>(rank)));
  }
}

Mailbox ShortPutMailboxes::StartedBox(size_t owner, size_t from) const {
  const size_t box_bytes = BoxBytes(areas_.size());
  const size_t before =
      sizeof(Front) + FencedMailboxes::AreaBytes(static_cast<int>(areas_.size()), box_bytes);
  return Mailbox(areas_[owner] + before + from * box_bytes, box_bytes);
}

void ShortPutMailboxes::OpenBoxes(bool have_memory) {
  if (have_memory) {
    fenced_.OpenBoxes();
    for (size_t member = 0; member < areas_.size(); ++member) {
      started_in_.push_back(StartedBox(static_cast<size_t>(rank_), member));
    }
  }
  own_front()->boxes.store(have_memory ? Boxes::kThere : Boxes::kRefused,
                           std::memory_order_release);
}

bool ShortPutMailboxes::Takes(int member, int64_t bytes) {
  if (bytes > most_bytes_) return false;
  std::atomic<Boxes>& boxes = FrontOf(member)->boxes;
  Boxes now = boxes.load(std::memory_order_acquire);
  if (now == Boxes::kNone) {
    boxes.compare_exchange_strong(now, Boxes::kWanted, std::memory_order_acquire);
  }
  return now == Boxes::kThere;
}

bool ShortPutMailboxes::PutFenced(int target, LayoutCursor* from, const std::byte* origin,
                                  int64_t bytes, LayoutCursor* to, int64_t offset) {
  Mailbox* const box = fenced_.BoxFor(target);
  if (!Takes(target, bytes) || !AddAll(box, fenced_.epoch(), from, origin, bytes, to, offset)) {
    return false;
  }
  fenced_.Send(box);
  return true;
}

bool ShortPutMailboxes::PutStarted(uint64_t start, int target, LayoutCursor* from,
                                   const std::byte* origin, int64_t bytes, LayoutCursor* to,
                                   int64_t offset) {
  Mailbox* const box = &started_out_[static_cast<size_t>(target)];
  if (!Takes(target, bytes) || !AddAll(box, start, from, origin, bytes, to, offset)) return false;
  box->Send();
  return true;
}

bool ShortPutMailboxes::GetFenced(int target, int64_t offset, int64_t bytes, std::byte* result) {
  const bool can_be_notified = Takes(rank_, bytes);
  if (!Takes(target, bytes) || !can_be_notified) return false;
  Mailbox* const box = fenced_.BoxFor(target);
  // Which is as large as the one that the answer will lie in.
  size_t& asked = asked_of_[static_cast<size_t>(target)];
  const size_t answer = Mailbox::RoomOf(static_cast<size_t>(bytes));
  if (asked + answer > box->room()) return false;
  const Question question = {bytes, rank_, static_cast<uint32_t>(results_.size())};
  std::byte* const at = box->Add(fenced_.epoch(), static_cast<int>(Slot::kQuestion),
                                 static_cast<uint64_t>(offset), sizeof(question));
  if (at == nullptr) return false;
  std::memcpy(at, &question, sizeof(question));
  fenced_.Send(box);
  asked += answer;
  results_.push_back(result);
  std::atomic<uint64_t>& epoch = FrontOf(0)->asked[fenced_.epoch() % 2];
  if (epoch.load(std::memory_order_relaxed) != fenced_.epoch()) {
    epoch.store(fenced_.epoch(), std::memory_order_release);
  }
  return true;
}

ShortPutMailboxes::Question ShortPutMailboxes::QuestionIn(ConstByteSpan entry) {
  Question question;
  std::memcpy(&question, entry.data, sizeof(question));
  return question;
}

// No member puts anything into the boxes of an epoch that has only begun, and the asking one has
// left room.
void ShortPutMailboxes::Answer(const Question& question, const std::byte* data) {
  Mailbox* const box = fenced_.BoxFor(question.from);
  const auto bytes = static_cast<size_t>(question.bytes);
  std::byte* const at =
      box->Add(fenced_.epoch(), static_cast<int>(Slot::kAnswer), question.index, bytes);
  BRIGADE_CHECK(at != nullptr);
  CopyBytes(at, data, bytes);
  fenced_.Send(box);
}

bool ShortPutMailboxes::EndFence(std::byte* memory) {
  const uint64_t epoch = fenced_.epoch();
  fenced_.Read([&](int slot, uint64_t offset, ConstByteSpan bytes) {
    switch (static_cast<Slot>(slot)) {
      case Slot::kPut:
        CopyBytes(memory + offset, bytes.data, bytes.bytes);
        break;
      case Slot::kQuestion:
        Answer(QuestionIn(bytes), memory + offset);
        break;
      case Slot::kAnswer:
        CopyBytes(results_[offset], bytes.data, bytes.bytes);
        break;
    }
  });
  const bool was_asked = FrontOf(0)->asked[epoch % 2].load(std::memory_order_acquire) == epoch;
  if (!was_asked && !results_.empty()) {
    results_.clear();
    std::fill(asked_of_.begin(), asked_of_.end(), 0);
  }
  return was_asked;
}

void ShortPutMailboxes::EndStart(uint64_t start, int origin, std::byte* memory) {
  if (started_in_.empty()) return;
  Mailbox& box = started_in_[static_cast<size_t>(origin)];
  box.Read(start, [&](int /*slot*/, uint64_t offset, ConstByteSpan bytes) {
    CopyBytes(memory + offset, bytes.data, bytes.bytes);
  });
  box.Clear();
}

}  // namespace brigade
