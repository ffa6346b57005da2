/** @file
   The BLACS, C interface, as libbrigade_blacs.so provides it. Usable from C and C++.

   Conventions:

   1. The processes of a grid have coordinates {row,col}, from 0. The rank of process {row,col} in
      its context is row * npcol + col.
   2. A context is a small number, from 0; -1 means that this process is not in the grid. A system
      handle stands for an MPI communicator. A system handle must not be passed as a context, or as
      a Fortran handle of MPI.
   3. Matrices are column-major m x n with leading dimension lda; lda below m counts as m. Complex
      matrices are arrays of (real, imaginary) pairs. If m or n is 0, the message is empty, but the
      receiver must receive it like any other message.
   4. Only the first character of a string is read, in upper or lower case; the string need not end
      in a NUL. scope: R (my row), C (my column), A (all). uplo: U (upper); any other character
      means lower. diag: U (unit: the diagonal is left out); any other character means non-unit.
      top: see docs/user/blacs.md.
   5. A send (sd2d) returns once the caller may reuse the matrix. A send waits for the receiver
      only while the memory for sent messages is full (BRIGADE_OVERFLOW_BYTES). A receive (rv2d)
      returns when the data have arrived. Messages between two processes of a context keep their
      order, even if their types differ. The receiver's matrix must have at least as many elements
      as the sender's matrix, and may have another shape. If the receiver's matrix has more
      elements, its last elements stay unchanged.
   6. All processes of a scope make their broadcasts, combines and barriers in the same order, with
      equal scope, top, rdest, cdest and number of elements. Broadcasts: one process, the source,
      calls bs2d. All other processes call br2d, and pass the coordinates of the source as rsrc and
      csrc. If scope is R, rsrc is ignored. If scope is C, csrc is ignored.
   7. Combines: every process contributes A. The result replaces A at {rdest,cdest}, or on all
      processes if rdest or cdest is -1. On all other processes A is unspecified afterwards. Results
      have the same bits on all processes that get them, and in every run on the same grid. amx and
      amn compare |x|, or |re| + |im| for complex x. If ldia is -1, rA and cA are not used, and
      among elements of equal |x| the largest signed value wins. Of complex values, the value with
      the larger real part is the larger one; if real parts are equal, imaginary parts decide. If
      ldia is not -1, rA and cA receive, on processes that get the result, the coordinates of the
      process whose element wins. Among processes with elements of equal |x|, the first process
      wins in this order: from the destination to the last rank of the scope, then from rank 0. If
      the result goes to all processes, the order begins at rank 0. The leading dimension of rA and
      cA is ldia; ldia below m, except -1, counts as m.
   8. Errors are reported on stderr and end the job by MPI_Abort.
   9. At most one thread of a process at a time may call the BLACS.

   Costs of calls: docs/design/patterns.md. */

#ifndef BRIGADE_BLACS_H_
#define BRIGADE_BLACS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The type of all integer arguments: 64 bits if BRIGADE_BLACS_ILP64 is defined, otherwise 32 bits.
   A program that defines BRIGADE_BLACS_ILP64 must link or preload libbrigade_blacs64.so. All other
   programs must link or preload libbrigade_blacs.so. */
#ifdef BRIGADE_BLACS_ILP64
typedef int64_t blacs_int;
#else
typedef int blacs_int;
#endif

/** @name Start and end
   The first call that needs MPI initialises MPI if the program has not initialised MPI. */
/** @{ */

/** Returns the rank of this process in MPI_COMM_WORLD, and the size of MPI_COMM_WORLD. Local. */
void Cblacs_pinfo(blacs_int* mypnum, blacs_int* nprocs);
/** Like Cblacs_pinfo(). */
void Cblacs_setup(blacs_int* mypnum, blacs_int* nprocs);
/** Completes all sends and frees all contexts. If notdone is 0, the call also finalises MPI;
   otherwise MPI and the BLACS remain usable. */
void Cblacs_exit(blacs_int notdone);
/** Ends all processes with exit code errnum. A ctxt of -1 is legal. */
void Cblacs_abort(blacs_int ctxt, blacs_int errnum);

/** @} */

/** @name Parameters
   The values of `what` are

   - 0: system handle of MPI_COMM_WORLD
   - 1: range of message ids, val[0] to val[1]
   - 2: debug level
   - 10: system handle of the context's communicator
   - 11: number of rings of topology M in broadcasts
   - 12: number of branches of topology T in broadcasts
   - 13: number of rings of topology M in combines
   - 14: number of branches of topology T in combines
   - 15: flag "repeatable", without effect: every combine is repeatable
   - 16: flag "coherent", without effect: every combine is coherent */
/** @{ */

/** Stores parameter `what` in val. ctxt is ignored for parameters below 10. Local. */
void Cblacs_get(blacs_int ctxt, blacs_int what, blacs_int* val);
/** Sets one of the parameters 11, 12, ..., 16 of a context. With any other value of `what`, with 0
   rings or with fewer than 1 branch, the call prints a warning, and sets nothing. The program must
   set parameters 11 to 14 to equal values on all processes of the context. Local. */
void Cblacs_set(blacs_int ctxt, blacs_int what, const blacs_int* val);

/** @} */

/** @name Grids */
/** @{ */

/** Makes a grid of the first nprow x npcol processes of a system handle. Collective over these
   processes, which must pass equal arguments. Any other process gets context -1, and does
   not wait.

   @param ctxt   in: the system handle; out: the context
   @param order  the order in which the processes of the system handle fill the grid: C means
                 column by column, any other character means row by row
   @param nprow  number of rows
   @param npcol  number of columns

   Cost: a few messages per process. The first grid opens the transport. The first grid on a set
   of several hosts also measures the cost of messages. */
void Cblacs_gridinit(blacs_int* ctxt, const char* order, blacs_int nprow, blacs_int npcol);
/** Like Cblacs_gridinit(), but makes a grid of any processes of a system handle. The process at
   {i,j} is rank usermap[j * ldumap + i] of the system handle's communicator. */
void Cblacs_gridmap(blacs_int* ctxt, const blacs_int* usermap, blacs_int ldumap, blacs_int nprow,
                    blacs_int npcol);
/** Frees a context. Local. Messages that have been sent still arrive. */
void Cblacs_gridexit(blacs_int ctxt);
/** Returns the shape of the grid and the coordinates of this process. Any ctxt is legal: if ctxt is
   not a context, all four results are -1. Local. */
void Cblacs_gridinfo(blacs_int ctxt, blacs_int* nprow, blacs_int* npcol, blacs_int* myrow,
                     blacs_int* mycol);
/** Returns the rank of process {prow,pcol} in the grid, prow * npcol + pcol; -1 if {prow,pcol} is
   outside the grid. On process {prow,pcol} Cblacs_pinfo() can return another number. Local. */
blacs_int Cblacs_pnum(blacs_int ctxt, blacs_int prow, blacs_int pcol);
/** Returns the coordinates of the process with rank pnum in the grid; both are -1 if there is no
   such rank. Local. */
void Cblacs_pcoord(blacs_int ctxt, blacs_int pnum, blacs_int* prow, blacs_int* pcol);
/** Blocks until all processes of the scope have called this function. With an unknown scope
   the call has no effect. */
void Cblacs_barrier(blacs_int ctxt, const char* scope);
/** Frees memory that the library has kept for reuse. If wait is not 0, the call first waits until
   all sends are complete. */
void Cblacs_freebuff(blacs_int ctxt, blacs_int wait);

/** @} */

/** @name System handles
   The caller still owns the communicator of a handle. The communicator must stay valid until all
   grids of the handle are made. All functions of this section are local. */
/** @{ */

/* brigade/blacs_mpi.h has Csys2blacs_handle() and Cblacs2sys_handle(). */

/** Frees a system handle; its communicator stays valid. */
void Cfree_blacs_system_handle(blacs_int handle);

/** @} */

/** @name Message ids
   These functions exist for old programs; nothing depends on the results. All functions of
   this section are local. */
/** @{ */

/** Returns a constant. */
blacs_int Cksendid(blacs_int ctxt, blacs_int rdest, blacs_int cdest);
/** Returns a constant. */
blacs_int Ckrecvid(blacs_int ctxt, blacs_int rsrc, blacs_int csrc);
/** Returns the value of a counter of the scope, which starts at 0, and then increments the counter.
   Broadcasts neither read nor increment the counter. */
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
   The second letter of a name is the type of the elements: i (blacs_int), s (float), d (double),
   c (pairs of float), z (pairs of double). ge means general matrices, and tr trapezoidal
   matrices. */
/** @{ */

/** Declares the functions of one type. This header undefines the macro again. */
#define BRIGADE_BLACS_DECLARE(t, T)                                                                \
  /** Sends A to {rdest,cdest}; see convention 5. */                                               \
  void C##t##gesd2d(blacs_int ctxt, blacs_int m, blacs_int n, const T* A, blacs_int lda,           \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** Sends a trapezoid to {rdest,cdest}; see convention 5. */                                     \
  void C##t##trsd2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                  \
  /** Receives A from {rsrc,csrc}. */                                                              \
  void C##t##gerv2d(blacs_int ctxt, blacs_int m, blacs_int n, T* A, blacs_int lda, blacs_int rsrc, \
                    blacs_int csrc);                                                               \
  /** Receives a trapezoid from {rsrc,csrc}. */                                                    \
  void C##t##trrv2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Broadcasts A to the scope; see convention 6. */                                              \
  void C##t##gebs2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda);                                                    \
  /** Broadcasts a trapezoid to the scope; see convention 6. */                                    \
  void C##t##trbs2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, const T* A, blacs_int lda);        \
  /** Receives A from the broadcast of {rsrc,csrc}; see convention 6. */                           \
  void C##t##gebr2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Receives a trapezoid from the broadcast of {rsrc,csrc}; see convention 6. */                 \
  void C##t##trbr2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, T* A, blacs_int lda,               \
                    blacs_int rsrc, blacs_int csrc);                                               \
  /** Sums A element by element; see convention 7. */                                              \
  void C##t##gsum2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                        \
  /** For each element of A, finds the largest magnitude; see convention 7. */                     \
  void C##t##gamx2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** For each element of A, finds the smallest magnitude; see convention 7. */                    \
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
