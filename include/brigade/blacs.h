/** @file
   The BLACS, C interface, as libbrigade_blacs.so provides it. Usable from C and C++.

   Conventions:

   1. The processes of a grid have coordinates {row,col}, from 0. The rank of process {row,col} in
      its grid is row * npcol + col; npcol is the number of columns.
   2. A context is a number, from 0, by which a process names a grid; -1 means that the process is
      not in the grid. A system handle is a number that stands for an MPI communicator. It is
      neither a context nor a Fortran handle of MPI.
   3. Matrices are column-major m x n with leading dimension lda. If lda is less than m, m is used
      instead. Complex matrices are arrays of (real, imaginary) pairs. If m or n is 0, the message
      is empty, but the receiver must still receive it.
   4. Only the first character of a string is read, in upper or lower case.
      - scope: R (the caller's row of the grid), C (the caller's column), A (all processes).
      - uplo: U (upper); any other character means lower.
      - diag: U (unit: the diagonal is left out); any other character means non-unit.
      - top: the topology, a character that selects the algorithm (docs/user/blacs.md).
   5. A send (sd2d) returns once the caller may reuse the matrix. A send waits for the receiver only
      while the memory for sent messages is full; the environment variable BRIGADE_OVERFLOW_BYTES
      limits this memory. A receive (rv2d) returns when the data have arrived. Receives in a context
      get the messages of a sender in the order of the sends, even if the types of the messages
      differ. The receiver's matrix may have another shape, and must have at least as many elements
      as the sender's matrix. If the receiver's matrix has more elements, its last elements stay
      unchanged.
   6. All processes of a scope must make their broadcasts, combines and barriers in the same order,
      with equal scope, top, rdest, cdest and number of elements. In a broadcast one process, the
      source, calls bs2d. All other processes call br2d, and pass the coordinates {rsrc,csrc} of the
      source. If scope is R, rsrc is ignored; if scope is C, csrc is ignored.
   7. The combines gsum2d, gamx2d and gamn2d combine the matrices A of all processes element by
      element. If rdest or cdest is -1, the result replaces A on all processes. Otherwise the result
      replaces A at {rdest,cdest}, and after the call A is unspecified on all other processes. The
      result has the same bits on all processes that get it, and in every run on the same grid.
   8. For each position in A, gamx2d selects the element with the largest magnitude, and gamn2d the
      element with the smallest magnitude. The magnitude of x is |x|; for complex x it is
      |re| + |im|.
      - If ldia is -1, rA and cA are not used. Of elements with equal magnitude, both routines
        select the one with the largest value (5, not -5); complex elements are compared by real
        part, then by imaginary part.
      - Otherwise ldia is the leading dimension of the arrays rA and cA; if ldia is less than m, m
        is used instead. Each process that gets the result also gets rA and cA: for each position,
        the row and the column of the process whose element is selected. Of elements with equal
        magnitude, the element of one process is selected. If the result goes to all processes,
        this process has the lowest rank in the scope. If only rank d of the scope gets the result,
        this process has the rank that comes first in the order d, d + 1, ..., then 0 to d - 1.
   9. Errors are reported on stderr and end the job by MPI_Abort.
   10. At most one thread of a process at a time may call the BLACS.
   11. Local means, as in MPI, that the function does not wait for calls of other processes.

   docs/design/patterns.md has the costs of calls. */

#ifndef BRIGADE_BLACS_H_
#define BRIGADE_BLACS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The type of all integer arguments: 64 bits if BRIGADE_BLACS_ILP64 is defined, otherwise 32 bits.
   A program that defines BRIGADE_BLACS_ILP64 must link or preload libbrigade_blacs64.so instead of
   libbrigade_blacs.so. */
#ifdef BRIGADE_BLACS_ILP64
typedef int64_t blacs_int;
#else
typedef int blacs_int;
#endif

/** @name Start and end
   If the program has not initialised MPI, the first call that needs MPI initialises MPI. */
/** @{ */

/** Returns the rank of this process in MPI_COMM_WORLD, and the size of MPI_COMM_WORLD. Local. */
void Cblacs_pinfo(blacs_int* mypnum, blacs_int* nprocs);
/** Like Cblacs_pinfo(). */
void Cblacs_setup(blacs_int* mypnum, blacs_int* nprocs);
/** Frees all contexts, and waits until all messages of this process have reached their receivers.
   If notdone is 0, the call also finalises MPI; otherwise MPI and the BLACS remain usable. */
void Cblacs_exit(blacs_int notdone);
/** Ends all processes of the job with exit code errnum. ctxt may be -1. */
void Cblacs_abort(blacs_int ctxt, blacs_int errnum);

/** @} */

/** @name Parameters
   The argument `what` of Cblacs_get() and Cblacs_set() selects a parameter:

   - 0: system handle (convention 2) of MPI_COMM_WORLD
   - 1: range of message ids, val[0] to val[1]
   - 2: debug level
   - 10: system handle of the context's communicator
   - 11: number of rings in broadcasts with top M
   - 12: number of branches in broadcasts with top T
   - 13: number of rings in combines with top M
   - 14: number of branches in combines with top T
   - 15, 16: flags "repeatable" (equal bits in every run) and "coherent" (equal bits on all
     processes), without effect: every combine is repeatable and coherent */
/** @{ */

/** Stores parameter `what` in val. ctxt is ignored for parameters below 10. Local. */
void Cblacs_get(blacs_int ctxt, blacs_int what, blacs_int* val);
/** Sets one of the parameters 11, 12, ..., 16 of a context; 11 to 14 must be equal on all processes
   of the context. Parameters 11 and 13 must not be 0; 12 and 14 must be at least 1. For any other
   `what` or *val, the call prints a warning and sets nothing. Local. */
void Cblacs_set(blacs_int ctxt, blacs_int what, const blacs_int* val);

/** @} */

/** @name Grids */
/** @{ */

/** Makes a grid of the first nprow x npcol processes of an MPI communicator. Collective over these
   processes, which must pass equal arguments. On any other process the call returns context -1, and
   does not wait.

   @param ctxt   in: the communicator's system handle (convention 2); out: the context
   @param order  the order in which the ranks of the communicator fill the grid: C means column by
                 column, any other character means row by row
   @param nprow  number of rows
   @param npcol  number of columns

   Cost: a few messages per process. The first grid also opens the transport (shared memory, TCP or
   MPI). The first grid on a set of several hosts also measures the cost of messages between these
   hosts. */
void Cblacs_gridinit(blacs_int* ctxt, const char* order, blacs_int nprow, blacs_int npcol);
/** Like Cblacs_gridinit(), but usermap selects the processes of the grid. The process at {i,j} is
   rank usermap[j * ldumap + i] of the communicator. */
void Cblacs_gridmap(blacs_int* ctxt, const blacs_int* usermap, blacs_int ldumap, blacs_int nprow,
                    blacs_int npcol);
/** Frees a context. Local. Messages that this process has sent still reach their receivers. */
void Cblacs_gridexit(blacs_int ctxt);
/** Returns the shape of the grid and the coordinates of this process. Any ctxt is legal: if ctxt is
   not a context, all four results are -1. Local. */
void Cblacs_gridinfo(blacs_int ctxt, blacs_int* nprow, blacs_int* npcol, blacs_int* myrow,
                     blacs_int* mycol);
/** Returns the rank of process {prow,pcol} in the grid; -1 if {prow,pcol} is outside the grid.
   Local. */
blacs_int Cblacs_pnum(blacs_int ctxt, blacs_int prow, blacs_int pcol);
/** Returns the coordinates of the process with rank pnum in the grid; both are -1 if there is no
   such rank. Local. */
void Cblacs_pcoord(blacs_int ctxt, blacs_int pnum, blacs_int* prow, blacs_int* pcol);
/** Blocks until all processes of the scope have called this function. If scope is not R, C or A,
   the call has no effect. */
void Cblacs_barrier(blacs_int ctxt, const char* scope);
/** Frees memory that the library has kept for reuse. If wait is not 0, the call first waits until
   all messages of this process have reached their receivers. */
void Cblacs_freebuff(blacs_int ctxt, blacs_int wait);

/** @} */

/** @name System handles */
/** @{ */

/* brigade/blacs_mpi.h has Csys2blacs_handle() and Cblacs2sys_handle(). */

/** Frees a system handle; its communicator stays valid. Local. */
void Cfree_blacs_system_handle(blacs_int handle);

/** @} */

/** @name Message ids
   These functions are for old programs; no other function uses message ids. All are local. */
/** @{ */

/** Returns a constant. */
blacs_int Cksendid(blacs_int ctxt, blacs_int rdest, blacs_int cdest);
/** Returns a constant. */
blacs_int Ckrecvid(blacs_int ctxt, blacs_int rsrc, blacs_int csrc);
/** Each scope of a context has a counter, which starts at 0. Returns the value of the counter, and
   then increments the counter. Broadcasts do not use the counter. */
blacs_int Ckbsid(blacs_int ctxt, const char* scope);
/** Like Ckbsid(), with the same counter. */
blacs_int Ckbrid(blacs_int ctxt, const char* scope, blacs_int rsrc, blacs_int csrc);

/** @} */

/** @name Clocks
   Both functions are local. */
/** @{ */

/** Returns -1: processor time is not available. */
double Cdcputime00(void);
/** Returns the seconds since an unspecified moment. */
double Cdwalltime00(void);

/** @} */

/** @name Communication
   The second letter of a name is the type of the elements: i (blacs_int), s (float), d (double), c
   (pairs of float), z (pairs of double). In the names of sends, receives and broadcasts, the next
   two letters are ge (general matrices) or tr (trapezoidal matrices). Conventions 3 to 8 hold. */
/** @{ */

/** Declares the functions of one type. This header undefines the macro again. */
#define BRIGADE_BLACS_DECLARE(t, T)                                                                \
  /** Sends A to process {rdest,cdest}. */                                                         \
  void C##t##gesd2d(blacs_int ctxt, blacs_int m, blacs_int n, const T* A, blacs_int lda,           \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** Sends a trapezoid of A to process {rdest,cdest}. */                                          \
  void C##t##trsd2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                  \
  /** Receives A from process {rsrc,csrc}. */                                                      \
  void C##t##gerv2d(blacs_int ctxt, blacs_int m, blacs_int n, T* A, blacs_int lda, blacs_int rsrc, \
                    blacs_int csrc);                                                               \
  /** Receives a trapezoid of A from process {rsrc,csrc}. */                                       \
  void C##t##trrv2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Broadcasts A to the scope. */                                                                \
  void C##t##gebs2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda);                                                    \
  /** Broadcasts a trapezoid of A to the scope. */                                                 \
  void C##t##trbs2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, const T* A, blacs_int lda);        \
  /** Receives A from the broadcast of process {rsrc,csrc}. */                                     \
  void C##t##gebr2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Receives a trapezoid of A from the broadcast of process {rsrc,csrc}. */                      \
  void C##t##trbr2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, T* A, blacs_int lda,               \
                    blacs_int rsrc, blacs_int csrc);                                               \
  /** Sums the matrices A of the scope element by element. */                                      \
  void C##t##gsum2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                        \
  /** For each position in A, selects the element with the largest magnitude in the scope. */      \
  void C##t##gamx2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** For each position in A, selects the element with the smallest magnitude in the scope. */     \
  void C##t##gamn2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest);
BRIGADE_BLACS_DECLARE(i, blacs_int)
BRIGADE_BLACS_DECLARE(s, float)
BRIGADE_BLACS_DECLARE(d, double)
BRIGADE_BLACS_DECLARE(c, float)
BRIGADE_BLACS_DECLARE(z, double)
#undef BRIGADE_BLACS_DECLARE

/** @} */

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* BRIGADE_BLACS_H_ */
