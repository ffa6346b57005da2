// BlacsGrid: a process grid in one particular BLACS library. Libraries are opened side by side,
// each with its symbols to itself, so that the reference BLACS and the shim compete in one process.

#ifndef BRIGADE_BENCH_CONTENDERS_BLACS_GRID_H_
#define BRIGADE_BENCH_CONTENDERS_BLACS_GRID_H_

#include <memory>
#include <string>

#include "bench/runner/panel.h"
#include "membuf/status.h"

namespace brigade::bench {

// A library's routines, by their C names without the C.
struct BlacsRoutines {
  void (*blacs_pinfo)(int* rank, int* ranks);
  void (*blacs_get)(int context, int what, int* value);
  void (*blacs_gridinit)(int* context, const char* order, int rows, int cols);
  void (*blacs_gridexit)(int context);
  void (*blacs_exit)(int keep_mpi);
  void (*dgesd2d)(int context, int m, int n, double* a, int lda, int row, int col);
  void (*dgerv2d)(int context, int m, int n, double* a, int lda, int row, int col);
  void (*dgebs2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                  int lda);
  void (*dgebr2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                  int lda, int row, int col);
  void (*dgsum2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                  int lda, int row, int col);
  void (*dgamx2d)(int context, const char* scope, const char* topology, int m, int n, double* a,
                  int lda, int* rows, int* cols, int ld_coords, int row, int col);
  void (*igamn2d)(int context, const char* scope, const char* topology, int m, int n, int* a,
                  int lda, int* rows, int* cols, int ld_coords, int row, int col);
};

class BlacsGrid {
 public:
  // Collective over all ranks, which `rows` divides; MPI is initialised. Ranks are numbered row by
  // row. kUnavailable, naming the library, if it cannot be opened or lacks a routine.
  static Status Create(const std::string& library, int rows, std::unique_ptr<BlacsGrid>* grid);
  // Collective. MPI stays alive.
  ~BlacsGrid();
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;

  // dgesd2d and dgerv2d. Here and below the grid has one row.
  void Send(const PanelView& panel, int receiver);
  void Receive(const PanelView& panel, int sender);
  // dgebs2d at the root, dgebr2d elsewhere; nothing in a grid of one. `topology`: a BLACS letter.
  void Broadcast(char topology, int root, const PanelView& panel);
  // dgsum2d: in place at the root; other ranks' panels become scratch.
  void Sum(char topology, int root, const PanelView& panel);
  void SumToAll(char topology, const PanelView& panel);

  const BlacsRoutines& routines() const { return routines_; }
  int context() const { return context_; }
  int rows() const { return rows_; }
  int cols() const { return ranks_ / rows_; }

  // The file the routines came from.
  const std::string& path() const { return path_; }

 private:
  BlacsGrid() = default;

  BlacsRoutines routines_;
  std::string path_;
  int context_ = -1;
  int rank_ = 0;
  int ranks_ = 0;
  int rows_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BLACS_GRID_H_
