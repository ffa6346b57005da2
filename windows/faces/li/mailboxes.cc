#include "windows/faces/li/mailboxes.h"

#include <algorithm>
#include <cstring>

#include "membuf/rules.h"
#include "transport/host/host.h"

namespace brigade {
namespace li {
namespace {

constexpr int kMostProcesses = 64;

}  // namespace

size_t Mailboxes::HalfFor(int processes) {
  return std::min(rules::kMostHalfBoxBytes,
                  rules::kMostBoxesBytes / (2 * static_cast<size_t>(processes)) / kLine * kLine);
}

Mailboxes::Mailboxes(std::unique_ptr<Window> window)
    : window_(std::move(window)),
      half_bytes_(HalfFor(window_->size())),
      filled_in_(static_cast<size_t>(window_->size())),
      read_by_(filled_in_.size()) {}

Mailboxes::Half* Mailboxes::HalfOf(int process, int from, size_t turn) const {
  return reinterpret_cast<Half*>(window_->PointerTo(process) + sizeof(Wall) +
                                 (2 * static_cast<size_t>(from) + turn) * half_bytes_);
}

Status Mailboxes::Create(WindowSpace* space, Bootstrap* bootstrap,
                         std::unique_ptr<Mailboxes>* mailboxes) {
  const int processes = bootstrap->size();
  if (processes == 1 || processes > kMostProcesses) return Status();
  const Host here = Host::Here();
  std::vector<Host> hosts(static_cast<size_t>(processes));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&here, sizeof(here), hosts.data()));
  for (const Host& host : hosts) {
    if (!(host == hosts[0])) return Status();
  }
  WindowOptions options;
  options.kind = WindowMemory::kShared;
  options.bytes = sizeof(Wall) + 2 * static_cast<size_t>(processes) * HalfFor(processes);
  std::unique_ptr<Window> window;
  const Status status = Window::Create(space, bootstrap, options, &window);
  // One can do without them.
  if (status.code() == StatusCode::kOutOfMemory) return Status();
  BRIGADE_RETURN_IF_ERROR(status);
  if (!window->is_direct()) return window->Free();
  mailboxes->reset(new Mailboxes(std::move(window)));
  return Status();
}

bool Mailboxes::Put(int process, int slot, size_t offset, const std::byte* source, size_t bytes) {
  size_t& filled = filled_in_[static_cast<size_t>(process)];
  if (bytes > rules::kMostLetterBytes ||
      sizeof(Envelope) + bytes > half_bytes_ - sizeof(Half) - filled) {
    return false;
  }
  Half* const half = HalfOf(process, window_->rank(), turn());
  const Envelope envelope = {slot, static_cast<uint32_t>(bytes), offset};
  std::memcpy(half->letters() + filled, &envelope, sizeof(envelope));
  std::memcpy(half->letters() + filled + sizeof(envelope), source, bytes);
  filled += sizeof(envelope) + bytes;
  half->filled.store(filled, std::memory_order_relaxed);
  half->superstep.store(superstep_, std::memory_order_release);
  if (!has_written_) {
    has_written_ = true;
    std::atomic<uint64_t>& written = WallOf(0)->written[turn()];
    // Of many writers one suffices.
    if (written.load(std::memory_order_relaxed) != superstep_) {
      written.store(superstep_, std::memory_order_release);
    }
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
  for (int process = 0; process < window_->size(); ++process) {
    Half* const half = HalfOf(window_->rank(), process, ended);
    if (half->superstep.load(std::memory_order_acquire) != superstep) continue;
    const size_t filled = half->filled.load(std::memory_order_relaxed);
    for (size_t at = 0; at < filled;) {
      Envelope envelope;
      std::memcpy(&envelope, half->letters() + at, sizeof(envelope));
      at += sizeof(envelope);
      reader(envelope.slot, static_cast<size_t>(envelope.offset),
             {half->letters() + at, envelope.bytes});
      at += envelope.bytes;
    }
  }
  WallOf(window_->rank())->read.store(superstep, std::memory_order_release);
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
