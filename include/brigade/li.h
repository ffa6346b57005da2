/// @file
/// LI: an interface for C99 with one put, one get and one synchronisation. LI communicates through
/// one of four backends. A program runs unchanged over every backend:
///
/// 1. `windows`: Brigade's windows
/// 2. `mpi_rma`: MPI's one-sided calls
/// 3. `mpi_send`: MPI's messages
/// 4. `bsp`: any library with BSPlib's interface
///
/// The environment variable BRIGADE_LI_BACKEND selects the backend when the program starts.
///
/// Library: libbrigade_li.so. A program consists of processes (like MPI's ranks). It runs in
/// supersteps, which all processes begin and end together, by LICOMMIT or LIBARRIER (convention 1).
/// The puts and gets of a superstep are complete at the end of the superstep. All processes must
/// make the same collective calls in the same order. All calls are collective, except LIPUT, LIGET,
/// LIOPUT, LIOGET, LINPROCS, LIPID and LIABORT. For example:
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
/// 2. Puts and gets are called operations. The owner of a byte is the process whose memory contains
///    the byte. If an operation of a superstep writes a byte, no other operation of the superstep
///    may access the byte, and the owner must not load or store the byte in this superstep. If an
///    operation reads a byte, the owner must not store the byte in this superstep. An operation
///    reads its source and writes its destination at an unspecified time between its call and
///    LIBARRIER. Exception: after LISYNC the program may change the source of a put.
/// 3. A program that keeps convention 2 is called sound. A sound program computes the same bytes
///    with every backend. The results of programs that are not sound are unspecified.
///    BRIGADE_LI_CHECK=1 finds conflicts: two operations of a superstep access the same byte, and
///    at least one of the two operations writes it. BRIGADE_LI_CHECK=1 also finds stores that
///    change the source of a put before LISYNC, but no other violation of convention 2.
/// 4. On an error the library prints the process, the call and the number of the superstep on
///    stderr, and ends the program on all processes. The library always checks arguments and the
///    order of calls.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process must make all calls.
///
/// Source: the paper that proposed LI. Differences between this interface and the paper:
///
/// 1. LIGET's parameters have the order of bsp_get; the paper leaves the order open.
/// 2. With every backend LICOMMIT is a barrier of all processes; in the paper's mapping to MPI,
///    LICOMMIT does nothing.
/// 3. LIINIT, LISYNC and LIBARRIER have no parameter that names a memory region, and apply to all
///    registered memory. In the paper a program registers only one memory region.
/// 4. With every backend the argument of LIBEGIN must be LINPROCS(). Over MPI the paper ignores
///    this argument.
/// 5. Registering memory twice is an error.
/// 6. All calls are functions, not macros, and lengths have type size_t.
///
/// A table in docs/user/li.md shows what each call does with every backend. The cost of a call
/// follows from this table.

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

/// Begins the program. Must precede all other LI calls except LINPROCS() and LIABORT(). Collective.
/// If the backend uses MPI, and the program itself has not initialised MPI, the first LI call
/// initialises MPI.
///
/// @param processes  LINPROCS()
void LIBEGIN(int processes);
/// Ends the program and all registrations. Finalises MPI if LI initialised MPI. Collective. All
/// earlier puts and gets must be complete: call LISYNC() and LIBARRIER() before LIEND(). After
/// LIEND() the program may call only LIABORT(). If a process ends without a call of LIEND(), this
/// is an error.
void LIEND(void);
/// Ends the program, on all processes, with an error. Local.
void LIABORT(void);
/// Returns the number of processes. Local; may be called before LIBEGIN().
int LINPROCS(void);
/// Returns the number of the calling process, from 0. Local.
int LIPID(void);

/// @}
/// @name Registration
/// @{

/// Exposes a memory region of each process. In LIPUT() and LIGET() a process passes the address of
/// its own region. This address stands for the region that the target process registered in the
/// corresponding call of LIREGISTER(). Before a put or get, the program must call LIINIT() and
/// LICOMMIT(), in any order. Collective.
///
/// @param address  must not be NULL, and must not lie in memory that is registered already. The
///                 caller still owns the memory, and must call LIDEREGISTER() before it frees the
///                 memory.
/// @param bytes    length of the memory, 0 or more; may be different on each process
///
/// If #MAX_LI_WINDOWS memory regions are registered already, the call is an error. Cost: backends
/// `windows` and `mpi_rma` make a window; other backends send a few messages per process.
void LIREGISTER(void* address, size_t bytes);
/// Opens for puts and gets all registered memory that is not open yet. Collective. Cost: at most
/// one barrier for each memory region that this call opens.
void LIINIT(void);
/// Makes all registrations effective, and begins a superstep. Collective. All earlier puts and gets
/// must be complete: call LISYNC() and LIBARRIER() before LICOMMIT(). Cost: a barrier.
void LICOMMIT(void);
/// Ends the registration of memory. Collective. If the program has called a put or get on the
/// memory in this superstep, the program must call LISYNC() and LIBARRIER() before LIDEREGISTER().
///
/// @param address  the address that the calling process passed to LIREGISTER()
void LIDEREGISTER(void* address);

/// @}
/// @name Communication
/// @{

/// Puts bytes into the memory of a target process. The target makes no matching call. Local, but
/// can block until the target has left the LIBARRIER() that began this superstep. Over backend
/// `windows`, LIPUT() can also block while many transfers to the target are pending. The backend
/// decides when it sends the bytes:
///
/// 1. immediately
/// 2. together with other puts to the target
/// 3. in LISYNC() or LIBARRIER()
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes, which must not change until LISYNC(); must not be NULL unless `bytes`
///                 is 0
/// @param address  the calling process's address of the registered memory
/// @param offset   offset of the destination in the registered memory of `pid`
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`
void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Gets bytes from the memory of a target process. Local, but can block like LIPUT(). The bytes are
/// in `result` after LIBARRIER().
///
/// @param pid      the target process; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   offset of the source in the registered memory of `pid`
/// @param result   destination; must not be NULL unless `bytes` is 0
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`
void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Completes locally the puts of this process to all registered memory: afterwards the caller may
/// change the sources of these puts. Gets are complete only after LIBARRIER(). Collective.
void LISYNC(void);
/// Ends the superstep: afterwards the puts and gets of all processes are complete. The program must
/// call LISYNC() before LIBARRIER(). Collective.
void LIBARRIER(void);

/// @}
/// @name Labelled forms
/// The labelled forms are second forms of the calls above, with an additional letter O in their
/// names. A label is the address that names a registered memory region. LIOINIT() and LIOSYNC()
/// apply to one registered memory region. Every other labelled form does the same as the call
/// without the O. A program may use both forms together. LIDEREGISTER() has no labelled form, and
/// also ends registrations of LIOREGISTER().
/// @{

/// Like LIREGISTER().
void LIOREGISTER(void* address, size_t bytes);
/// Like LIINIT(), for the memory registered at `address` only.
void LIOINIT(const void* address);
/// Like LICOMMIT().
void LIOCOMMIT(void);
/// Like LIPUT().
void LIOPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Like LIGET().
void LIOGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Like LISYNC(), for the memory registered at `address` only.
void LIOSYNC(const void* address);
/// Like LIBARRIER().
void LIOBARRIER(void);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_LI_H_ */
