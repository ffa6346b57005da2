#include "bench/simulated/paper_cells.h"

#include "bench/simulated/timed_group.h"

namespace brigade::bench {
namespace {

// Round trips of a ping-pong.
constexpr int kRoundTrips = 4;

}  // namespace

std::vector<PaperCell> PaperCells() {
  struct Size {
    int rows;
    int cols;
    bool per_rank;
  };
  constexpr Size kSizes[] = {
      {1000, 1, true}, {1000, 2, true}, {1000, 32, false}, {4000, 32, false}};
  std::vector<PaperCell> cells;
  for (bool reduces : {false, true}) {
    for (const Size& size : kSizes) {
      for (int ranks : {2, 4, 8}) {
        for (bool ring : {false, true}) {
          for (bool staged : {false, true}) {
            const int cols = size.per_rank ? size.cols * ranks : size.cols;
            cells.push_back({reduces, ring, staged, ranks, size.rows, cols});
          }
        }
      }
    }
  }
  return cells;
}

Status SimulateCell(const MachineDescription& machine, const PaperCell& cell, bool carries_payload,
                    double* us) {
  const auto body = [&](Endpoint* endpoint, Group* group, const StartClock& start) -> Status {
    PaperRank rank(cell, group, endpoint->simulated_processor());
    if (carries_payload) rank.Fill();
    start();
    BRIGADE_RETURN_IF_ERROR(rank.Run());
    if (!carries_payload || rank.IsRight()) return Status();
    return Status(StatusCode::kInternal, "wrong result of " + cell.Describe());
  };
  return RunTimed(machine, cell.ranks, carries_payload, body, us);
}

Status SimulateMessage(const MachineDescription& machine, size_t bytes, double* us) {
  const auto body = [&](Endpoint*, Group* group, const StartClock& start) -> Status {
    const int rank = group->rank();
    std::vector<std::byte> data(bytes);
    PatternCall call;
    call.root = 1 - rank;
    call.matrix.data = data.data();
    call.matrix.layout = StridedLayout::Contiguous(bytes);
    start();
    for (int i = 0; i < 2 * kRoundTrips; ++i) {
      call.pattern = i % 2 == rank ? Pattern::kSend : Pattern::kReceive;
      BRIGADE_RETURN_IF_ERROR(group->Run(call));
    }
    return Status();
  };
  BRIGADE_RETURN_IF_ERROR(RunTimed(machine, 2, /*carries_payload=*/false, body, us));
  *us /= 2 * kRoundTrips;
  return Status();
}

}  // namespace brigade::bench
