#include "windows/memory/fenced_mailboxes.h"

#include <utility>

namespace brigade {

FencedMailboxes::FencedMailboxes(int rank, std::vector<std::byte*> areas, size_t box_bytes)
    : rank_(rank), areas_(std::move(areas)), box_bytes_(box_bytes), read_by_(areas_.size()) {
  for (size_t member = 0; member < areas_.size(); ++member) {
    for (size_t turn = 0; turn < 2; ++turn) {
      out_.push_back(Box(member, static_cast<size_t>(rank), turn));
    }
  }
}

Mailbox FencedMailboxes::Box(size_t owner, size_t from, size_t turn) const {
  return Mailbox(areas_[owner] + FrontBytes() + (2 * from + turn) * box_bytes_, box_bytes_);
}

void FencedMailboxes::OpenBoxes() {
  for (size_t member = 0; member < areas_.size(); ++member) {
    for (size_t turn = 0; turn < 2; ++turn) {
      in_.push_back(Box(static_cast<size_t>(rank_), member, turn));
    }
  }
}

void FencedMailboxes::Send(Mailbox* box) {
  box->Send();
  if (has_written_) return;
  has_written_ = true;
  std::atomic<uint64_t>& written = AreaOf(0)->written[turn()];
  // Of many writers one suffices.
  if (written.load(std::memory_order_relaxed) != epoch_) {
    written.store(epoch_, std::memory_order_release);
  }
}

bool FencedMailboxes::HasRead(int member) {
  uint64_t& read_by = read_by_[static_cast<size_t>(member)];
  if (read_by < last_written_) read_by = AreaOf(member)->read.load(std::memory_order_acquire);
  return read_by >= last_written_;
}

}  // namespace brigade
