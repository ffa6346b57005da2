#include "transport/host_memory/shared_segment.h"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "membuf/available_memory.h"
#include "membuf/check.h"

namespace brigade {
namespace {

const uint64_t kPageBytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
// Address space set aside per segment: more than a rank will ever fill, and little enough for a
// thousand ranks to map each other.
constexpr uint64_t kMostReserveBytes = uint64_t{64} << 30;
constexpr uint64_t kReserveUnderLimitBytes = uint64_t{1} << 30;  // where address space is limited

// At the start of every segment.
struct Front {
  uint64_t token[2];
};

std::string ErrorText(const char* call) { return std::string(call) + ": " + std::strerror(errno); }

uint64_t RoundToPages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

Status OutOfMemory(uint64_t bytes, const std::string& why) {
  return Status(StatusCode::kOutOfMemory,
                std::to_string(bytes) + " bytes of shared memory: " + why);
}

uint64_t ReserveBytes() {
  const uint64_t memory = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPageBytes;
  uint64_t reserve = std::min(std::max(memory, kReserveUnderLimitBytes), kMostReserveBytes);
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    reserve = kReserveUnderLimitBytes;
  }
  return reserve;
}

// The segments that this process has made or opened. A forked child has opened none of them.
using Key = std::tuple<pid_t, uint64_t, uint64_t>;
std::mutex segments_mutex;
std::map<Key, std::weak_ptr<SharedSegment>>& Segments() {
  static auto& segments = *new std::map<Key, std::weak_ptr<SharedSegment>>;
  return segments;
}
Key KeyOf(const SharedSegment::Address& address) {
  return {getpid(), address.token[0], address.token[1]};
}

}  // namespace

void SharedSegment::LockForFork() { segments_mutex.lock(); }

void SharedSegment::UnlockAfterFork() { segments_mutex.unlock(); }

Status SharedSegment::Create(std::shared_ptr<SharedSegment>* segment) {
  return Create(ReserveBytes(), segment);
}

Status SharedSegment::CreateFor(size_t bytes, std::shared_ptr<SharedSegment>* segment) {
  // No machine has more address space than that, and sums do not wrap.
  return Create(RoundToPages(sizeof(Front)) + RoundToPages(std::min(bytes, size_t{1} << 62)),
                segment);
}

Status SharedSegment::Create(uint64_t reserve_bytes, std::shared_ptr<SharedSegment>* segment) {
  // To allocate beyond the longest file that the process may write is a signal, not an error.
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < reserve_bytes) {
    reserve_bytes = limit.rlim_cur / kPageBytes * kPageBytes;
  }
  Address address;
  if (getrandom(address.token, sizeof(address.token), 0) != sizeof(address.token)) {
    return Status(StatusCode::kUnavailable, ErrorText("getrandom"));
  }
  const int fd = memfd_create("brigade", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return Status(StatusCode::kUnavailable, ErrorText("memfd_create"));
  address.process = getpid();
  address.descriptor = fd;
  address.reserve_bytes = reserve_bytes;
  std::shared_ptr<SharedSegment> created(new SharedSegment(fd, address));
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    return Status(StatusCode::kUnavailable, ErrorText("memfd_create"));
  }
  BRIGADE_RETURN_IF_ERROR(created->Map());
  uint64_t front = 0;
  BRIGADE_RETURN_IF_ERROR(created->Allocate(sizeof(Front), &front));
  std::memcpy(created->base_, address.token, sizeof(address.token));
  {
    std::lock_guard<std::mutex> lock(segments_mutex);
    Segments()[KeyOf(address)] = created;
  }
  *segment = std::move(created);
  return Status();
}

Status SharedSegment::Open(const Address& address, std::shared_ptr<SharedSegment>* segment) {
  segment->reset();  // before the lock, which the end of another segment takes, too
  {
    std::lock_guard<std::mutex> lock(segments_mutex);
    const auto known = Segments().find(KeyOf(address));
    if (known != Segments().end()) *segment = known->second.lock();
    if (*segment != nullptr) return Status();
  }
  const std::string path =
      "/proc/" + std::to_string(address.process) + "/fd/" + std::to_string(address.descriptor);
  const auto unavailable = [&](const std::string& what) {
    return Status(StatusCode::kUnavailable,
                  "the shared memory of process " + std::to_string(address.process) + ": " + what);
  };
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return unavailable(ErrorText(("open " + path).c_str()));
  std::shared_ptr<SharedSegment> opened(new SharedSegment(fd, address));
  struct stat info;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &info) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
      info.st_uid != geteuid() || (info.st_mode & (S_IRWXG | S_IRWXO)) != 0 ||
      info.st_size < static_cast<off_t>(sizeof(Front)) ||
      address.reserve_bytes < static_cast<uint64_t>(info.st_size)) {
    return unavailable(path + " is something else");
  }
  BRIGADE_RETURN_IF_ERROR(opened->Map());
  if (std::memcmp(opened->base_, address.token, sizeof(address.token)) != 0) {
    return unavailable(path + " has another token");
  }
  if (address.reserve_bytes == static_cast<uint64_t>(info.st_size)) {
    opened->known_bytes_ = address.reserve_bytes;
    close(std::exchange(opened->fd_, -1));
  }
  std::lock_guard<std::mutex> lock(segments_mutex);
  std::weak_ptr<SharedSegment>& known = Segments()[KeyOf(address)];
  *segment = known.lock();  // of another thread, meanwhile
  if (*segment == nullptr) known = *segment = opened;
  return Status();
}

Status SharedSegment::Map() {
  void* base = mmap(nullptr, address_.reserve_bytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_NORESERVE, fd_, 0);
  if (base == MAP_FAILED) {
    return Status(StatusCode::kOutOfMemory,
                  "address space for shared memory: " + ErrorText("mmap"));
  }
  base_ = static_cast<std::byte*>(base);
  madvise(base, address_.reserve_bytes, MADV_DONTDUMP);  // it would be in every rank's core file
  return Status();
}

SharedSegment::~SharedSegment() {
  {
    std::lock_guard<std::mutex> lock(segments_mutex);
    const auto known = Segments().find(KeyOf(address_));
    if (known != Segments().end() && known->second.expired()) Segments().erase(known);
  }
  if (base_ != nullptr) munmap(base_, address_.reserve_bytes);
  if (fd_ >= 0) close(fd_);
}

std::byte* SharedSegment::At(uint64_t offset, size_t bytes) {
  if (bytes > address_.reserve_bytes || offset > address_.reserve_bytes - bytes) return nullptr;
  if (offset + bytes > known_bytes_.load(std::memory_order_relaxed)) {
    struct stat info;
    if (fstat(fd_, &info) != 0) return nullptr;
    const auto file_bytes = static_cast<uint64_t>(info.st_size);
    known_bytes_.store(file_bytes, std::memory_order_relaxed);
    if (offset + bytes > file_bytes) return nullptr;
  }
  return base_ + offset;
}

// Some kernels (Linux 6.1) undo a call that a signal interrupts. The timer of a profiler would
// interrupt a long call for ever, so shorter ones are tried.
bool SharedSegment::Fill(uint64_t offset, uint64_t bytes, const IsAvailable& is_available) {
  constexpr uint64_t kBetweenLooks = uint64_t{64} << 20;
  uint64_t looked_at = 0;
  uint64_t step = is_available == nullptr ? bytes : kBetweenLooks;
  for (uint64_t done = 0; done < bytes;) {
    if (done - looked_at >= kBetweenLooks && is_available != nullptr) {
      looked_at = done;
      if (!is_available(bytes - done)) {
        MakeHole(offset, done);
        errno = ENOMEM;
        return false;
      }
    }
    step = std::min(step, bytes - done);
    // The file grows with the last of them.
    const int mode = done + step < bytes ? FALLOC_FL_KEEP_SIZE : 0;
    if (fallocate(fd_, mode, static_cast<off_t>(offset + done), static_cast<off_t>(step)) == 0) {
      done += step;
    } else if (errno == EINTR) {
      step = RoundToPages(step / 2);
    } else {
      const int why = errno;
      if (done > 0) MakeHole(offset, done);
      errno = why;
      return false;
    }
  }
  return true;
}

Status SharedSegment::AllocateAt(uint64_t offset, size_t bytes, const IsAvailable& is_available) {
  const uint64_t wanted = RoundToPages(bytes);
  // The system ends processes instead of failing an allocation. Callers without `is_available` take
  // little at a time.
  thread_local AvailableShare share;
  if (is_available == nullptr && !share.Take(wanted)) {
    return OutOfMemory(wanted, "that is more than the system, or a control group, has left");
  }
  if (!Fill(offset, wanted, is_available)) return OutOfMemory(wanted, ErrorText("fallocate"));
  allocated_bytes_ += wanted;
  return Status();
}

Status SharedSegment::Allocate(size_t bytes, uint64_t* offset, const IsAvailable& is_available) {
  const uint64_t wanted = RoundToPages(bytes);
  std::vector<uint64_t>& reusable = free_[wanted];
  const uint64_t at = reusable.empty() ? end_ : reusable.back();
  BRIGADE_RETURN_IF_ERROR(CheckFits(reusable.empty() ? wanted : 0));
  BRIGADE_RETURN_IF_ERROR(AllocateAt(at, bytes, is_available));
  if (reusable.empty()) {
    end_ += wanted;
  } else {
    reusable.pop_back();
  }
  *offset = at;
  return Status();
}

Status SharedSegment::AllocateForUser(size_t bytes, uint64_t* offset,
                                      const IsAvailable& is_available, bool overcommits) {
  if (!overcommits) return Allocate(bytes, offset, is_available);
  // Both a place behind all others and one that was freed are holes, which read as zeros.
  std::vector<uint64_t>& reusable = free_[RoundToPages(bytes)];
  if (reusable.empty()) {
    BRIGADE_RETURN_IF_ERROR(AllocateLater(bytes, offset));
  } else {
    *offset = reusable.back();
    reusable.pop_back();
  }
  allocated_bytes_ += RoundToPages(bytes);
  return Status();
}

Status SharedSegment::AllocateLater(size_t bytes, uint64_t* offset) {
  const uint64_t wanted = RoundToPages(bytes);
  BRIGADE_RETURN_IF_ERROR(CheckFits(wanted));
  if (ftruncate(fd_, static_cast<off_t>(end_ + wanted)) != 0) {
    return OutOfMemory(wanted, ErrorText("ftruncate"));
  }
  *offset = end_;
  end_ += wanted;
  return Status();
}

Status SharedSegment::CheckFits(uint64_t bytes) const {
  if (bytes <= address_.reserve_bytes - end_) return Status();
  return OutOfMemory(bytes, "this rank's shared memory is at its limit of " +
                                std::to_string(address_.reserve_bytes) + " bytes");
}

void SharedSegment::Free(uint64_t offset, size_t bytes) {
  if (address_.process != getpid()) return;  // a forked child's copy of its owner
  const uint64_t freed = RoundToPages(bytes);
  MakeHole(offset, freed);
  allocated_bytes_ -= freed;
  free_[freed].push_back(offset);
}

// A hole reads as zeros, as Allocate guarantees. An MPI that has registered pages with its network
// reuses the registration for the next message from these addresses, unless it intercepts the
// removal, as it does for madvise. Locked memory can only be removed by fallocate.
void SharedSegment::MakeHole(uint64_t offset, uint64_t bytes) {
  if (madvise(base_ + offset, bytes, MADV_REMOVE) == 0) return;
  BRIGADE_CHECK_EQ(fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                             static_cast<off_t>(offset), static_cast<off_t>(bytes)),
                   0);
}

}  // namespace brigade
