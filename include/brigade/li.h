/// @file
/// LI: one put, one get and one synchronisation for C99, over libraries of different models. The
/// same program runs over Brigade's windows, over the one-sided calls of MPI, over its messages,
/// and over any library with BSPlib's interface; BRIGADE_LI_BACKEND says which when it starts.
///
/// In libbrigade_li.so. A program consists of processes, and of supersteps. All processes call
/// everything but LIPUT and LIGET, LINPROCS, LIPID and LIABORT together, in the same order:
///
/// @code
///   LIBEGIN(LINPROCS());
///   LIREGISTER(a, bytes);           // each its own address, which is its label of the memory
///   LIINIT();
///   LICOMMIT();                     // a superstep begins
///   LIPUT(pid, source, a, offset, bytes);
///   LISYNC();                       // source may be changed
///   LIBARRIER();                    // all that was put is there, and the next superstep begins
///   LIDEREGISTER(a);
///   LIEND();
/// @endcode
///
/// Conventions:
///
/// 1. A superstep lasts from LICOMMIT or LIBARRIER to the next of these. Each has the number of
///    those before it; errors tell it.
/// 2. Within a superstep a byte of memory is either only read, or written by one operation, the
///    owner's own loads and stores included. An operation reads its source and writes where it puts
///    to, from its call to the LIBARRIER; only the source of a put is free from LISYNC on.
/// 3. A program that keeps to this, which is called sound, gives the same bytes over all backends.
///    What others give is unspecified. BRIGADE_LI_CHECK=1 finds what breaks rule 2 but for loads
///    and stores, of which it sees those that change the source of a put.
/// 4. An error ends the program on all processes, and says on stderr which process made which call
///    in which superstep. Checked always: arguments, and the order of calls.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process calls.
///
/// Source: the paper that proposed LI. What differs from it: LIGET's parameters, whose order it
/// leaves open, are those of bsp_get; LICOMMIT is a barrier over all backends, since it is one in
/// BSPlib; LIINIT, LISYNC and LIBARRIER without a label are for all registered memory, where it
/// allows one piece; the argument of LIBEGIN must be LINPROCS(), where it is ignored over MPI;
/// memory that is registered twice is an error. They are functions, and lengths are of type size_t.
/// The table of what each backend does is in docs/user/li.md.

#ifndef BRIGADE_LI_H_
#define BRIGADE_LI_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Pieces of memory that can be registered at the same time.
#define MAX_LI_WINDOWS 64

/// @name Start and end
/// @{

/// Begins the program. The first LI call but for LINPROCS(). MPI, where the backend uses it, is
/// initialised, unless that is done. Collective.
///
/// @param processes  LINPROCS()
void LIBEGIN(int processes);
/// Ends it, and registrations with it; and MPI, if LI has initialised it. Collective; no LI call
/// but LIABORT() may follow. A process that ends without it is an error.
void LIEND(void);
/// Ends the program, on all processes, with an error. Local.
void LIABORT(void);
/// How many processes there are. Local; may be called before LIBEGIN().
int LINPROCS(void);
/// The calling one's number, from 0. Local.
int LIPID(void);

/// @}
/// @name Registration
/// @{

/// Exposes memory, which the address stands for on this process; on others their own address does.
/// LIINIT() and LICOMMIT() must follow, in any order, before it is put to or got from. Collective.
///
/// @param address  not NULL, and not of memory that is registered already. It stays the caller's.
/// @param bytes    how many; may differ by process, and be 0
///
/// Error: #MAX_LI_WINDOWS are registered already. Cost: over windows and MPI that of a window;
/// a few messages per process otherwise.
void LIREGISTER(void* address, size_t bytes);
/// Opens all registered memory. Collective. Cost: none if it is open already, else up to a barrier
/// per piece.
void LIINIT(void);
/// Makes registrations effective, and begins a superstep. Collective. What was put or got in the
/// superstep must be complete: LISYNC() and LIBARRIER() come first. Cost: a barrier.
void LICOMMIT(void);
/// Ends the registration of memory that nobody has put to or got from since LIBARRIER().
/// Collective.
///
/// @param address  the calling process's, as of LIREGISTER()
void LIDEREGISTER(void* address);

/// @}
/// @name Communication
/// @{

/// Puts bytes into the memory of a process. Local, but that it may wait for a process which has not
/// yet left the last LIBARRIER(). They go now, with others to the same process, or by LISYNC() or
/// LIBARRIER(), as the backend has it.
///
/// @param pid      whose; may be the caller
/// @param source   of the bytes; unchanged until LISYNC(). NULL only if there are none.
/// @param address  the calling process's address of the registered memory
/// @param offset   where they go, in the memory of `pid`
/// @param bytes    how many; they lie in what `pid` has registered
void LIPUT(int pid, const void* source, const void* address, size_t offset, size_t bytes);
/// Gets bytes from the memory of a process. Local, as LIPUT(). They are there behind LIBARRIER().
///
/// @param pid      whose; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   where they are, in the memory of `pid`
/// @param result   where they go. NULL only if there are none.
/// @param bytes    how many; they lie in what `pid` has registered
void LIGET(int pid, const void* address, size_t offset, void* result, size_t bytes);
/// Completes what this process has put and got, in all registered memory: sources are the caller's
/// again. Collective.
void LISYNC(void);
/// Ends the superstep: what anybody has put and got is there. Behind LISYNC(). Collective.
void LIBARRIER(void);

/// @}
/// @name Labelled forms
/// The same for one piece of registered memory; the others are left alone. LIDEREGISTER() is for
/// both forms, which may be mixed.
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
