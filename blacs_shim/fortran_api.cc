// The Fortran entry points: lower case, one trailing underscore, all arguments by pointer. The
// lengths of strings that compilers append are not read. They call internal functions only (see
// c_api.cc).

#include <mpi.h>

#include "blacs_shim/broadcast.h"
#include "blacs_shim/call.h"
#include "blacs_shim/combine.h"
#include "blacs_shim/point_to_point.h"
#include "blacs_shim/routine.h"
#include "blacs_shim/support.h"
#include "brigade/blacs.h"

using namespace brigade::blacs;  // NOLINT: this file is nothing but their Fortran names
using brigade::Element;

extern "C" {

void blacs_pinfo_(blacs_int* mypnum, blacs_int* nprocs) {
  ProcessInfo("blacs_pinfo", mypnum, nprocs);
}
void blacs_setup_(blacs_int* mypnum, blacs_int* nprocs) {
  ProcessInfo("blacs_setup", mypnum, nprocs);
}
void blacs_exit_(const blacs_int* notdone) { Exit(*notdone); }
void blacs_abort_(const blacs_int* ctxt, const blacs_int* errnum) { Abort(*ctxt, *errnum); }

void blacs_get_(const blacs_int* ctxt, const blacs_int* what, blacs_int* val) {
  GetParameter(Language::kFortran, *ctxt, *what, val);
}
void blacs_set_(const blacs_int* ctxt, const blacs_int* what, const blacs_int* val) {
  SetParameter(*ctxt, *what, *val);
}

void blacs_gridinit_(blacs_int* ctxt, const char* order, const blacs_int* nprow,
                     const blacs_int* npcol) {
  GridInit(Language::kFortran, ctxt, order, *nprow, *npcol);
}
void blacs_gridmap_(blacs_int* ctxt, const blacs_int* usermap, const blacs_int* ldumap,
                    const blacs_int* nprow, const blacs_int* npcol) {
  GridMap(Language::kFortran, ctxt, usermap, *ldumap, *nprow, *npcol);
}
void blacs_gridexit_(const blacs_int* ctxt) { GridExit(*ctxt); }
void blacs_gridinfo_(const blacs_int* ctxt, blacs_int* nprow, blacs_int* npcol, blacs_int* myrow,
                     blacs_int* mycol) {
  GridInfo(*ctxt, nprow, npcol, myrow, mycol);
}
blacs_int blacs_pnum_(const blacs_int* ctxt, const blacs_int* prow, const blacs_int* pcol) {
  return ProcessNumber(*ctxt, *prow, *pcol);
}
void blacs_pcoord_(const blacs_int* ctxt, const blacs_int* pnum, blacs_int* prow, blacs_int* pcol) {
  ProcessCoordinates(*ctxt, *pnum, prow, pcol);
}

void blacs_barrier_(const blacs_int* ctxt, const char* scope) { Barrier(*ctxt, scope); }
void blacs_freebuff_(const blacs_int*, const blacs_int* wait) { FreeBuffers(*wait); }

// A Fortran handle is the communicator's Fortran number.
blacs_int sys2blacs_handle_(const blacs_int* comm) { return *comm; }
blacs_int blacs2sys_handle_(const blacs_int* handle) { return *handle; }
void free_blacs_system_handle_(const blacs_int*) {}

blacs_int ksendid_(const blacs_int*, const blacs_int*, const blacs_int*) { return kPointToPointId; }
blacs_int krecvid_(const blacs_int*, const blacs_int*, const blacs_int*) { return kPointToPointId; }
blacs_int kbsid_(const blacs_int* ctxt, const char* scope) {
  return BroadcastId("kbsid", *ctxt, scope);
}
blacs_int kbrid_(const blacs_int* ctxt, const char* scope, const blacs_int*, const blacs_int*) {
  return BroadcastId("kbrid", *ctxt, scope);
}

double dcputime00_(void) { return -1.0; }
double dwalltime00_(void) { return MPI_Wtime(); }

#define BRIGADE_BLACS_DEFINE(t, T, type)                                                          \
  void t##gesd2d_(const blacs_int* ctxt, const blacs_int* m, const blacs_int* n, const T* A,      \
                  const blacs_int* lda, const blacs_int* rdest, const blacs_int* cdest) {         \
    Send({#t "gesd2d", Verb::kGesd2d, Element::type}, *ctxt, General(A, *m, *n, *lda), *rdest,    \
         *cdest);                                                                                 \
  }                                                                                               \
  void t##trsd2d_(const blacs_int* ctxt, const char* uplo, const char* diag, const blacs_int* m,  \
                  const blacs_int* n, const T* A, const blacs_int* lda, const blacs_int* rdest,   \
                  const blacs_int* cdest) {                                                       \
    Send({#t "trsd2d", Verb::kTrsd2d, Element::type}, *ctxt,                                      \
         Trapezoid(uplo, diag, A, *m, *n, *lda), *rdest, *cdest);                                 \
  }                                                                                               \
  void t##gerv2d_(const blacs_int* ctxt, const blacs_int* m, const blacs_int* n, T* A,            \
                  const blacs_int* lda, const blacs_int* rsrc, const blacs_int* csrc) {           \
    Receive({#t "gerv2d", Verb::kGerv2d, Element::type}, *ctxt, General(A, *m, *n, *lda), *rsrc,  \
            *csrc);                                                                               \
  }                                                                                               \
  void t##trrv2d_(const blacs_int* ctxt, const char* uplo, const char* diag, const blacs_int* m,  \
                  const blacs_int* n, T* A, const blacs_int* lda, const blacs_int* rsrc,          \
                  const blacs_int* csrc) {                                                        \
    Receive({#t "trrv2d", Verb::kTrrv2d, Element::type}, *ctxt,                                   \
            Trapezoid(uplo, diag, A, *m, *n, *lda), *rsrc, *csrc);                                \
  }                                                                                               \
  void t##gebs2d_(const blacs_int* ctxt, const char* scope, const char* top, const blacs_int* m,  \
                  const blacs_int* n, const T* A, const blacs_int* lda) {                         \
    BroadcastSend({#t "gebs2d", Verb::kGebs2d, Element::type}, *ctxt, scope, top,                 \
                  General(A, *m, *n, *lda));                                                      \
  }                                                                                               \
  void t##trbs2d_(const blacs_int* ctxt, const char* scope, const char* top, const char* uplo,    \
                  const char* diag, const blacs_int* m, const blacs_int* n, const T* A,           \
                  const blacs_int* lda) {                                                         \
    BroadcastSend({#t "trbs2d", Verb::kTrbs2d, Element::type}, *ctxt, scope, top,                 \
                  Trapezoid(uplo, diag, A, *m, *n, *lda));                                        \
  }                                                                                               \
  void t##gebr2d_(const blacs_int* ctxt, const char* scope, const char* top, const blacs_int* m,  \
                  const blacs_int* n, T* A, const blacs_int* lda, const blacs_int* rsrc,          \
                  const blacs_int* csrc) {                                                        \
    BroadcastReceive({#t "gebr2d", Verb::kGebr2d, Element::type}, *ctxt, scope, top,              \
                     General(A, *m, *n, *lda), *rsrc, *csrc);                                     \
  }                                                                                               \
  void t##trbr2d_(const blacs_int* ctxt, const char* scope, const char* top, const char* uplo,    \
                  const char* diag, const blacs_int* m, const blacs_int* n, T* A,                 \
                  const blacs_int* lda, const blacs_int* rsrc, const blacs_int* csrc) {           \
    BroadcastReceive({#t "trbr2d", Verb::kTrbr2d, Element::type}, *ctxt, scope, top,              \
                     Trapezoid(uplo, diag, A, *m, *n, *lda), *rsrc, *csrc);                       \
  }                                                                                               \
  void t##gsum2d_(const blacs_int* ctxt, const char* scope, const char* top, const blacs_int* m,  \
                  const blacs_int* n, T* A, const blacs_int* lda, const blacs_int* rdest,         \
                  const blacs_int* cdest) {                                                       \
    Sum({#t "gsum2d", Verb::kGsum2d, Element::type}, *ctxt, scope, top, General(A, *m, *n, *lda), \
        *rdest, *cdest);                                                                          \
  }                                                                                               \
  void t##gamx2d_(const blacs_int* ctxt, const char* scope, const char* top, const blacs_int* m,  \
                  const blacs_int* n, T* A, const blacs_int* lda, blacs_int* rA, blacs_int* cA,   \
                  const blacs_int* ldia, const blacs_int* rdest, const blacs_int* cdest) {        \
    Extreme({#t "gamx2d", Verb::kGamx2d, Element::type}, *ctxt, scope, top,                       \
            General(A, *m, *n, *lda), {rA, cA, *ldia}, *rdest, *cdest);                           \
  }                                                                                               \
  void t##gamn2d_(const blacs_int* ctxt, const char* scope, const char* top, const blacs_int* m,  \
                  const blacs_int* n, T* A, const blacs_int* lda, blacs_int* rA, blacs_int* cA,   \
                  const blacs_int* ldia, const blacs_int* rdest, const blacs_int* cdest) {        \
    Extreme({#t "gamn2d", Verb::kGamn2d, Element::type}, *ctxt, scope, top,                       \
            General(A, *m, *n, *lda), {rA, cA, *ldia}, *rdest, *cdest);                           \
  }
BRIGADE_BLACS_FOR_EACH_TYPE(BRIGADE_BLACS_DEFINE)

}  // extern "C"
