#include "windows/faces/li/mailboxes.h"

#include <algorithm>
#include <cstring>

namespace brigade {
namespace li {
namespace {

// Letters stay aligned.
size_t RoundedUp(size_t bytes) { return (bytes + sizeof(uint64_t) - 1) & ~(sizeof(uint64_t) - 1); }

}  // namespace

Mailboxes::Mailboxes(std::unique_ptr<Window> window)
    : window_(std::move(window)),
      filled_in_(static_cast<size_t>(window_->size())),
      read_by_(filled_in_.size()) {}

Status Mailboxes::Create(WindowSpace* space, Bootstrap* bootstrap, bool goes_directly,
                         std::unique_ptr<Mailboxes>* mailboxes) {
  WindowOptions options;
  options.kind = WindowMemory::kShared;
  options.bytes = sizeof(Wall) + static_cast<size_t>(bootstrap->size()) * sizeof(Box);
  options.goes_directly = goes_directly;
  std::unique_ptr<Window> window;
  const Status status = Window::Create(space, bootstrap, options, &window);
  // One can do without them.
  if (status.code() == StatusCode::kOutOfMemory) return Status();
  BRIGADE_RETURN_IF_ERROR(status);
  if (!window->is_direct() || window->size() == 1) return window->Free();
  mailboxes->reset(new Mailboxes(std::move(window)));
  return Status();
}

bool Mailboxes::Put(int process, int slot, size_t offset, const std::byte* source, size_t bytes) {
  size_t& filled = filled_in_[static_cast<size_t>(process)];
  if (sizeof(Letter) + bytes > sizeof(Half::letters) - filled) return false;
  Half& half = WallOf(process)->boxes()[window_->rank()].halves[turn()];
  const Letter letter = {slot, static_cast<uint32_t>(bytes), offset};
  std::memcpy(half.letters + filled, &letter, sizeof(letter));
  std::memcpy(half.letters + filled + sizeof(letter), source, bytes);
  filled = std::min(filled + sizeof(letter) + RoundedUp(bytes), sizeof(Half::letters));
  half.filled.store(filled, std::memory_order_relaxed);
  half.superstep.store(superstep_, std::memory_order_release);
  if (!has_written_) {
    WallOf(0)->written[turn()].store(superstep_, std::memory_order_release);
    has_written_ = true;
  }
  return true;
}

void Mailboxes::Read(const Reader& reader) {
  const size_t ended = turn();
  const uint64_t superstep = superstep_++;
  has_written_ = false;
  if (WallOf(0)->written[ended].load(std::memory_order_acquire) != superstep) return;
  last_written_ = superstep;
  std::fill(filled_in_.begin(), filled_in_.end(), 0);
  Wall* const wall = WallOf(window_->rank());
  for (int process = 0; process < window_->size(); ++process) {
    const Half& half = wall->boxes()[process].halves[ended];
    if (half.superstep.load(std::memory_order_acquire) != superstep) continue;
    const size_t filled = half.filled.load(std::memory_order_relaxed);
    for (size_t at = 0; at < filled;) {
      Letter letter;
      std::memcpy(&letter, half.letters + at, sizeof(letter));
      at += sizeof(letter);
      reader(letter.slot, static_cast<size_t>(letter.offset), {half.letters + at, letter.bytes});
      at += RoundedUp(letter.bytes);
    }
  }
  wall->read.store(superstep, std::memory_order_release);
}

Status Mailboxes::AwaitReading(int process) {
  uint64_t& read_by = read_by_[static_cast<size_t>(process)];
  if (read_by >= last_written_) return Status();
  const std::atomic<uint64_t>& read = WallOf(process)->read;
  const auto is_read = [&] { return read.load(std::memory_order_acquire) >= last_written_; };
  if (!is_read()) BRIGADE_RETURN_IF_ERROR(window_->WaitForMemory("letters to be read", is_read));
  read_by = last_written_;
  return Status();
}

}  // namespace li
}  // namespace brigade
