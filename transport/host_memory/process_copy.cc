#include "transport/host_memory/process_copy.h"

#include <atomic>
#include <cerrno>
#include <cstring>

namespace brigade {
namespace {

std::atomic<void (*)(const std::string&)> log_of_refusal{nullptr};
std::atomic<bool> is_refusal_logged{false};

void LogRefusal(const char* call, int error) {
  const auto log = log_of_refusal.load(std::memory_order_acquire);
  if (log == nullptr || is_refusal_logged.exchange(true)) return;
  log(std::string("the system does not let this process copy to and from the memory of others (") +
      call + ": " + std::strerror(error) + "), so messages carry what it could copy");
}

}  // namespace

void LogIfCopiesAreRefused(void (*log)(const std::string& why)) {
  log_of_refusal.store(log, std::memory_order_release);
}

void ProcessCopy::Ranges::Append(uint64_t address, size_t bytes) {
  if (count_ > 0 && end_ == address) {
    ranges_[count_ - 1].iov_len += bytes;
  } else {
    ranges_[count_++] = {reinterpret_cast<void*>(address), bytes};
  }
  end_ = address + bytes;
}

void ProcessCopy::Ranges::Drop(size_t bytes) {
  while (first_ < count_ && bytes >= ranges_[first_].iov_len) bytes -= ranges_[first_++].iov_len;
  if (bytes == 0) return;
  iovec& rest = ranges_[first_];
  rest = {static_cast<std::byte*>(rest.iov_base) + bytes, rest.iov_len - bytes};
}

int ProcessCopy::Add(uint64_t here, uint64_t there, size_t bytes) {
  if (!here_.has_room() || !there_.has_room()) {
    const int error = Finish();
    if (error != 0) return error;
  }
  const uint64_t gap = there - there_.end();
  if (direction_ == Direction::kRead && !there_.empty() && gap > 0 && gap <= sizeof(nobodys_)) {
    here_.Append(reinterpret_cast<uint64_t>(nobodys_), gap);
    there_.Append(there_.end(), gap);
  }
  here_.Append(here, bytes);
  there_.Append(there, bytes);
  return 0;
}

int ProcessCopy::Finish() {
  const bool reads = direction_ == Direction::kRead;
  const auto copy = reads ? process_vm_readv : process_vm_writev;
  while (!here_.empty()) {
    if (!watch_.RanLately()) return ESRCH;
    const ssize_t moved =
        copy(process_, here_.data(), here_.count(), there_.data(), there_.count(), 0);
    if (moved <= 0) {
      const int error = moved < 0 ? errno : EFAULT;
      if (error == EPERM || error == ENOSYS) {
        LogRefusal(reads ? "process_vm_readv" : "process_vm_writev", error);
      }
      return error;
    }
    here_.Drop(static_cast<size_t>(moved));
    there_.Drop(static_cast<size_t>(moved));
  }
  here_.Clear();
  there_.Clear();
  return 0;
}

}  // namespace brigade
