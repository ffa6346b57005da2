#include "transport/host_memory/kernel_copy.h"

#include <algorithm>
#include <cerrno>

#include "transport/host_memory/process_copy.h"

namespace brigade {
namespace {

uint64_t AddressOf(const RemoteStretches& there, uint64_t offset) {
  return there.address + offset / there.stretch_bytes * there.stride_bytes +
         offset % there.stretch_bytes;
}

// Packed bytes of a matrix here, from `at` on, and of `there`, from `offset` on.
int Copy(ProcessCopy* copy, const StridedLayout& layout, const std::byte* base, size_t at,
         const RemoteStretches& there, uint64_t offset, size_t bytes) {
  if (there.stretch_bytes == 0) return EFAULT;
  StridedLayout::Cursor here(layout, at);
  while (bytes > 0) {
    const StridedLayout::Run run = here.Next();
    const size_t now =
        std::min<size_t>({run.bytes, bytes, there.stretch_bytes - offset % there.stretch_bytes});
    const int error = copy->Add(reinterpret_cast<uint64_t>(base + run.memory_offset),
                                AddressOf(there, offset), now);
    if (error != 0) return error;
    here.Advance(now);
    offset += now;
    bytes -= now;
  }
  return copy->Finish();
}

}  // namespace

bool AsStretches(const StridedLayout& layout, const std::byte* base, RemoteStretches* stretches) {
  if (layout.bytes() == 0 || layout.part() != StridedLayout::Part::kGeneral) return false;
  stretches->address = reinterpret_cast<uint64_t>(base);
  stretches->stretch_bytes = layout.run_bytes();
  stretches->stride_bytes = static_cast<uint64_t>(layout.ld()) * layout.elem_bytes();
  stretches->bytes = layout.bytes();
  return true;
}

bool CopyToProcess(pid_t process, const ProcessWatch* watch, const StridedLayout& layout,
                   const std::byte* base, const RemoteStretches& to, size_t from) {
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kWrite);
  return Copy(&copy, layout, base, from, to, from, layout.bytes() - from) == 0;
}

int CopyRangeFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from,
                         size_t offset, size_t bytes, const StridedLayout& layout, std::byte* base,
                         size_t at) {
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kRead);
  return Copy(&copy, layout, base, at, from, offset, bytes);
}

int TryToReadFromProcess(pid_t process, const ProcessWatch* watch, const RemoteStretches& from) {
  std::byte ends[2];
  ProcessCopy copy(process, watch, ProcessCopy::Direction::kRead);
  (void)copy.Add(reinterpret_cast<uint64_t>(&ends[0]), AddressOf(from, 0), 1);
  (void)copy.Add(reinterpret_cast<uint64_t>(&ends[1]), AddressOf(from, from.bytes - 1), 1);
  return copy.Finish();
}

}  // namespace brigade
