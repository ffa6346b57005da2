/// @file
/// LI: one put, one get and one synchronisation for C99, over libraries of different models. A
/// program runs unchanged over (1) Brigade's windows, (2) MPI's one-sided calls, (3) MPI's
/// messages, (4) any library with BSPlib's interface. BRIGADE_LI_BACKEND selects the backend when
/// the program starts.
///
/// Library: libbrigade_li.so. A program consists of processes, and of supersteps. Collective calls
/// are made by all processes in the same order. All calls are collective, except LIPUT, LIGET,
/// LINPROCS, LIPID and LIABORT:
///
/// @code
///   LIBEGIN(LINPROCS());
///   LIREGISTER(a, bytes);           // each process its own address, its label of the memory
///   LIINIT();
///   LICOMMIT();                     // a superstep begins
///   LIPUT(pid, source, a, offset, bytes);
///   LISYNC();                       // source may be changed
///   LIBARRIER();                    // all puts are complete, and the next superstep begins
///   LIDEREGISTER(a);
///   LIEND();
/// @endcode
///
/// Conventions:
///
/// 1. A superstep lasts from LICOMMIT or LIBARRIER to the next call of either. Supersteps are
///    numbered from 0; error texts have the number.
/// 2. Within a superstep a byte of memory is either only read, or written by one operation,
///    including loads and stores of the owner. An operation may read its source and write its
///    destination at any time from its call until LIBARRIER; but the source of a put may be reused
///    after LISYNC.
/// 3. A program that keeps rule 2 is called sound. A sound program gives equal bytes over all
///    backends. The results of other programs are unspecified. BRIGADE_LI_CHECK=1 finds violations
///    of rule 2 by operations, and by stores that change the source of a put. It does not find
///    other violations by loads and stores.
/// 4. An error ends the program on all processes, and prints on stderr the process, the call and
///    the superstep. Always checked: arguments, and the order of calls.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process makes all calls.
///
/// Source: the paper that proposed LI. Differences: (1) LIGET's parameters have the order of
/// bsp_get; the paper leaves the order open. (2) LICOMMIT is a barrier of all processes with every
/// backend, as in BSPlib. (3) LIINIT, LISYNC and LIBARRIER without a label apply to all registered
/// memory, which in the paper is one piece. (4) The argument of LIBEGIN must be LINPROCS(), and is
/// not ignored over MPI. (5) Registering memory twice is an error. (6) All calls are functions,
/// none is a macro, and lengths have type size_t. docs/user/li.md has the table of backends.

#ifndef BRIGADE_LI_H_
#define BRIGADE_LI_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Largest number of pieces of memory that are registered at one time.
#define MAX_LI_WINDOWS 64

/// @name Start and end
/// @{

/// Begins the program. Must precede all other LI calls except LINPROCS(). Initialises MPI if the
/// backend uses it and the program has not initialised it. Collective.
///
/// @param processes  LINPROCS()
void LIBEGIN(int processes);
/// Ends the program and all registrations, and finalises MPI if LIBEGIN() has initialised it.
/// Collective; only LIABORT() may follow. It is an error if a process ends without this call.
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

/// Exposes memory. Each process identifies the memory of all processes by its own address. LIINIT()
/// and LICOMMIT() must follow, in any order, before a put or get. Collective.
///
/// @param address  not NULL, and not in memory that is registered already. The caller still owns
///                 the memory, and must deregister it before freeing it.
/// @param bytes    its length; may differ by process, and be 0
///
/// Error: #MAX_LI_WINDOWS are registered already. Cost: with backends `windows` and `mpi_rma`,
/// making a window; with other backends a few messages per process.
void LIREGISTER(void* address, size_t bytes);
/// Opens all registered memory. Collective. Cost: up to a barrier per piece of memory; none for
/// memory that is open already.
void LIINIT(void);
/// Makes registrations effective, and begins a superstep. Collective. All puts and gets of the
/// superstep must be complete: call LISYNC() and LIBARRIER() first. Cost: a barrier.
void LICOMMIT(void);
/// Ends the registration of memory. No put or get may have accessed the memory since the last
/// LIBARRIER(). Collective.
///
/// @param address  the calling process's, as of LIREGISTER()
void LIDEREGISTER(void* address);

/// @}
/// @name Communication
/// @{

/// Puts bytes into the memory of a process. Local, but may wait for a process that has not yet left
/// the last LIBARRIER(). The backend decides when the bytes are sent: (a) immediately, (b) together
/// with other puts to the process, or (c) in LISYNC() or LIBARRIER().
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes; must not change until LISYNC(). NULL only if `bytes` is 0.
/// @param address  the calling process's address of the registered memory
/// @param offset   destination in the registered memory of `pid`
/// @param bytes    number of bytes; must lie within the registered memory of `pid`
void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Gets bytes from the memory of a process. Local, like LIPUT(). The bytes have arrived after
/// LIBARRIER().
///
/// @param pid      the target process; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   source in the registered memory of `pid`
/// @param result   destination. NULL only if `bytes` is 0.
/// @param bytes    number of bytes; must lie within the registered memory of `pid`
void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Completes the puts and gets of this process, in all registered memory: the caller may reuse the
/// sources of puts. Collective.
void LISYNC(void);
/// Ends the superstep: puts and gets of all processes are complete. Must follow LISYNC().
/// Collective.
void LIBARRIER(void);

/// @}
/// @name Labelled forms
/// The calls above, for one piece of registered memory; other pieces are not affected.
/// LIDEREGISTER() is for both forms, which may be mixed.
/// @{

/// LIREGISTER().
void LIOREGISTER(void* address, size_t bytes);
/// LIINIT() of this memory.
void LIOINIT(const void* address);
/// LICOMMIT().
void LIOCOMMIT(void);
/// LIPUT().
void LIOPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// LIGET().
void LIOGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// LISYNC() of this memory.
void LIOSYNC(const void* address);
/// LIBARRIER().
void LIOBARRIER(void);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_LI_H_ */
