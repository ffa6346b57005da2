#include "bench/blacs_grid.h"

#include <dlfcn.h>
#include <stdlib.h>

namespace brigade::bench {

struct BlacsGrid::Routines {
  void (*pinfo)(int* rank, int* ranks);
  void (*get)(int context, int what, int* value);
  void (*gridinit)(int* context, const char* order, int rows, int cols);
  void (*gridexit)(int context);
  void (*exit)(int keep_mpi);
  void (*gesd2d)(int context, int m, int n, double* a, int lda, int row, int col);
  void (*gerv2d)(int context, int m, int n, double* a, int lda, int row, int col);
  void (*gebs2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                 int lda);
  void (*gebr2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                 int lda, int row, int col);
  void (*gsum2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                 int lda, int row, int col);
};

namespace {

constexpr const char* kScope = "Row";

template <typename Function>
Status Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function != nullptr) return Status();
  return Status(StatusCode::kUnavailable, dlerror());
}

int Int(int64_t value) { return static_cast<int>(value); }

}  // namespace

Status BlacsGrid::Create(const std::string& library, std::unique_ptr<BlacsGrid>* result) {
  // Never closed: MPI keeps pointers to attribute callbacks inside it until MPI_Finalize.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status(StatusCode::kUnavailable, dlerror());

  std::unique_ptr<BlacsGrid> grid(new BlacsGrid);
  grid->routines_ = std::make_unique<Routines>();
  Routines& routines = *grid->routines_;
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_pinfo", &routines.pinfo));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_get", &routines.get));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_gridinit", &routines.gridinit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_gridexit", &routines.gridexit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_exit", &routines.exit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgesd2d", &routines.gesd2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgerv2d", &routines.gerv2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgebs2d", &routines.gebs2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgebr2d", &routines.gebr2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgsum2d", &routines.gsum2d));

  Dl_info info;
  dladdr(reinterpret_cast<void*>(routines.gesd2d), &info);
  char* real_path = realpath(info.dli_fname, nullptr);
  grid->path_ = real_path != nullptr ? real_path : info.dli_fname;
  free(real_path);

  routines.pinfo(&grid->rank_, &grid->ranks_);
  routines.get(-1, 0, &grid->context_);
  routines.gridinit(&grid->context_, "Row", 1, grid->ranks_);
  *result = std::move(grid);
  return Status();
}

BlacsGrid::~BlacsGrid() {
  if (context_ < 0) return;
  routines_->gridexit(context_);
  routines_->exit(/*keep_mpi=*/1);
}

void BlacsGrid::Send(const PanelView& panel, int receiver) {
  routines_->gesd2d(context_, Int(panel.rows), Int(panel.cols), panel.data, Int(panel.ld), 0,
                    receiver);
}

void BlacsGrid::Receive(const PanelView& panel, int sender) {
  routines_->gerv2d(context_, Int(panel.rows), Int(panel.cols), panel.data, Int(panel.ld), 0,
                    sender);
}

void BlacsGrid::Broadcast(char topology, int root, const PanelView& panel) {
  const char top[] = {topology, '\0'};
  if (ranks_ == 1) return;
  if (rank_ == root) {
    routines_->gebs2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                      Int(panel.ld));
  } else {
    routines_->gebr2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                      Int(panel.ld), 0, root);
  }
}

void BlacsGrid::Sum(char topology, int root, const PanelView& panel) {
  const char top[] = {topology, '\0'};
  routines_->gsum2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                    Int(panel.ld), 0, root);
}

}  // namespace brigade::bench
