/// @file
/// LI: an interface for C99 with one put and one get. A program runs unchanged over each of these
/// communication libraries, the backends:
///
/// 1. `windows`: Brigade's windows
/// 2. `mpi_rma`: MPI's one-sided calls
/// 3. `mpi_send`: MPI's messages
/// 4. `bsp`: any library with BSPlib's interface
///
/// The environment variable BRIGADE_LI_BACKEND selects the backend when the program starts.
///
/// Library: libbrigade_li.so. A program runs in supersteps, which all processes begin and end
/// together, by LICOMMIT or LIBARRIER (convention 1). The puts and gets of a superstep are complete
/// at its end. All processes must make the same collective calls in the same order. All calls are
/// collective, except LIPUT, LIGET, LIOPUT, LIOGET, LINPROCS, LIPID and LIABORT. For example:
///
/// @code
///   LIBEGIN(LINPROCS());
///   LIREGISTER(a, bytes);           // each process passes the address of its own memory
///   LIINIT();
///   LICOMMIT();                     // a superstep begins
///   LIPUT(pid, source, a, offset, bytes);
///   LISYNC();                       // now the program may change source
///   LIBARRIER();                    // all puts are complete, and the next superstep begins
///   LIDEREGISTER(a);
///   LIEND();
/// @endcode
///
/// Conventions:
///
/// 1. Superstep 0 lasts until the first LICOMMIT. Each later superstep lasts from one call of
///    LICOMMIT or LIBARRIER to the next.
/// 2. The owner of a byte is the process whose memory contains it.
///    - If a put or get writes a byte, no other put or get of the superstep may access the byte,
///      and the owner must not load or store the byte in the superstep.
///    - If a put or get reads a byte, the owner must not store the byte in the superstep.
///      Exception: after LISYNC the program may change the source of a put.
/// 3. A program that follows convention 2 computes the same bytes with every backend. The results
///    of all other programs are unspecified. With the environment variable BRIGADE_LI_CHECK=1, LI
///    finds some violations of convention 2 (docs/user/li.md).
/// 4. On an error the library prints the process, the call and the superstep on stderr, and ends
///    the program on all processes. The library always checks arguments and the order of calls.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process must make all calls.
///
/// Source: A. V. Gerbessiotis and S.-Y. Lee, Remote Memory Access: A Case for Portable, Efficient
/// and Library Independent Parallel Programming, Scientific Programming 12 (2004). Differences
/// between this interface and the paper:
///
/// 1. LIGET's parameters have the order of bsp_get; the paper leaves the order open.
/// 2. LICOMMIT is a barrier of all processes; in the paper's mapping to MPI, LICOMMIT does nothing.
/// 3. LIINIT, LISYNC and LIBARRIER apply to all registered memory. In the paper a program registers
///    only one memory region.
/// 4. The argument of LIBEGIN must be LINPROCS(). The paper's mapping to MPI ignores it.
/// 5. Registering memory that overlaps registered memory is an error.
/// 6. All calls are functions, not macros, and lengths have type size_t.
///
/// Cost: a table in docs/user/li.md shows what each call does with every backend.

#ifndef BRIGADE_LI_H_
#define BRIGADE_LI_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Largest number of memory regions that may be registered at the same time.
#define MAX_LI_WINDOWS 64

/// @name Start and end
/// @{

/// Begins the use of LI. Must precede all other LI calls except LINPROCS() and LIABORT(). If the
/// backend (environment variable BRIGADE_LI_BACKEND) uses MPI, the first LI call initialises MPI,
/// unless the program has initialised it.
///
/// @param processes  must be LINPROCS()
void LIBEGIN(int processes);
/// Ends the use of LI, and all registrations. Finalises MPI if LI initialised MPI. Before this
/// call, complete all puts and gets by LISYNC() and LIBARRIER(). After LIEND() the program may call
/// only LIABORT(). If a process has called LIBEGIN() and ends
/// without LIEND(), an error ends the program.
void LIEND(void);
/// Ends the program, on all processes, with an error.
void LIABORT(void);
/// Returns the number of processes. May be called before LIBEGIN().
int LINPROCS(void);
/// Returns the number of the calling process, from 0.
int LIPID(void);

/// @}
/// @name Registration
/// @{

/// Exposes a memory region of each process. In LIPUT() and LIGET() a process passes the address of
/// its own region. This address stands for the region that the target process registered in the
/// corresponding call of LIREGISTER(). Before the first put or get on the region, the program must
/// call LIINIT() and LICOMMIT(), in any order.
///
/// @param address  must not be NULL. Call LIDEREGISTER() before the memory is freed.
/// @param bytes    length of the memory, 0 or more; may be different on each process. The memory
/// must
///                 not overlap memory that is registered already.
///
/// If #MAX_LI_WINDOWS memory regions are registered already, an error ends the program.
void LIREGISTER(void* address, size_t bytes);
/// Opens all registered memory for puts and gets, except memory that is already open.
void LIINIT(void);
/// Makes all registrations effective, and begins a superstep. Before this call, complete all puts
/// and gets by LISYNC() and LIBARRIER().
void LICOMMIT(void);
/// Ends the registration of memory. Before this call, complete all puts and gets on the memory by
/// LISYNC() and LIBARRIER().
///
/// @param address  the address that the calling process passed to LIREGISTER()
void LIDEREGISTER(void* address);

/// @}
/// @name Communication
/// @{

/// Puts bytes into the memory of a target process, at an unspecified time before the next
/// LIBARRIER() returns. LIPUT() can block until the target has left the LIBARRIER() that began this
/// superstep. Over the backend `windows`, LIPUT() can also block while many transfers to the target
/// are pending.
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes, which must not change until LISYNC(); must not be NULL unless `bytes`
///                 is 0
/// @param address  the address that the calling process passed to LIREGISTER()
/// @param offset   offset of the destination in the registered memory of `pid`
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`
void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Gets bytes from the memory of a target process. Can block in the same cases as LIPUT(). The
/// bytes are in `result` after LIBARRIER().
///
/// @param pid      the target process; may be the caller
/// @param address  the address that the calling process passed to LIREGISTER()
/// @param offset   offset of the source in the registered memory of `pid`
/// @param result   destination; must not be NULL unless `bytes` is 0
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`
void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Completes locally the puts of this process to all registered memory: afterwards the caller may
/// change the sources of these puts. Gets are complete only after LIBARRIER().
void LISYNC(void);
/// Ends the superstep: afterwards the puts and gets of all processes are complete. The program must
/// call LISYNC() before LIBARRIER().
void LIBARRIER(void);

/// @}
/// @name Forms with the letter O
/// Each of these calls is a second form of a call above, with an additional letter O in the name.
/// Only LIOINIT() and LIOSYNC() differ from the calls without the O: they apply to one memory
/// region. A program may use both forms together. LIDEREGISTER() also ends registrations of
/// LIOREGISTER().
/// @{

/// Like LIREGISTER().
void LIOREGISTER(void* address, size_t bytes);
/// Like LIINIT(), but only for the memory that this process registered at `address`.
void LIOINIT(const void* address);
/// Like LICOMMIT().
void LIOCOMMIT(void);
/// Like LIPUT().
void LIOPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Like LIGET().
void LIOGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Like LISYNC(), but only for puts to the memory that this process registered at `address`.
void LIOSYNC(const void* address);
/// Like LIBARRIER().
void LIOBARRIER(void);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_LI_H_ */
