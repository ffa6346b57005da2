#include "transport/tcp/locked_domain.h"

#include <unistd.h>

#include <algorithm>

#include "transport/host/memory_lock.h"

namespace brigade {
namespace {

// A ring that has just been closed gives its memory back a little later.
constexpr int kTries = 5;
constexpr int kBetweenTriesMicroseconds = 10000;
// The kernel takes no longer range.
constexpr size_t kMostBytes = size_t{1} << 30;
// Less is not worth it.
constexpr size_t kLeastBytes = size_t{64} << 10;

}  // namespace

Status LockedDomain::Register(ByteSpan memory, uint64_t* key) {
  *key = ++keys_;
  if (first_.data == nullptr) {
    first_ = memory;
    first_key_ = *key;
  }
  return Status();
}

void LockedDomain::Deregister(uint64_t key) {
  if (key != first_key_) return;
  if (locked_bytes_ > 0) io_->DeregisterMemory();
  first_ = ByteSpan();
  locked_bytes_ = 0;
}

void LockedDomain::Lock(SocketIo* io, int sharers,
                        const std::function<void(const std::string&)>& log) {
  // Little memory is not worth it, whatever the limit.
  if (io_ != nullptr || first_.data == nullptr || first_.bytes < kLeastBytes) return;
  io_ = io;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t share = MemoryLockBudget(sharers) / page * page;
  const ByteSpan part{first_.data, std::min({first_.bytes, share, kMostBytes})};
  Status status(StatusCode::kOutOfMemory,
                "this process's share of the limit on locked memory (RLIMIT_MEMLOCK) is " +
                    std::to_string(share) + " bytes");
  for (int i = 0; i < kTries && part.bytes >= kLeastBytes; ++i) {
    if (i > 0) usleep(kBetweenTriesMicroseconds);
    status = io_->RegisterMemory(part);
    if (status.code() != StatusCode::kOutOfMemory) break;
  }
  if (status.ok()) locked_bytes_ = part.bytes;
  if (status.code() == StatusCode::kOutOfMemory) {
    log("tcp: staging memory is not registered: " + status.message() +
        "; raise the limit (ulimit -l) to have it registered");
  }
}

}  // namespace brigade
