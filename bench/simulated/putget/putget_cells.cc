#include "bench/simulated/putget/putget_cells.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "bench/simulated/putget/cg_program.h"
#include "bench/simulated/putget/md_program.h"
#include "bench/simulated/putget/mg_program.h"
#include "bench/simulated/putget/summa_program.h"
#include "transport/sim/sim_transport.h"

namespace brigade::bench {
namespace {

// Estimated rates of a core of the 2020s while all cores compute: limited by memory, and of dgemm.
constexpr double kGflopsByMemory = 1;
constexpr double kGflopsOfProducts = 40;
constexpr int kChunk = 128;  // columns, and atoms

Status RunProgram(const PutgetCell& cell, ProgramRank* me, double* began_us, double* ended_us) {
  const auto run = [&](auto* program, int rows, int cols, const auto& prepare) {
    BRIGADE_RETURN_IF_ERROR(me->Open(program->bytes(), rows, cols, prepare));
    *began_us = me->ClockUs();
    BRIGADE_RETURN_IF_ERROR(program->Run(me));
    *ended_us = me->ClockUs();
    return me->Close();
  };
  const auto nothing = [] {};
  if (cell.study == "mg") {
    MgProgram program(cell.size, me->rank(), cell.ranks);
    return run(&program, 1, cell.ranks, nothing);
  }
  if (cell.study == "cg") {
    CgProgram program(cell.size, cell.detail, me->rank(), cell.ranks);
    return run(&program, 1, cell.ranks, nothing);
  }
  if (cell.study == "md") {
    MdProgram program(cell.size, cell.detail, me->rank(), cell.ranks);
    return run(&program, program.rows(), program.columns(), [&] { program.Expose(me); });
  }
  SummaProgram program(cell.ranks, cell.size, cell.detail, me->rank());
  return run(&program, program.rows(), program.columns(), [&] { program.Expose(me); });
}

}  // namespace

std::vector<PutgetCell> PutgetCells(const std::string& study, int ranks,
                                    const std::vector<int>& orders) {
  std::vector<PutgetCell> cells;
  const bool is_power = (ranks & (ranks - 1)) == 0;
  if (study == "mg" && is_power) {
    for (const auto& [name, points] : {std::pair('A', 256), std::pair('C', 512)}) {
      if (!MgProgram::Fits(points, ranks)) continue;
      cells.push_back(
          {std::string("NAS MG, class ") + name, study, ranks, points, 0, kGflopsByMemory});
    }
  } else if (study == "cg" && is_power) {
    cells.push_back({"NAS CG, class A", study, ranks, 14000, 11, kGflopsByMemory});
    cells.push_back({"NAS CG, class B", study, ranks, 75000, 13, kGflopsByMemory});
    cells.push_back({"NAS CG, class C", study, ranks, 150000, 15, kGflopsByMemory});
  } else if (study == "summa" && SummaProgram::Fits(ranks)) {
    for (const int block : {256, 512}) {
      if (!orders.empty()) break;
      cells.push_back({"SUMMA, blocks of " + std::to_string(block) + ", chunks of 128", study,
                       ranks, block, kChunk, kGflopsOfProducts});
    }
    for (const int order : orders) {
      const int block = order / SummaProgram::RowsFor(ranks);
      const int chunk = std::min(block, kChunk);
      if (order % SummaProgram::RowsFor(ranks) != 0 || block % chunk != 0) continue;
      cells.push_back(
          {"SUMMA, n = " + std::to_string(order), study, ranks, block, chunk, kGflopsOfProducts});
    }
  } else if (study == "md") {
    for (const int atoms : {2048, 12000, 65536}) {
      cells.push_back({"Lennard-Jones dynamics, " + std::to_string(atoms) + " atoms", study, ranks,
                       atoms, kChunk, kGflopsByMemory});
    }
  }
  return cells;
}

Status SimulatePutget(const MachineDescription& machine, const PutgetCell& cell, ProgramWay way,
                      double* us) {
  SimWorld world(machine, cell.ranks);
  std::vector<std::byte*> memories;
  Status failure;
  double began_us = 0;
  double ended_us = 0;
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    double began = 0;
    double ended = 0;
    ProgramRank me(&world, rank, way, cell.gflops, &memories);
    const Status status = RunProgram(cell, &me, &began, &ended);
    if (failure.ok()) failure = status;
    began_us = std::max(began_us, began);
    ended_us = std::max(ended_us, ended);
  }));
  *us = ended_us - began_us;
  return failure;
}

}  // namespace brigade::bench
