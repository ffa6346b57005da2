/// @file
/// Brigade: memory that other ranks of the host can map.

#ifndef BRIGADE_MEMORY_H_
#define BRIGADE_MEMORY_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Allocates mapped memory: memory that all ranks of the host can map. Some blocking calls make
/// fewer copies if matrices lie in mapped memory (docs/user/calls.md). Windows (window.h) that
/// brigade_window_create() makes of mapped memory are as fast as windows of
/// brigade_window_allocate(). Local; needs neither an engine nor MPI. Any thread may call this
/// function.
///
/// @param bytes  the length; 0 means 1
/// @return memory with unspecified contents, which the caller must free by brigade_free(). If
///         `bytes` is at most half a page, the memory is aligned to `bytes` rounded up to a power
///         of two, and to at least 64 bytes. Otherwise the memory is aligned to a page. If mapped
///         memory is not available, this function returns ordinary memory, which other ranks cannot
///         map. If the system has not enough memory left, this function returns NULL, and
///         brigade_error_text() says why.
///
/// Properties:
///
/// - The system counts a page as used when a rank first accesses the page, as with memory of
///   malloc(). The first access also determines the page's NUMA node. If the machine or a control
///   group (a container, a batch job) has no free page at the first access, the kernel kills a
///   process.
/// - An allocation of 64 GiB or more is ordinary memory. If the address space is limited
///   (RLIMIT_AS), an allocation of 1 GiB or more is ordinary memory.
/// - A forked child shares mapped memory with its parent. Core files do not include mapped memory.
///
/// Cost: the system allocates pages. If `bytes` is at most half a page, or if the library has kept
/// a freed allocation of this length, the cost is below a microsecond.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Frees memory of brigade_alloc(). Local. Any thread may call this function. The memory must not
/// be in use by a pending call or by a window.
///
/// @param memory  NULL is ignored
///
/// The library keeps up to 16 freed allocations, of up to 8 MiB in all, for later calls of
/// brigade_alloc(). The library returns all other freed pages to the system immediately, even if
/// other ranks still map these pages.
BRIGADE_EXPORT void brigade_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MEMORY_H_ */
