#include "bench/pingpong.h"

#include <functional>
#include <string>
#include <vector>

#include "bench/mpi_peer.h"
#include "bench/panel.h"

namespace brigade::bench {
namespace {

struct Shape {
  const char* name;
  int64_t run_bytes;  // 0: contiguous
};

// 256 B and 4000 B lie on either side of the paper's thresholds for choosing a copy routine.
constexpr Shape kShapes[] = {{"contiguous", 0}, {"runs of 256 B", 256}, {"runs of 4000 B", 4000}};

Panel MakePanel(size_t bytes, const Shape& shape) {
  const int64_t elements = static_cast<int64_t>(bytes / sizeof(double));
  if (shape.run_bytes == 0) return Panel(elements, 1, elements);
  const int64_t rows = shape.run_bytes / static_cast<int64_t>(sizeof(double));
  return Panel(rows, elements / rows, 2 * rows);
}

void MeasureSize(Session* session, MpiPeer* mpi, const Shape& shape, size_t bytes) {
  Panel out = MakePanel(bytes, shape);
  Panel in = MakePanel(bytes, shape);
  const int rank = session->rank();
  const int peer = 1 - rank;

  Case the_case;
  the_case.name = std::string("pingpong ") + shape.name;
  the_case.rows = out.view().rows;
  the_case.cols = out.view().cols;
  the_case.ld = out.view().ld;
  the_case.bytes = bytes;
  the_case.hops = 2;
  the_case.prepare = [&](int) {
    Fill(out.view(), rank);
    in.Poison();
  };
  const auto check = [&](int) -> std::string {
    if (rank > 1) return "";
    if (!in.GapsUntouched()) return "gaps between columns were written";
    return CheckSum(in.view(), peer, 1);
  };
  const auto add = [&](const std::string& name, const std::string& pattern,
                       std::function<void()> ping, std::function<void()> pong) {
    Subject subject;
    subject.name = name;
    subject.pattern = pattern;
    subject.run = [rank, ping, pong](int) {
      if (rank == 0) ping();
      if (rank == 1) pong();
      return Status();
    };
    subject.check = check;
    the_case.subjects.push_back(std::move(subject));
  };
  const auto add_blacs = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    const auto send = [&, grid] { grid->Send(out.view(), peer); };
    const auto receive = [&, grid] { grid->Receive(in.view(), peer); };
    add(
        name, "dgesd2d, dgerv2d", [=] { send(), receive(); }, [=] { receive(), send(); });
  };
  add_blacs("shim", session->shim());
  add_blacs(session->PeerName("stock"), session->stock());
  if (session->options().HasPeer("mpi")) {
    add(
        session->PeerName("mpi"), shape.run_bytes == 0 ? "Isend, Irecv" : "Isend, Irecv, vector",
        [&] { mpi->PingPong(out.view(), in.view(), peer, /*begins=*/true); },
        [&] { mpi->PingPong(out.view(), in.view(), peer, /*begins=*/false); });
  }
  session->Measure(the_case);
}

// Multiples of `smallest`, each options.factor times the one before.
std::vector<size_t> Sizes(size_t smallest, const Options& options) {
  std::vector<size_t> sizes;
  for (size_t bytes = smallest; bytes <= options.max_bytes; bytes *= options.factor) {
    if (bytes >= options.min_bytes) sizes.push_back(bytes);
  }
  // A coarse grid ends at the largest message all the same.
  const size_t largest = options.max_bytes / smallest * smallest;
  if (largest >= options.min_bytes && (sizes.empty() || largest >= 2 * sizes.back())) {
    sizes.push_back(largest);
  }
  return sizes;
}

}  // namespace

void RunPingPong(Session* session) {
  if (session->ranks() < 2) {
    AbortUnlessOk(
        Status(StatusCode::kInvalidArgument, "pingpong needs two ranks: mpirun -n 2 ..."));
  }
  const Options& options = session->options();
  MpiPeer mpi(session->comm());
  for (const Shape& shape : kShapes) {
    session->StartTable(std::string("Ping-pong, ") + shape.name + ", one way");
    const size_t smallest = shape.run_bytes == 0 ? sizeof(double) : shape.run_bytes;
    for (size_t bytes : Sizes(smallest, options)) MeasureSize(session, &mpi, shape, bytes);
  }
}

}  // namespace brigade::bench
