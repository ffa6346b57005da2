#include "bench/contenders/blacs_grid.h"

#include <dlfcn.h>
#include <stdlib.h>

namespace brigade::bench {

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

Status BlacsGrid::Create(const std::string& library, int rows, std::unique_ptr<BlacsGrid>* result) {
  // Never closed: MPI keeps pointers to attribute callbacks inside it until MPI_Finalize.
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Status(StatusCode::kUnavailable, dlerror());

  std::unique_ptr<BlacsGrid> grid(new BlacsGrid);
  BlacsRoutines& routines = grid->routines_;
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_pinfo", &routines.blacs_pinfo));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_get", &routines.blacs_get));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_gridinit", &routines.blacs_gridinit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_gridexit", &routines.blacs_gridexit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cblacs_exit", &routines.blacs_exit));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgesd2d", &routines.dgesd2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgerv2d", &routines.dgerv2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgebs2d", &routines.dgebs2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgebr2d", &routines.dgebr2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgsum2d", &routines.dgsum2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cdgamx2d", &routines.dgamx2d));
  BRIGADE_RETURN_IF_ERROR(Find(handle, "Cigamn2d", &routines.igamn2d));

  Dl_info info;
  dladdr(reinterpret_cast<void*>(routines.dgesd2d), &info);
  char* real_path = realpath(info.dli_fname, nullptr);
  grid->path_ = real_path != nullptr ? real_path : info.dli_fname;
  free(real_path);

  routines.blacs_pinfo(&grid->rank_, &grid->ranks_);
  routines.blacs_get(-1, 0, &grid->context_);
  grid->rows_ = rows;
  routines.blacs_gridinit(&grid->context_, "Row", rows, grid->cols());
  *result = std::move(grid);
  return Status();
}

BlacsGrid::~BlacsGrid() {
  if (context_ < 0) return;
  routines_.blacs_gridexit(context_);
  routines_.blacs_exit(/*keep_mpi=*/1);
}

void BlacsGrid::Send(const PanelView& panel, int receiver) {
  routines_.dgesd2d(context_, Int(panel.rows), Int(panel.cols), panel.data, Int(panel.ld), 0,
                    receiver);
}

void BlacsGrid::Receive(const PanelView& panel, int sender) {
  routines_.dgerv2d(context_, Int(panel.rows), Int(panel.cols), panel.data, Int(panel.ld), 0,
                    sender);
}

void BlacsGrid::Broadcast(char topology, int root, const PanelView& panel) {
  const char top[] = {topology, '\0'};
  if (ranks_ == 1) return;
  if (rank_ == root) {
    routines_.dgebs2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                      Int(panel.ld));
  } else {
    routines_.dgebr2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                      Int(panel.ld), 0, root);
  }
}

void BlacsGrid::Sum(char topology, int root, const PanelView& panel) {
  const char top[] = {topology, '\0'};
  routines_.dgsum2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                    Int(panel.ld), 0, root);
}

void BlacsGrid::SumToAll(char topology, const PanelView& panel) {
  constexpr int kAll = -1;
  const char top[] = {topology, '\0'};
  routines_.dgsum2d(context_, kScope, top, Int(panel.rows), Int(panel.cols), panel.data,
                    Int(panel.ld), kAll, kAll);
}

}  // namespace brigade::bench
