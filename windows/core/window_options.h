// WindowOptions: what a window is made of, and how its members reach it.

#ifndef BRIGADE_WINDOWS_CORE_WINDOW_OPTIONS_H_
#define BRIGADE_WINDOWS_CORE_WINDOW_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "windows/core/other_threads.h"
#include "windows/memory/member.h"

namespace brigade {

struct WindowOptions {
  // Of kProcess an epoch is open from the beginning on, as behind a fence.
  WindowMemory kind = WindowMemory::kPrivate;
  // kPrivate: what is exposed; if it lies in one of SharedAllocations, others reach it as they do
  // shared memory. kShared: it is made.
  std::byte* memory = nullptr;
  size_t bytes = 0;  // may differ by rank; kProcess, kDynamic: ignored
  int64_t unit = 1;  // of displacements, in bytes; may differ by rank
  // Of shared memory: the parts of the members lie in a row, in the order of their ranks, which
  // must be of one host. Equal on all ranks.
  bool in_one_piece = false;
  // Whether memory that can be reached without messages is.
  bool goes_directly = true;
  // kPrivate: whether operations may be short, or have many short blocks. On one host short puts
  // go through mailboxes then, where the kernel would take longer, and the owner's progress thread
  // carries out what has many blocks. Equal on all ranks.
  bool has_short_blocks = true;
  // Whether operations that must not meet break the window if they do, with kMismatch, which names
  // them. One rank that sets it suffices. All goes by messages then, but for what others map by
  // PointerTo, and FlushLocal waits for targets.
  bool is_checked = false;
  // Must outlive the window. Null: the process has one thread that uses windows.
  OtherThreads* others = nullptr;
};

// Promises of the caller about a fence, like MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED. Results are
// undefined if a promise is wrong.
struct FencePromise {
  bool nothing_precedes = false;  // no epoch ends here; equal on all ranks
  bool nothing_succeeds = false;  // no epoch begins here; equal on all ranks
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_OPTIONS_H_
