/// @file
/// Brigade: memory that other ranks of the host can map.

#ifndef BRIGADE_MEMORY_H_
#define BRIGADE_MEMORY_H_

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Allocates mapped memory: memory that all ranks of the host can map. Use mapped memory for
/// matrices that are exchanged with other ranks of the host, and for windows. Local; needs neither
/// an engine nor MPI. Any thread may call this function.
///
/// Within a host, the library usually copies a message twice: to staging memory (bounce buffers),
/// and from staging memory to the receiver's matrix. These blocking calls make fewer copies
/// (docs/user/calls.md has all conditions):
///
/// 1. If the receiver's matrix lies in mapped memory, and the receiver calls at most about 20 us
///    before the sender, a send of more than 4 KiB makes one copy. The sender then copies the
///    message straight to the receiver's matrix.
/// 2. In an all-gather, all-to-all, reduce-scatter or all-reduce, ranks can read each other's
///    matrices in place. They do so if the call has at most 8 ranks, all on one host, and the
///    matrices of all these ranks lie in mapped memory. The matrices must also have at least 32 KiB
///    per rank on average. The call returns on a rank when all other ranks have read the rank's
///    matrix.
///
/// Windows that brigade_window_create() makes of mapped memory are as fast as windows of
/// brigade_window_allocate(). In every other use, mapped memory behaves like memory of malloc(),
/// except for the properties below.
///
/// @param bytes  the length; 0 means 1
/// @return memory with unspecified contents, which the caller must free by brigade_free(). Memory
///         of up to half a page is aligned to at least its length, and to at least 64 bytes; longer
///         memory is aligned to a page. If ranks cannot map the memory, this function returns
///         ordinary memory: memory that other ranks cannot map. This function returns NULL if the
///         system has not enough memory left; see brigade_error_text().
///
/// Properties:
///
/// - As for memory of malloc(), the system counts a page as used when a rank first accesses the
///   page. The first access also determines the page's NUMA node. If the machine or a control group
///   has no free page at the first access, the kernel kills a process.
/// - If vm.overcommit_memory is 2, the system counts all pages as used when the memory is
///   allocated.
/// - Allocations of up to half a page share pages.
/// - An allocation of 64 GiB or more is ordinary memory. If the address space is limited
///   (RLIMIT_AS), an allocation of 1 GiB or more is ordinary memory.
/// - A forked child shares mapped memory with its parent. Core files do not include mapped memory.
///
/// Cost: the cost of allocating pages from the system. If `bytes` is at most half a page, the cost
/// is below a microsecond. The cost is also below a microsecond if the library has kept a freed
/// allocation of this length. The library keeps up to 16 freed allocations, of up to 8 MiB in all.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Frees memory of brigade_alloc(). Local. Any thread may call this function. The memory must not
/// be in use by a pending call or by a window.
///
/// @param memory  NULL is ignored
///
/// The library keeps some freed pages for later allocations. The library returns all other freed
/// pages to the system immediately, even if other ranks still map these pages.
BRIGADE_EXPORT void brigade_free(void* memory);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_MEMORY_H_ */
