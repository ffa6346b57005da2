/** @file
   The BLACS, C interface, as libbrigade_blacs.so provides it. Usable from C and C++.

   Conventions:

   1. Ranks of a grid are named {row,col}, from 0. Inside a context the numbering is row by row.
   2. A context is a small number, from 0; -1 means that this process is not in the grid. A system
      handle stands for an MPI communicator. Its number is neither a context nor an MPI handle of
      Fortran.
   3. Matrices are column-major m x n with leading dimension lda; lda below m counts as m. Complex
      matrices are arrays of (real, imaginary) pairs. m or n may be 0; the message is then empty,
      but must be received like any other.
   4. Only the first character of a string is read, in upper or lower case; the string need not end
      in a NUL. scope: R (my row), C (my column), A (all). uplo: U, else lower. diag: U (unit: the
      diagonal is left out), else non-unit. top: see docs/user/blacs.md.
   5. Sends (sd2d) return once the matrix may be reused, and do not wait for the receiver. Receives
      (rv2d) return when the data have arrived. Messages between two processes of a context keep
      their order, also if their types differ. The number of elements must match; the shapes may
      differ. A receive into a larger region leaves the rest of the region untouched.
   6. All processes of a scope make their scoped calls in the same order, with equal scope, top,
      rdest, cdest and number of elements. Broadcasts: one process calls bs2d. All other processes
      call br2d with the coordinates of that process; rsrc is ignored in a row, csrc in a column.
   7. Combines: every process contributes A. The result replaces A at {rdest,cdest}, or on all
      processes if rdest or cdest is -1. On other processes A is unspecified afterwards. Results
      have the same bits on all processes and in every run. amx and amn compare |x|, or |re| + |im|
      for complex x. If ldia is -1, rA and cA are not used, and the larger signed value wins among
      equal |x|. Otherwise rA and cA (leading dimension ldia; below m counts as m) receive the
      coordinates of the winner's process. Among equal |x| the first process then wins, in the order
      of ranks from the destination upwards and then from 0; from 0 if the result goes to all.
   8. Errors are reported on stderr and end the job by MPI_Abort.
   9. At most one thread of a process at a time may call.

   Costs of calls: docs/design/patterns.md. */

#ifndef BRIGADE_BLACS_H_
#define BRIGADE_BLACS_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The integer of all arguments but communicators: of 32 bits; in a program that is compiled with
   BRIGADE_BLACS_ILP64 defined, and linked with libbrigade_blacs64.so, of 64. */
#ifdef BRIGADE_BLACS_ILP64
typedef int64_t blacs_int;
#else
typedef int blacs_int;
#endif

/** @name Start and end
   The first call initialises MPI if the program has not. */
/** @{ */

/** Returns rank and size in MPI_COMM_WORLD. Local. */
void Cblacs_pinfo(blacs_int* mypnum, blacs_int* nprocs);
/** Like Cblacs_pinfo(). */
void Cblacs_setup(blacs_int* mypnum, blacs_int* nprocs);
/** Completes all sends and frees all contexts. notdone == 0: also finalises MPI; otherwise MPI and
   the BLACS remain usable. */
void Cblacs_exit(blacs_int notdone);
/** Ends all processes with exit code errnum; ctxt may be -1. */
void Cblacs_abort(blacs_int ctxt, blacs_int errnum);

/** @} */

/** @name Parameters
   what: 0 handle of MPI_COMM_WORLD; 1 range of message ids (val[0], val[1]); 2 debug level; 10
   handle of the context's communicator; 11, 13 rings of topology M, broadcast and combine; 12, 14
   branches of topology T, broadcast and combine; 15 repeatable, 16 coherent (always on). */
/** @{ */

/** Returns parameter `what`. ctxt is used for parameters from 10 on only. Local. */
void Cblacs_get(blacs_int ctxt, blacs_int what, blacs_int* val);
/** Sets one of the parameters 11, 12, ..., 16 of a context. Parameters 11 to 14 must be equal on
   all processes of the context. Local. Any other parameter causes a warning. */
void Cblacs_set(blacs_int ctxt, blacs_int what, const blacs_int* val);

/** @} */

/** @name Grids */
/** @{ */

/** Makes a grid of the first nprow x npcol processes of a system handle. Collective over these
   processes; others get -1 at once. All arguments are equal on all of them.

   @param ctxt   in: the system handle; out: the context
   @param order  C (column by column), else row by row
   @param nprow  rows
   @param npcol  columns

   Cost: a few messages per process; the first grid opens the transport, and on several hosts
   measures it once. */
void Cblacs_gridinit(blacs_int* ctxt, const char* order, blacs_int nprow, blacs_int npcol);
/** Makes a grid of any processes, like Cblacs_gridinit(). usermap[j * ldumap + i]: rank, in the
   handle's communicator, of the process at {i,j}. */
void Cblacs_gridmap(blacs_int* ctxt, const blacs_int* usermap, blacs_int ldumap, blacs_int nprow,
                    blacs_int npcol);
/** Frees a context. Local; messages on their way still arrive. */
void Cblacs_gridexit(blacs_int ctxt);
/** Returns the shape of the grid and this process's place. Any ctxt is legal: returns four -1 if it
   is not a context. Local. */
void Cblacs_gridinfo(blacs_int ctxt, blacs_int* nprow, blacs_int* npcol, blacs_int* myrow,
                     blacs_int* mycol);
/** Returns the number of the process at {prow,pcol}; -1 outside the grid. Local. */
blacs_int Cblacs_pnum(blacs_int ctxt, blacs_int prow, blacs_int pcol);
/** Returns the place of process pnum; -1, -1 if it is not in the grid. Local. */
void Cblacs_pcoord(blacs_int ctxt, blacs_int pnum, blacs_int* prow, blacs_int* pcol);
/** Blocks until all processes of the scope have called. No effect if the scope is unknown. */
void Cblacs_barrier(blacs_int ctxt, const char* scope);
/** Frees memory kept for reuse. If wait != 0, first waits until all sends are complete. */
void Cblacs_freebuff(blacs_int ctxt, blacs_int wait);

/** @} */

/** @name System handles
   The caller keeps the communicator, which must be valid until the grid is made. All are local. */
/** @{ */

/* brigade/blacs_mpi.h has Csys2blacs_handle() and Cblacs2sys_handle(). */

/** Frees a handle; the communicator stays valid. */
void Cfree_blacs_system_handle(blacs_int handle);

/** @} */

/** @name Message ids
   Kept for old programs; nothing depends on them. All are local. */
/** @{ */

/** Returns a constant. */
blacs_int Cksendid(blacs_int ctxt, blacs_int rdest, blacs_int cdest);
/** Returns a constant. */
blacs_int Ckrecvid(blacs_int ctxt, blacs_int rsrc, blacs_int csrc);
/** Returns a number for the next broadcast in the scope, incremented at each call. */
blacs_int Ckbsid(blacs_int ctxt, const char* scope);
/** Like Ckbsid(), with one counter for both. */
blacs_int Ckbrid(blacs_int ctxt, const char* scope, blacs_int rsrc, blacs_int csrc);

/** @} */

/** @name Clocks
   Local. */
/** @{ */

/** Returns -1: processor time is not available. */
double Cdcputime00(void);
/** Returns the seconds since some moment. */
double Cdwalltime00(void);

/** @} */

/** @name Communication
   For i (blacs_int), s (float), d (double), c (pairs of float), z (pairs of double): general (ge)
   and trapezoidal (tr) matrices. */
/** @{ */

/** Declares the functions of one type. Undefined at the end of this header. */
#define BRIGADE_BLACS_DECLARE(t, T)                                                                \
  /** Sends A to {rdest,cdest}; see convention 5. */                                               \
  void C##t##gesd2d(blacs_int ctxt, blacs_int m, blacs_int n, const T* A, blacs_int lda,           \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** Sends a trapezoid; see convention 5. */                                                      \
  void C##t##trsd2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                  \
  /** Receives A from {rsrc,csrc}. */                                                              \
  void C##t##gerv2d(blacs_int ctxt, blacs_int m, blacs_int n, T* A, blacs_int lda, blacs_int rsrc, \
                    blacs_int csrc);                                                               \
  /** Receives a trapezoid from {rsrc,csrc}. */                                                    \
  void C##t##trrv2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Broadcasts A to the scope, as convention 6 says. */                                          \
  void C##t##gebs2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda);                                                    \
  /** Broadcasts a trapezoid to the scope, as convention 6 says. */                                \
  void C##t##trbs2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, const T* A, blacs_int lda);        \
  /** Receives the broadcast of {rsrc,csrc}. */                                                    \
  void C##t##gebr2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc);                          \
  /** Receives the broadcast of a trapezoid of {rsrc,csrc}. */                                     \
  void C##t##trbr2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, T* A, blacs_int lda,               \
                    blacs_int rsrc, blacs_int csrc);                                               \
  /** Sums A element by element, as convention 7 says. */                                          \
  void C##t##gsum2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rdest, blacs_int cdest);                        \
  /** Largest magnitude, element by element, as convention 7 says. */                              \
  void C##t##gamx2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest);                                             \
  /** Smallest magnitude, element by element, as convention 7 says. */                             \
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
