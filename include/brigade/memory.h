/// @file
/// Brigade: memory that other ranks of the host can map.

#ifndef BRIGADE_MEMORY_H_
#define BRIGADE_MEMORY_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Allocates memory for matrices that are exchanged with other ranks of the host, and for windows.
/// Local; needs no engine and no MPI. Any thread may call.
///
/// Calls copy less in two cases (docs/user/settings.md has the conditions):
///
/// 1. A send of more than 4 KiB within a host, if the receiver's matrix lies in this memory, and
///    the receiver has called before the sender, by at most about 20 us. The sender copies the
///    message straight to the receiver's matrix: one copy, no staging memory.
/// 2. All-gathers, all-to-alls, reduce-scatters and all-reduces on up to 8 ranks of one host, if
/// the matrices
///    of all ranks lie in this memory and have at least 32 KiB on average. Ranks read each other's
///    matrices in place, and the call returns when all ranks have read.
///
/// brigade_window_create() with this memory gives windows that are as fast as windows of
/// brigade_window_allocate(). In every other use this memory behaves like ordinary memory.
///
/// @param bytes  the length; 0 counts as 1
/// @return memory with unspecified contents, for brigade_free(). Memory of up to half a page is
///         aligned to at least its length and at least 64 bytes; longer memory is aligned to a
///         page. NULL: the system has not enough memory left; see brigade_error_text(). If memory
///         cannot be shared, ordinary memory is returned.
///
/// A page counts as used, and gets its NUMA node, when it is first touched, like ordinary memory.
/// If the machine or a control group has no page left when a page is touched, the kernel ends a
/// process. If vm.overcommit_memory is 2, all pages count as used from the allocation on.
/// Allocations of up to half a page share pages. A block of more than 64 GiB is ordinary memory. A
/// forked child shares the memory with its parent. Core files do not include it.
///
/// Cost: allocating pages from the system; below a microsecond for at most half a page, or if a
/// freed block of the same length was kept for reuse. Up to 16 freed blocks with up to
/// 8 MiB in all are kept.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Frees memory of brigade_alloc(). Local. Any thread may call. No pending call and no window may
/// use the memory.
///
/// @param memory  NULL is ignored
///
/// Pages that are not kept go back to the system at once, even if other ranks still map them.
BRIGADE_EXPORT void brigade_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MEMORY_H_ */
