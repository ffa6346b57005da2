#include "windows/memory/fenced_letters.h"

#include <utility>

namespace brigade {

FencedLetters::FencedLetters(int rank, std::vector<std::byte*> walls, size_t box_bytes)
    : rank_(rank), walls_(std::move(walls)), box_bytes_(box_bytes), read_by_(walls_.size()) {
  for (size_t member = 0; member < walls_.size(); ++member) {
    for (size_t turn = 0; turn < 2; ++turn) {
      out_.push_back(Box(member, static_cast<size_t>(rank), turn));
    }
  }
}

LetterBox FencedLetters::Box(size_t owner, size_t from, size_t turn) const {
  return LetterBox(walls_[owner] + FrontBytes() + (2 * from + turn) * box_bytes_, box_bytes_);
}

void FencedLetters::OpenBoxes() {
  for (size_t member = 0; member < walls_.size(); ++member) {
    for (size_t turn = 0; turn < 2; ++turn) {
      in_.push_back(Box(static_cast<size_t>(rank_), member, turn));
    }
  }
}

void FencedLetters::Send(LetterBox* box) {
  box->Send();
  if (has_written_) return;
  has_written_ = true;
  std::atomic<uint64_t>& written = WallOf(0)->written[turn()];
  // Of many writers one suffices.
  if (written.load(std::memory_order_relaxed) != epoch_) {
    written.store(epoch_, std::memory_order_release);
  }
}

bool FencedLetters::HasRead(int member) {
  uint64_t& read_by = read_by_[static_cast<size_t>(member)];
  if (read_by < last_written_) read_by = WallOf(member)->read.load(std::memory_order_acquire);
  return read_by >= last_written_;
}

}  // namespace brigade
