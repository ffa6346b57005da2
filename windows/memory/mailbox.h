// Mailbox: short puts of one member to another, in memory that both map.
//
// An entry is a put that its target carries out: where the bytes belong, and the bytes. That costs
// two copies. Memory that the origin does not map costs a system call or a message.
//
// Zeroed memory is an empty mailbox. Entries bear the number of their epoch, and those of a later
// epoch lie over them: nobody empties a mailbox at the end of an epoch.

#ifndef BRIGADE_WINDOWS_MEMORY_MAILBOX_H_
#define BRIGADE_WINDOWS_MEMORY_MAILBOX_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "membuf/byte_span.h"
#include "windows/memory/cache_line.h"

namespace brigade {

// A view, of its one writer or its one reader.
class Mailbox {
 public:
  // REQUIRES: `memory` is aligned to kCacheLineBytes; `bytes` is a multiple of it, below 4 GiB.
  Mailbox(std::byte* memory, size_t bytes) : memory_(memory), room_(bytes - sizeof(Head)) {}

  // The bytes that fit into an empty mailbox, and those that an entry takes.
  size_t room() const { return room_; }
  static size_t RoomOf(size_t bytes) { return sizeof(EntryHeader) + bytes; }

  // --- the writer's ---
  // The most entries in which there is room for so many bytes more.
  size_t MostEntriesOf(uint64_t epoch, size_t bytes) const {
    const size_t left = room_ - (epoch == epoch_ ? filled_ : 0);
    return bytes <= left ? (left - bytes) / sizeof(EntryHeader) : 0;
  }
  // Where the bytes of an entry go; null: there is no room. They belong to `offset` of
  // `slot`. Epochs have rising numbers, from 1 on. REQUIRES: the reader has read all entries of
  // earlier ones.
  std::byte* Add(uint64_t epoch, int slot, uint64_t offset, size_t bytes) {
    if (epoch != epoch_) {
      epoch_ = epoch;
      filled_ = 0;
    }
    if (MostEntriesOf(epoch, bytes) == 0) return nullptr;
    std::byte* const at = entries() + filled_;
    const EntryHeader header = {slot, static_cast<uint32_t>(bytes), offset};
    std::memcpy(at, &header, sizeof(header));
    filled_ += RoomOf(bytes);
    return at + sizeof(header);
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
  // Passes the entries of an epoch to `reader`(slot, offset, ConstByteSpan), in the order in which
  // they were sent. REQUIRES: the writer sends no more in that epoch.
  template <typename Reader>
  void Read(uint64_t epoch, const Reader& reader) const {
    if (head()->epoch.load(std::memory_order_acquire) != epoch) return;
    const size_t filled = head()->filled.load(std::memory_order_relaxed);
    for (size_t at = 0; at < filled;) {
      EntryHeader header;
      std::memcpy(&header, entries() + at, sizeof(header));
      at += sizeof(header);
      reader(header.slot, header.offset, ConstByteSpan{entries() + at, header.bytes});
      at += header.bytes;
    }
  }
  // From here on there is nothing to withdraw.
  void Clear() { head()->epoch.store(0, std::memory_order_release); }

 private:
  struct Head {
    std::atomic<uint64_t> epoch;   // that entries were last sent in
    std::atomic<uint64_t> filled;  // up to where, in that
  };
  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");
  struct EntryHeader {
    int32_t slot;
    uint32_t bytes;
    uint64_t offset;
  };

  Head* head() const { return reinterpret_cast<Head*>(memory_); }
  std::byte* entries() const { return memory_ + sizeof(Head); }

  std::byte* memory_;
  size_t room_;
  // The writer's.
  uint64_t epoch_ = 0;
  size_t filled_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_MAILBOX_H_
