// The C entry points. They call internal functions only: a program may export Fortran names that
// call these (the BLACS tester does), and a call of a public name would come back to it.

#include "blacs_shim/broadcast.h"
#include "blacs_shim/call.h"
#include "blacs_shim/combine.h"
#include "blacs_shim/point_to_point.h"
#include "blacs_shim/routine.h"
#include "blacs_shim/support.h"
#include "brigade/blacs.h"

using namespace brigade::blacs;  // NOLINT: this file is nothing but their C names
using brigade::ElementType;

extern "C" {

void Cblacs_pinfo(int* mypnum, int* nprocs) { ProcessInfo("blacs_pinfo", mypnum, nprocs); }
void Cblacs_setup(int* mypnum, int* nprocs) { ProcessInfo("blacs_setup", mypnum, nprocs); }
void Cblacs_exit(int notdone) { Exit(notdone); }
void Cblacs_abort(int ctxt, int errnum) { Abort(ctxt, errnum); }

void Cblacs_get(int ctxt, int what, int* val) { GetParameter(Language::kC, ctxt, what, val); }
void Cblacs_set(int ctxt, int what, const int* val) { SetParameter(ctxt, what, *val); }

void Cblacs_gridinit(int* ctxt, const char* order, int nprow, int npcol) {
  GridInit(Language::kC, ctxt, order, nprow, npcol);
}
void Cblacs_gridmap(int* ctxt, const int* usermap, int ldumap, int nprow, int npcol) {
  GridMap(Language::kC, ctxt, usermap, ldumap, nprow, npcol);
}
void Cblacs_gridexit(int ctxt) { GridExit(ctxt); }
void Cblacs_gridinfo(int ctxt, int* nprow, int* npcol, int* myrow, int* mycol) {
  GridInfo(ctxt, nprow, npcol, myrow, mycol);
}
int Cblacs_pnum(int ctxt, int prow, int pcol) { return ProcessNumber(ctxt, prow, pcol); }
void Cblacs_pcoord(int ctxt, int pnum, int* prow, int* pcol) {
  ProcessCoordinates(ctxt, pnum, prow, pcol);
}

void Cblacs_barrier(int ctxt, const char* scope) { Barrier(ctxt, scope); }
void Cblacs_freebuff(int ctxt, int wait) { FreeBuffers(ctxt, wait); }

int Csys2blacs_handle(MPI_Comm comm) { return HandleOf(comm); }
MPI_Comm Cblacs2sys_handle(int handle) { return CommunicatorOf(handle); }
void Cfree_blacs_system_handle(int handle) { FreeHandle(handle); }

int Cksendid(int, int, int) { return kPointToPointId; }
int Ckrecvid(int, int, int) { return kPointToPointId; }
int Ckbsid(int ctxt, const char* scope) { return BroadcastId("kbsid", ctxt, scope); }
int Ckbrid(int ctxt, const char* scope, int, int) { return BroadcastId("kbrid", ctxt, scope); }

double Cdcputime00(void) { return -1.0; }
double Cdwalltime00(void) { return MPI_Wtime(); }

#define BRIGADE_BLACS_DEFINE(t, T, type)                                                          \
  void C##t##gesd2d(int ctxt, int m, int n, const T* A, int lda, int rdest, int cdest) {          \
    Send({#t "gesd2d", Verb::kGesd2d, ElementType::type}, ctxt, General(A, m, n, lda), rdest,     \
         cdest);                                                                                  \
  }                                                                                               \
  void C##t##trsd2d(int ctxt, const char* uplo, const char* diag, int m, int n, const T* A,       \
                    int lda, int rdest, int cdest) {                                              \
    Send({#t "trsd2d", Verb::kTrsd2d, ElementType::type}, ctxt,                                   \
         Trapezoid(uplo, diag, A, m, n, lda), rdest, cdest);                                      \
  }                                                                                               \
  void C##t##gerv2d(int ctxt, int m, int n, T* A, int lda, int rsrc, int csrc) {                  \
    Receive({#t "gerv2d", Verb::kGerv2d, ElementType::type}, ctxt, General(A, m, n, lda), rsrc,   \
            csrc);                                                                                \
  }                                                                                               \
  void C##t##trrv2d(int ctxt, const char* uplo, const char* diag, int m, int n, T* A, int lda,    \
                    int rsrc, int csrc) {                                                         \
    Receive({#t "trrv2d", Verb::kTrrv2d, ElementType::type}, ctxt,                                \
            Trapezoid(uplo, diag, A, m, n, lda), rsrc, csrc);                                     \
  }                                                                                               \
  void C##t##gebs2d(int ctxt, const char* scope, const char* top, int m, int n, const T* A,       \
                    int lda) {                                                                    \
    BroadcastSend({#t "gebs2d", Verb::kGebs2d, ElementType::type}, ctxt, scope, top,              \
                  General(A, m, n, lda));                                                         \
  }                                                                                               \
  void C##t##trbs2d(int ctxt, const char* scope, const char* top, const char* uplo,               \
                    const char* diag, int m, int n, const T* A, int lda) {                        \
    BroadcastSend({#t "trbs2d", Verb::kTrbs2d, ElementType::type}, ctxt, scope, top,              \
                  Trapezoid(uplo, diag, A, m, n, lda));                                           \
  }                                                                                               \
  void C##t##gebr2d(int ctxt, const char* scope, const char* top, int m, int n, T* A, int lda,    \
                    int rsrc, int csrc) {                                                         \
    BroadcastReceive({#t "gebr2d", Verb::kGebr2d, ElementType::type}, ctxt, scope, top,           \
                     General(A, m, n, lda), rsrc, csrc);                                          \
  }                                                                                               \
  void C##t##trbr2d(int ctxt, const char* scope, const char* top, const char* uplo,               \
                    const char* diag, int m, int n, T* A, int lda, int rsrc, int csrc) {          \
    BroadcastReceive({#t "trbr2d", Verb::kTrbr2d, ElementType::type}, ctxt, scope, top,           \
                     Trapezoid(uplo, diag, A, m, n, lda), rsrc, csrc);                            \
  }                                                                                               \
  void C##t##gsum2d(int ctxt, const char* scope, const char* top, int m, int n, T* A, int lda,    \
                    int rdest, int cdest) {                                                       \
    Sum({#t "gsum2d", Verb::kGsum2d, ElementType::type}, ctxt, scope, top, General(A, m, n, lda), \
        rdest, cdest);                                                                            \
  }                                                                                               \
  void C##t##gamx2d(int ctxt, const char* scope, const char* top, int m, int n, T* A, int lda,    \
                    int* rA, int* cA, int ldia, int rdest, int cdest) {                           \
    Extreme({#t "gamx2d", Verb::kGamx2d, ElementType::type}, ctxt, scope, top,                    \
            General(A, m, n, lda), {rA, cA, ldia}, rdest, cdest);                                 \
  }                                                                                               \
  void C##t##gamn2d(int ctxt, const char* scope, const char* top, int m, int n, T* A, int lda,    \
                    int* rA, int* cA, int ldia, int rdest, int cdest) {                           \
    Extreme({#t "gamn2d", Verb::kGamn2d, ElementType::type}, ctxt, scope, top,                    \
            General(A, m, n, lda), {rA, cA, ldia}, rdest, cdest);                                 \
  }
BRIGADE_BLACS_FOR_EACH_TYPE(BRIGADE_BLACS_DEFINE)

}  // extern "C"
