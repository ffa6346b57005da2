// The C entry points. They call internal functions only: a program may export Fortran names that
// call these (the BLACS tester does), and a call of a public name would come back to it.

#include "blacs_shim/broadcast.h"
#include "blacs_shim/call.h"
#include "blacs_shim/combine.h"
#include "blacs_shim/point_to_point.h"
#include "blacs_shim/routine.h"
#include "blacs_shim/support.h"
#include "brigade/blacs.h"
#include "brigade/blacs_mpi.h"

using namespace brigade::blacs;  // NOLINT: this file is nothing but their C names
using brigade::Element;

extern "C" {

void Cblacs_pinfo(blacs_int* mypnum, blacs_int* nprocs) {
  ProcessInfo("blacs_pinfo", mypnum, nprocs);
}
void Cblacs_setup(blacs_int* mypnum, blacs_int* nprocs) {
  ProcessInfo("blacs_setup", mypnum, nprocs);
}
void Cblacs_exit(blacs_int notdone) { Exit(notdone); }
void Cblacs_abort(blacs_int ctxt, blacs_int errnum) { Abort(ctxt, errnum); }

void Cblacs_get(blacs_int ctxt, blacs_int what, blacs_int* val) {
  GetParameter(Language::kC, ctxt, what, val);
}
void Cblacs_set(blacs_int ctxt, blacs_int what, const blacs_int* val) {
  SetParameter(ctxt, what, *val);
}

void Cblacs_gridinit(blacs_int* ctxt, const char* order, blacs_int nprow, blacs_int npcol) {
  GridInit(Language::kC, ctxt, order, nprow, npcol);
}
void Cblacs_gridmap(blacs_int* ctxt, const blacs_int* usermap, blacs_int ldumap, blacs_int nprow,
                    blacs_int npcol) {
  GridMap(Language::kC, ctxt, usermap, ldumap, nprow, npcol);
}
void Cblacs_gridexit(blacs_int ctxt) { GridExit(ctxt); }
void Cblacs_gridinfo(blacs_int ctxt, blacs_int* nprow, blacs_int* npcol, blacs_int* myrow,
                     blacs_int* mycol) {
  GridInfo(ctxt, nprow, npcol, myrow, mycol);
}
blacs_int Cblacs_pnum(blacs_int ctxt, blacs_int prow, blacs_int pcol) {
  return ProcessNumber(ctxt, prow, pcol);
}
void Cblacs_pcoord(blacs_int ctxt, blacs_int pnum, blacs_int* prow, blacs_int* pcol) {
  ProcessCoordinates(ctxt, pnum, prow, pcol);
}

void Cblacs_barrier(blacs_int ctxt, const char* scope) { Barrier(ctxt, scope); }
void Cblacs_freebuff(blacs_int, blacs_int wait) { FreeBuffers(wait); }

blacs_int Csys2blacs_handle(MPI_Comm comm) { return HandleOf(comm); }
MPI_Comm Cblacs2sys_handle(blacs_int handle) { return CommunicatorOf(handle); }
void Cfree_blacs_system_handle(blacs_int handle) { FreeHandle(handle); }

blacs_int Cksendid(blacs_int, blacs_int, blacs_int) { return kPointToPointId; }
blacs_int Ckrecvid(blacs_int, blacs_int, blacs_int) { return kPointToPointId; }
blacs_int Ckbsid(blacs_int ctxt, const char* scope) { return BroadcastId("kbsid", ctxt, scope); }
blacs_int Ckbrid(blacs_int ctxt, const char* scope, blacs_int, blacs_int) {
  return BroadcastId("kbrid", ctxt, scope);
}

double Cdcputime00(void) { return -1.0; }
double Cdwalltime00(void) { return MPI_Wtime(); }

#define BRIGADE_BLACS_DEFINE(t, T, type)                                                           \
  void C##t##gesd2d(blacs_int ctxt, blacs_int m, blacs_int n, const T* A, blacs_int lda,           \
                    blacs_int rdest, blacs_int cdest) {                                            \
    Send({#t "gesd2d", Verb::kGesd2d, Element::type}, ctxt, General(A, m, n, lda), rdest, cdest);  \
  }                                                                                                \
  void C##t##trsd2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda, blacs_int rdest, blacs_int cdest) {                 \
    Send({#t "trsd2d", Verb::kTrsd2d, Element::type}, ctxt, Trapezoid(uplo, diag, A, m, n, lda),   \
         rdest, cdest);                                                                            \
  }                                                                                                \
  void C##t##gerv2d(blacs_int ctxt, blacs_int m, blacs_int n, T* A, blacs_int lda, blacs_int rsrc, \
                    blacs_int csrc) {                                                              \
    Receive({#t "gerv2d", Verb::kGerv2d, Element::type}, ctxt, General(A, m, n, lda), rsrc, csrc); \
  }                                                                                                \
  void C##t##trrv2d(blacs_int ctxt, const char* uplo, const char* diag, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc) {                         \
    Receive({#t "trrv2d", Verb::kTrrv2d, Element::type}, ctxt,                                     \
            Trapezoid(uplo, diag, A, m, n, lda), rsrc, csrc);                                      \
  }                                                                                                \
  void C##t##gebs2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    const T* A, blacs_int lda) {                                                   \
    BroadcastSend({#t "gebs2d", Verb::kGebs2d, Element::type}, ctxt, scope, top,                   \
                  General(A, m, n, lda));                                                          \
  }                                                                                                \
  void C##t##trbs2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, const T* A, blacs_int lda) {       \
    BroadcastSend({#t "trbs2d", Verb::kTrbs2d, Element::type}, ctxt, scope, top,                   \
                  Trapezoid(uplo, diag, A, m, n, lda));                                            \
  }                                                                                                \
  void C##t##gebr2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rsrc, blacs_int csrc) {                         \
    BroadcastReceive({#t "gebr2d", Verb::kGebr2d, Element::type}, ctxt, scope, top,                \
                     General(A, m, n, lda), rsrc, csrc);                                           \
  }                                                                                                \
  void C##t##trbr2d(blacs_int ctxt, const char* scope, const char* top, const char* uplo,          \
                    const char* diag, blacs_int m, blacs_int n, T* A, blacs_int lda,               \
                    blacs_int rsrc, blacs_int csrc) {                                              \
    BroadcastReceive({#t "trbr2d", Verb::kTrbr2d, Element::type}, ctxt, scope, top,                \
                     Trapezoid(uplo, diag, A, m, n, lda), rsrc, csrc);                             \
  }                                                                                                \
  void C##t##gsum2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int rdest, blacs_int cdest) {                       \
    Sum({#t "gsum2d", Verb::kGsum2d, Element::type}, ctxt, scope, top, General(A, m, n, lda),      \
        rdest, cdest);                                                                             \
  }                                                                                                \
  void C##t##gamx2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest) {                                            \
    Extreme({#t "gamx2d", Verb::kGamx2d, Element::type}, ctxt, scope, top, General(A, m, n, lda),  \
            {rA, cA, ldia}, rdest, cdest);                                                         \
  }                                                                                                \
  void C##t##gamn2d(blacs_int ctxt, const char* scope, const char* top, blacs_int m, blacs_int n,  \
                    T* A, blacs_int lda, blacs_int* rA, blacs_int* cA, blacs_int ldia,             \
                    blacs_int rdest, blacs_int cdest) {                                            \
    Extreme({#t "gamn2d", Verb::kGamn2d, Element::type}, ctxt, scope, top, General(A, m, n, lda),  \
            {rA, cA, ldia}, rdest, cdest);                                                         \
  }
BRIGADE_BLACS_FOR_EACH_TYPE(BRIGADE_BLACS_DEFINE)

}  // extern "C"
