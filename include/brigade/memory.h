/// @file
/// Brigade: memory that other ranks of the host can map.

#ifndef BRIGADE_MEMORY_H_
#define BRIGADE_MEMORY_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Allocates memory for matrices that are exchanged with other ranks of the host, and for windows.
/// Local; needs neither an engine nor MPI. Any thread may call this function.
///
/// In two cases, blocking calls on matrices in this memory make fewer copies (docs/user/calls.md
/// has all conditions):
///
/// 1. A send of more than 4 KiB within a host, if the receiver's matrix lies in this memory, and
///    the receiver called at most about 20 us before the sender. The sender then copies the message
///    straight to the receiver's matrix: one copy, no staging memory.
/// 2. All-gathers, all-to-alls, reduce-scatters and all-reduces on up to 8 ranks of one host, if
///    the matrices of all ranks lie in this memory and have at least 32 KiB per rank on average.
///    Ranks then read each other's matrices in place, and the call returns on a rank when all ranks
///    have read the rank's matrix.
///
/// Windows that brigade_window_create() makes of this memory are as fast as windows of
/// brigade_window_allocate(). In every other use this memory behaves like ordinary memory.
///
/// @param bytes  the length; 0 counts as 1
/// @return memory with unspecified contents, which the caller must free by brigade_free(). Memory
///         of up to half a page is aligned to at least its length, and to at least 64 bytes; longer
///         memory is aligned to a page. If memory cannot be shared, the call returns ordinary
///         memory. NULL if the system has not enough memory left; see brigade_error_text().
///
/// As for ordinary memory, the system counts a page as used once the page has been accessed. The
/// first access also determines the page's NUMA node. If the machine or a control group has no page
/// left at this access, the kernel kills a process. If vm.overcommit_memory is 2, the system counts
/// all pages as used once the memory is allocated. Allocations of up to half a page share pages. A
/// block of 64 GiB or more is ordinary memory. If the address space is limited (RLIMIT_AS), a block
/// of 1 GiB or more is ordinary memory. Two rules hold for all memory of this call except ordinary
/// memory: a forked child shares the memory with its parent, and core files do not include the
/// memory.
///
/// Cost: that of allocating pages from the system. The cost is below a microsecond in two cases:
/// `bytes` is at most half a page, or the library has kept a freed block of this length. The
/// library keeps up to 16 freed blocks, of up to 8 MiB in all.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Frees memory of brigade_alloc(). Local. Any thread may call this function. The memory must not
/// be in use by a pending call or by a window.
///
/// @param memory  NULL is ignored
///
/// The library keeps some freed pages for later allocations, and returns all others to the system
/// immediately, even if other ranks still map them.
BRIGADE_EXPORT void brigade_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MEMORY_H_ */
