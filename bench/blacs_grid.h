// BlacsGrid: a 1 x ranks process grid in one particular BLACS library. Libraries are opened side by
// side, each with its symbols to itself, so that stock BLACS and the shim compete in one process.

#ifndef BRIGADE_BENCH_BLACS_GRID_H_
#define BRIGADE_BENCH_BLACS_GRID_H_

#include <memory>
#include <string>

#include "bench/panel.h"
#include "membuf/status.h"

namespace brigade::bench {

class BlacsGrid {
 public:
  // Collective over all ranks; MPI is initialised. kUnavailable, naming the library, if it cannot
  // be opened or lacks a routine.
  static Status Create(const std::string& library, std::unique_ptr<BlacsGrid>* grid);
  // Collective. MPI stays alive.
  ~BlacsGrid();
  BlacsGrid(const BlacsGrid&) = delete;
  BlacsGrid& operator=(const BlacsGrid&) = delete;

  // dgesd2d and dgerv2d.
  void Send(const PanelView& panel, int receiver);
  void Receive(const PanelView& panel, int sender);
  // dgebs2d at the root, dgebr2d elsewhere; nothing in a grid of one. `topology`: a BLACS letter.
  void Broadcast(char topology, int root, const PanelView& panel);
  // dgsum2d: in place at the root; other ranks' panels become scratch.
  void Sum(char topology, int root, const PanelView& panel);

  // The file the routines came from.
  const std::string& path() const { return path_; }

 private:
  struct Routines;
  BlacsGrid() = default;

  std::unique_ptr<Routines> routines_;
  std::string path_;
  int context_ = -1;
  int rank_ = 0;
  int ranks_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_BLACS_GRID_H_
