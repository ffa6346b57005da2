// LetterBox: where one member leaves letters for another, in memory that both map.
//
// A letter is a put that its target carries out: where the bytes belong, and the bytes. That costs
// two copies, where memory that the origin does not see costs a system call or a message.
//
// Zeroed memory is an empty box. Nobody empties it: letters bear the number of their epoch, and
// those of a later one lie over them.

#ifndef BRIGADE_WINDOWS_MEMORY_LETTER_BOX_H_
#define BRIGADE_WINDOWS_MEMORY_LETTER_BOX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "windows/memory/cache_line.h"

namespace brigade {

// A view, of its one writer or its one reader.
class LetterBox {
 public:
  // REQUIRES: `memory` is aligned to kLineBytes; `bytes` is a multiple of it, below 4 GiB.
  LetterBox(std::byte* memory, size_t bytes) : memory_(memory), room_(bytes - sizeof(Head)) {}

  // What fits into an empty one, and what a letter of so many bytes takes of it.
  size_t room() const { return room_; }
  static size_t RoomOf(size_t bytes) { return sizeof(Envelope) + bytes; }

  // --- the writer's ---
  // In how many letters, at most, there is room for so many bytes more.
  size_t MostLettersOf(uint64_t epoch, size_t bytes) const {
    const size_t left = room_ - (epoch == epoch_ ? filled_ : 0);
    return bytes <= left ? (left - bytes) / sizeof(Envelope) : 0;
  }
  // Where the bytes of a letter go; null: there is no room. `slot` and `offset` say where they
  // belong. Epochs have rising numbers, from 1 on. REQUIRES: the reader has read all letters of
  // earlier ones.
  std::byte* Add(uint64_t epoch, int slot, uint64_t offset, size_t bytes) {
    if (epoch != epoch_) {
      epoch_ = epoch;
      filled_ = 0;
    }
    if (MostLettersOf(epoch, bytes) == 0) return nullptr;
    std::byte* const at = letters() + filled_;
    const Envelope envelope = {slot, static_cast<uint32_t>(bytes), offset};
    std::memcpy(at, &envelope, sizeof(envelope));
    filled_ += RoomOf(bytes);
    return at + sizeof(envelope);
  }
  // The reader may see what was added.
  void Send() {
    head()->filled.store(filled_, std::memory_order_relaxed);
    head()->epoch.store(epoch_, std::memory_order_release);
  }

  // Passes what was sent in this epoch to `deliver`, as Read does, and takes it back.
  template <typename Deliver>
  void Withdraw(uint64_t epoch, const Deliver& deliver) {
    if (epoch != epoch_ || filled_ == 0) return;
    Read(epoch, deliver);
    filled_ = 0;
    Send();
  }

  // --- the reader's ---
  // Passes the letters of an epoch to `reader`(slot, offset, ConstByteSpan), in the order in which
  // they were sent. REQUIRES: the writer sends no more in that epoch.
  template <typename Reader>
  void Read(uint64_t epoch, const Reader& reader) const {
    if (head()->epoch.load(std::memory_order_acquire) != epoch) return;
    const size_t filled = head()->filled.load(std::memory_order_relaxed);
    for (size_t at = 0; at < filled;) {
      Envelope envelope;
      std::memcpy(&envelope, letters() + at, sizeof(envelope));
      at += sizeof(envelope);
      reader(envelope.slot, envelope.offset, ConstByteSpan{letters() + at, envelope.bytes});
      at += envelope.bytes;
    }
  }
  // From here on there is nothing to withdraw.
  void Clear() { head()->epoch.store(0, std::memory_order_release); }

 private:
  struct Head {
    std::atomic<uint64_t> epoch;   // that letters were last sent in
    std::atomic<uint64_t> filled;  // up to where, in that
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");
  struct Envelope {
    int32_t slot;
    uint32_t bytes;
    uint64_t offset;
  };

  Head* head() const { return reinterpret_cast<Head*>(memory_); }
  std::byte* letters() const { return memory_ + sizeof(Head); }

  std::byte* memory_;
  size_t room_;
  // The writer's.
  uint64_t epoch_ = 0;
  size_t filled_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_LETTER_BOX_H_
