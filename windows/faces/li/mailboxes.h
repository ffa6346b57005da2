// Mailboxes: short puts between processes of one host, which their targets carry out themselves.
//
// Each process has a box for each other one, in shared memory. A put is a letter in the target's
// box: where the bytes belong, and the bytes. That costs two copies, where memory that the origin
// does not see costs a system call or a message. Letters are read when the superstep has ended.
//
// A box has two halves, used in turn: nobody writes to a half again before its owner has read it
// and met the others.

#ifndef BRIGADE_WINDOWS_FACES_LI_MAILBOXES_H_
#define BRIGADE_WINDOWS_FACES_LI_MAILBOXES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace li {

class Mailboxes {
 public:
  using Reader = std::function<void(int slot, size_t offset, ConstByteSpan bytes)>;

  // Collective. Null where the processes are alone, many, or of several hosts.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap,
                       std::unique_ptr<Mailboxes>* mailboxes);
  // Collective.
  Status Free() { return window_->Free(); }

  // Takes the bytes and says yes, unless they are many or the box is full.
  bool Put(int process, int slot, size_t offset, const std::byte* source, size_t bytes);
  // All have met behind their last puts: a superstep is over. Passes on the letters to this
  // process.
  void Read(const Reader& reader);
  // Until a process has read its letters of past supersteps. Before its memory is reached
  // otherwise.
  Status AwaitReading(int process);

 private:
  static constexpr size_t kLine = 64;
  static constexpr size_t kPage = 4096;
  struct Envelope {
    int32_t slot;
    uint32_t bytes;
    uint64_t offset;
  };
  // Letters follow.
  struct Half {
    std::atomic<uint64_t> superstep;  // that it was last written in, so that nobody need empty it
    std::atomic<uint64_t> filled;     // up to where, in that
    std::byte* letters() { return reinterpret_cast<std::byte*>(this + 1); }
  };
  // The memory of a process; its boxes follow.
  struct alignas(kPage) Wall {
    // Of process 0, for all: by turn, the last superstep with letters to anybody.
    alignas(kLine) std::atomic<uint64_t> written[2];
    // The last one with letters to anybody whose letters this process has read.
    alignas(kLine) std::atomic<uint64_t> read;
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");

  explicit Mailboxes(std::unique_ptr<Window> window);
  // In bytes. The same for all.
  static size_t HalfFor(int processes);
  Wall* WallOf(int process) const { return reinterpret_cast<Wall*>(window_->PointerTo(process)); }
  // Where `from` writes to `process`.
  Half* HalfOf(int process, int from, size_t turn) const;
  size_t turn() const { return superstep_ % 2; }

  const std::unique_ptr<Window> window_;
  const size_t half_bytes_;
  uint64_t superstep_ = 1;
  uint64_t last_written_ = 0;      // the last past superstep with letters to anybody
  bool has_written_ = false;       // in this superstep
  std::vector<size_t> filled_in_;  // by process, in this superstep
  std::vector<uint64_t> read_by_;  // by process: as far as it is known to have read
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_WINDOWS_FACES_LI_MAILBOXES_H_
