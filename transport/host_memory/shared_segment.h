// SharedSegment: memory of one process that other processes map, too.
//
// An anonymous file (memfd): nothing stays if its owner is killed, and no limit of /dev/shm
// applies. It has no name that another user could take; it is opened through its owner's
// descriptor, which only processes of the same user may do (mode 0600). It grows and never shrinks
// (sealed), so valid offsets stay valid.
//
// Memory for the library is charged to the system when it is allocated: running out is an error of
// the allocation. Memory for the program is charged page by page at first touch, like ordinary
// memory: running out ends a process.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SEGMENT_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SEGMENT_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"

namespace brigade {

class SharedSegment {
 public:
  // The address by which other processes open it; sent as bytes.
  struct Address {
    pid_t process = 0;
    int descriptor = -1;
    uint64_t token[2] = {};  // random; identifies the file
    uint64_t reserve_bytes = 0;
    bool operator==(const Address& other) const {
      return process == other.process && descriptor == other.descriptor &&
             token[0] == other.token[0] && token[1] == other.token[1] &&
             reserve_bytes == other.reserve_bytes;
    }
  };

  // A new segment. kOutOfMemory, kUnavailable (no memfd).
  static Status Create(std::shared_ptr<SharedSegment>* segment);
  // Creates a segment for `bytes` in all, of whole pages except the last: it takes no more address
  // space, and no descriptor in processes that open it once all is allocated.
  static Status CreateFor(size_t bytes, std::shared_ptr<SharedSegment>* segment);
  // Opens the segment at `address`, whose owner must live until this returns. A process has one
  // object, and so one mapping, of a segment at a time. kUnavailable if it cannot be opened or is
  // not valid.
  static Status Open(const Address& address, std::shared_ptr<SharedSegment>* segment);
  // For SharedAllocations, around a fork: until UnlockAfterFork no other thread makes, opens or
  // ends a segment, so that the child can. The lock of SharedAllocations is taken before this one.
  static void LockForFork();
  static void UnlockAfterFork();
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  const Address& address() const { return address_; }
  // The mapping, valid as long as the segment; only allocated memory may be touched.
  std::byte* base() const { return base_; }
  // Whether [data, data + bytes) lies in the mapping.
  bool Contains(const std::byte* data, size_t bytes) const {
    return data >= base_ && bytes <= address_.reserve_bytes &&
           data <= base_ + (address_.reserve_bytes - bytes);
  }
  // Returns memory at an offset that another process has sent; null if it is invalid.
  std::byte* At(uint64_t offset, size_t bytes);

  // Allocates zeroed memory of whole pages, at `*offset`. Owner only, one thread at a time.
  // kOutOfMemory. `is_available`, if given, is called now and then during a large allocation: it
  // returns whether the system has `bytes` more; otherwise this is checked here. If it returns
  // false, nothing is allocated.
  using IsAvailable = std::function<bool(size_t bytes)>;
  Status Allocate(size_t bytes, uint64_t* offset, const IsAvailable& is_available = nullptr);
  // Allocates zeroed memory of whole pages for the program. Owner only, one thread at a time. If
  // the system `overcommits` (MayOvercommit), a page is charged when it is first touched, and
  // `is_available` is not called. Otherwise like Allocate. kOutOfMemory.
  Status AllocateForUser(size_t bytes, uint64_t* offset, const IsAvailable& is_available,
                         bool overcommits);
  // Reserves a place for `bytes`, of whole pages, which other processes may map. Owner only, one
  // thread at a time. It must not be touched before AllocateAt has allocated memory there.
  // kOutOfMemory: it does not fit.
  Status AllocateLater(size_t bytes, uint64_t* offset);
  Status AllocateAt(uint64_t offset, size_t bytes, const IsAvailable& is_available = nullptr);
  // Returns pages to the system. Other processes may still map them; they must not read them.
  void Free(uint64_t offset, size_t bytes);
  // Bytes that Allocate has returned and Free has not freed.
  size_t allocated_bytes() const { return allocated_bytes_; }

 private:
  SharedSegment(int descriptor, const Address& address) : fd_(descriptor), address_(address) {}
  static Status Create(uint64_t reserve_bytes, std::shared_ptr<SharedSegment>* segment);
  Status Map();
  // Returns an error if the file cannot grow by `bytes`.
  Status CheckFits(uint64_t bytes) const;
  // Allocates memory for a part of the file. False, with errno and without effect, if there is
  // none.
  bool Fill(uint64_t offset, uint64_t bytes, const IsAvailable& is_available);
  // Frees the memory of a part of the file.
  void MakeHole(uint64_t offset, uint64_t bytes);

  int fd_;  // -1: closed, for the file cannot grow
  Address address_;
  std::byte* base_ = nullptr;
  std::atomic<uint64_t> known_bytes_{0};  // of the file; threads may share an object
  uint64_t end_ = 0;                      // of all allocations so far
  size_t allocated_bytes_ = 0;
  std::map<size_t, std::vector<uint64_t>> free_;  // offsets by size
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_SHARED_SEGMENT_H_
