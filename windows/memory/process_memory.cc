#include "windows/memory/process_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace brigade {

using Direction = ProcessCopy::Direction;

bool ProcessMemory::CanReach(uint64_t address) const {
  std::byte byte;
  ProcessCopy copy(process_, watch_.get(), Direction::kRead);
  return copy.Add(reinterpret_cast<uint64_t>(&byte), address, 1) == 0 && copy.Finish() == 0;
}

Status ProcessMemory::Copy(Direction direction, LayoutCursor* here, const std::byte* here_base,
                           LayoutCursor* there, uint64_t there_base, int64_t bytes) const {
  ProcessCopy copy(process_, watch_.get(), direction);
  int error = 0;
  for (int64_t left = bytes; left > 0 && error == 0;) {
    const Runs run_here = here->Next();
    const Runs run_there = there->Next();
    const int64_t run = std::min({run_here.bytes, run_there.bytes, left});
    error =
        copy.Add(reinterpret_cast<uint64_t>(here_base) + static_cast<uint64_t>(run_here.offset),
                 there_base + static_cast<uint64_t>(run_there.offset), static_cast<size_t>(run));
    here->Skip(run);
    there->Skip(run);
    left -= run;
  }
  if (error == 0) error = copy.Finish();
  if (error == 0) return Status();
  const std::string who = "process " + std::to_string(process_);
  if (error == ESRCH) return Status(StatusCode::kPeerLost, who + " is gone");
  return Status(
      StatusCode::kInternal,
      "the window's memory in " + who + ": " +
          (direction == Direction::kRead ? "reading" : "writing") + ": " + std::strerror(error) +
          (error == EFAULT ? "; it or this rank's buffer was freed, or never allocated" : ""));
}

Status ProcessMemory::Read(LayoutCursor* from, uint64_t from_base, int64_t bytes, LayoutCursor* to,
                           std::byte* to_base) const {
  return Copy(Direction::kRead, to, to_base, from, from_base, bytes);
}

Status ProcessMemory::Write(LayoutCursor* from, const std::byte* from_base, int64_t bytes,
                            LayoutCursor* to, uint64_t to_base) const {
  return Copy(Direction::kWrite, from, from_base, to, to_base, bytes);
}

}  // namespace brigade
