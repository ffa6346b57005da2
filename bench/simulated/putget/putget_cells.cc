#include "bench/simulated/putget/putget_cells.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/simulated/putget/program_chunks.h"
#include "bench/simulated/putget/program_exchange.h"
#include "bench/simulated/putget/program_forces.h"
#include "bench/studies/putget/cg_solver.h"
#include "bench/studies/putget/grid_rows.h"
#include "bench/studies/putget/md_folds.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/md_tasks.h"
#include "bench/studies/putget/mg_halo.h"
#include "bench/studies/putget/mg_solver.h"
#include "bench/studies/putget/summa.h"
#include "transport/sim/sim_transport.h"

namespace brigade::bench {
namespace {

// Estimated rates of a core of the 2020s while all cores compute: limited by memory, and of dgemm.
constexpr double kGflopsByMemory = 1;
constexpr double kGflopsOfProducts = 40;
constexpr int kChunk = 128;  // columns, and atoms

Status RunProgram(const PutgetCell& cell, ProgramRank* me, double* began_us, double* ended_us) {
  const auto run = [&](size_t bytes, int rows, int cols, const auto& prepare, const auto& steps) {
    BRIGADE_RETURN_IF_ERROR(me->Open(bytes, rows, cols, prepare));
    *began_us = me->ClockUs();
    BRIGADE_RETURN_IF_ERROR(steps());
    *ended_us = me->ClockUs();
    return me->Close();
  };
  const auto run_solver = [&](const auto& solver, const auto& steps) {
    ProgramExchange exchange(me, solver.channels());
    const auto doubles = static_cast<size_t>(PairExchange::DoublesFor(solver.channels()));
    return run(
        doubles * sizeof(double), 1, cell.ranks, [] {}, [&] { return steps(&exchange); });
  };
  if (cell.study == "mg") {
    MgSolver solver({' ', cell.size, 1, {}, 0}, me->rank(), cell.ranks, /*has_values=*/false);
    return run_solver(solver,
                      [&](auto* exchange) { return solver.Iterate(exchange, me->ahead()); });
  }
  if (cell.study == "cg") {
    CgSolver solver({' ', cell.size, cell.detail, 1, 0, 0}, me->rank(), cell.ranks);
    return run_solver(solver, [&](auto* exchange) { return solver.Run(exchange, me->ahead()); });
  }
  const int rows = GridRows(cell.ranks);
  const int columns = cell.ranks / rows;
  if (cell.study == "md") {
    // All ranks have equally many atoms.
    const int atoms = (cell.size + cell.ranks - 1) / cell.ranks * cell.ranks;
    const MdSystem system(atoms, /*has_values=*/false);
    const auto bytes =
        static_cast<size_t>(MdTasks::WindowDoubles(system, cell.ranks)) * sizeof(double);
    double potential = 0;
    if (me->variant() == ProgramVariant::kMessages) {
      ProgramMessages messages(me);
      MdFolds folds(system, &messages, me->rank(), cell.ranks, 1);
      std::vector<double> positions(static_cast<size_t>(3 * atoms / cell.ranks));
      std::vector<double> forces(positions.size());
      return run(
          bytes, rows, columns, [] {},
          [&] { return folds.Compute(positions, &forces, &potential); });
    }
    ProgramWindow window(me);
    MdTasks tasks(system, &window, me->rank(), cell.ranks, cell.detail, me->ahead(), Pauses(0, 0),
                  1);
    const auto prepare = [&] {
      tasks.Prepare({});
      for (const MdTasks::Block& block : tasks.blocks()) {
        if (block.owner != me->rank()) continue;
        me->Expose(static_cast<size_t>(block.place) * sizeof(double),
                   static_cast<size_t>(block.atoms.count) * 3 * sizeof(double));
      }
    };
    // Every block takes part in a task with each block.
    const auto is_right = [&](double force) {
      return force == static_cast<double>(tasks.blocks().size());
    };
    return run(bytes, rows, columns, prepare, [&] {
      BRIGADE_RETURN_IF_ERROR(tasks.Share(&potential));
      const double* const forces = tasks.forces();
      if (std::all_of(forces, forces + 3 * atoms / cell.ranks, is_right)) return Status();
      return Status{StatusCode::kInternal,
                    "rank " + std::to_string(me->rank()) + " has not all forces"};
    });
  }
  Summa summa(rows * cell.size, columns * cell.columns, cell.detail, me->rank(), cell.ranks,
              nullptr);
  const auto chunk_bytes = [&cell](int length) {
    return static_cast<size_t>(length) * static_cast<size_t>(cell.detail) * sizeof(double);
  };
  ProgramChunks chunks(me, {chunk_bytes(cell.size), chunk_bytes(cell.columns)});
  return run(
      chunks.bytes(), rows, columns, [&] { chunks.Expose(); },
      [&] { return summa.Run(&chunks, me->ahead()); });
}

}  // namespace

std::vector<PutgetCell> PutgetCells(const std::string& study, int ranks,
                                    const std::vector<int>& orders) {
  std::vector<PutgetCell> cells;
  const int rows = GridRows(ranks);
  const bool is_power = (ranks & (ranks - 1)) == 0;
  if (study == "mg" && is_power) {
    for (const char name : {'A', 'C'}) {
      const int points = FindMgClass(name)->points;
      if (!MgHalo::Fits(points, ranks)) continue;
      cells.push_back(
          {std::string("NAS MG, class ") + name, study, ranks, points, 0, kGflopsByMemory});
    }
  } else if (study == "cg" && is_power) {
    for (const char name : {'A', 'B', 'C'}) {
      const CgClass& of = *FindCgClass(name);
      cells.push_back(
          {std::string("NAS CG, class ") + name, study, ranks, of.n, of.nonzeros, kGflopsByMemory});
    }
  } else if (study == "summa" && ranks / rows % rows == 0) {
    for (const int block : {256, 512}) {
      if (!orders.empty()) break;
      cells.push_back({"SUMMA, blocks of " + std::to_string(block) + ", chunks of 128", study,
                       ranks, block, kChunk, kGflopsOfProducts, block});
    }
    for (const int order : orders) {
      const int columns = order * rows / ranks;
      const int chunk = std::min(columns, kChunk);
      if (order % (ranks / rows) != 0 || columns % chunk != 0) continue;
      cells.push_back({"SUMMA, " + std::to_string(order) + " x " + std::to_string(order), study,
                       ranks, order / rows, chunk, kGflopsOfProducts, columns});
    }
  } else if (study == "md") {
    for (const int atoms : {2048, 12000, 65536}) {
      cells.push_back({"Lennard-Jones dynamics, " + std::to_string(atoms) + " atoms", study, ranks,
                       atoms, kChunk, kGflopsByMemory});
    }
  }
  return cells;
}

Status SimulatePutget(const MachineDescription& machine, const PutgetCell& cell,
                      ProgramVariant variant, double* us) {
  SimWorld world(machine, cell.ranks);
  std::vector<std::byte*> memories;
  Status failure;
  double began_us = 0;
  double ended_us = 0;
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    double began = 0;
    double ended = 0;
    ProgramRank me(&world, rank, variant, cell.gflops, &memories);
    const Status status = RunProgram(cell, &me, &began, &ended);
    if (failure.ok()) failure = status;
    began_us = std::max(began_us, began);
    ended_us = std::max(ended_us, ended);
  }));
  *us = ended_us - began_us;
  return failure;
}

}  // namespace brigade::bench
