#include "bench/cases/pingpong.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench/contenders/bare_ring.h"
#include "bench/contenders/bare_socket.h"
#include "bench/contenders/brigade_group.h"
#include "bench/contenders/mpi_peer.h"
#include "bench/runner/panel.h"

namespace brigade::bench {
namespace {

constexpr size_t kSlotBytes[] = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10};
static_assert(kSlotBytes[4] == BareRing::kLargestSlotBytes);

// All contenders but the BLACS, made once per launch. Null where left out.
struct Contenders {
  Session* session;
  std::unique_ptr<BrigadeGroup> brigade;
  std::unique_ptr<MpiPeer> mpi;
  std::unique_ptr<BareRing> ring;
  std::unique_ptr<BareSocket> socket;
};

// `run_bytes` 0: contiguous.
Panel MakePanel(size_t bytes, size_t run_bytes) {
  const int64_t elements = static_cast<int64_t>(bytes / sizeof(double));
  if (run_bytes == 0) return Panel(elements, 1, elements);
  const int64_t rows = static_cast<int64_t>(run_bytes / sizeof(double));
  return Panel(rows, elements / rows, 2 * rows);
}

std::string ShapeName(size_t run_bytes) {
  return run_bytes == 0 ? "contiguous" : "runs of " + std::to_string(run_bytes) + " B";
}

void MeasureSize(const Contenders& all, size_t run_bytes, size_t bytes) {
  Session* session = all.session;
  Panel out = MakePanel(bytes, run_bytes);
  Panel in = MakePanel(bytes, run_bytes);
  const int rank = session->rank();
  const int peer = 1 - rank;

  Case the_case;
  the_case.name = "pingpong " + ShapeName(run_bytes);
  the_case.rows = out.view().rows;
  the_case.cols = out.view().cols;
  the_case.ld = out.view().ld;
  the_case.bytes = bytes;
  the_case.hops = 2;
  the_case.prepare = [&](int) {
    Fill(out.view(), rank);
    in.Poison();
  };
  const auto add = [&](const std::string& name, const std::string& pattern,
                       std::function<Status()> ping, std::function<Status()> pong) -> Subject& {
    Subject subject;
    subject.name = name;
    subject.pattern = pattern;
    subject.run = [rank, ping, pong](int) {
      return rank == 0 ? ping() : rank == 1 ? pong() : Status();
    };
    subject.check = [&](int) -> std::string {
      if (rank > 1) return "";
      if (!in.GapsUntouched()) return "gaps between columns were written";
      return CheckSum(in.view(), peer, 1);
    };
    return the_case.subjects.emplace_back(std::move(subject));
  };
  // One whose two halves are calls of their own.
  const auto add_halves = [&](const std::string& name, const std::string& pattern, auto send,
                              auto receive) {
    const auto ping = [=] {
      send(), receive();
      return Status();
    };
    const auto pong = [=] {
      receive(), send();
      return Status();
    };
    add(name, pattern, ping, pong);
  };

  const auto exchange = [&](bool begins, OperationStatistics* statistics) {
    OperationStatistics halves[2];
    for (const bool sends : {begins, !begins}) {
      BRIGADE_RETURN_IF_ERROR(sends ? all.brigade->Send(out.view(), peer, &halves[0])
                                    : all.brigade->Receive(in.view(), peer, &halves[1]));
    }
    if (statistics != nullptr) {
      for (const OperationStatistics& half : halves) Accumulate(half, statistics);
    }
    return Status();
  };
  add(
      "brigade", "send, receive", [&] { return exchange(true, nullptr); },
      [&] { return exchange(false, nullptr); })
      .cost = [&](int, Cost* cost) {
    OperationStatistics statistics;
    if (rank <= 1) BRIGADE_RETURN_IF_ERROR(exchange(rank == 0, &statistics));
    *cost = all.brigade->CostOf(statistics, bytes);
    return Status();
  };

  const auto add_blacs = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    add_halves(
        name, "dgesd2d, dgerv2d", [&, grid] { grid->Send(out.view(), peer); },
        [&, grid] { grid->Receive(in.view(), peer); });
  };
  add_blacs("shim", session->shim());
  add_blacs(session->PeerName("stock"), session->stock());

  if (all.mpi) {
    const auto both = [&](bool begins) {
      all.mpi->PingPong(out.view(), in.view(), peer, begins);
      return Status();
    };
    add(
        session->PeerName("mpi"), run_bytes == 0 ? "Isend, Irecv" : "Isend, Irecv, vector",
        [=] { return both(true); }, [=] { return both(false); });
  }
  if (all.ring) {
    for (const size_t slot_bytes : kSlotBytes) {
      // A message that fits the smallest slot fills no larger one either.
      if (slot_bytes > std::max(bytes, kSlotBytes[0])) break;
      const std::string slots = "slots of " + std::to_string(slot_bytes >> 10) + " KiB";
      add_halves(
          "bare ring", bytes <= BareRing::kLineBytes ? "one line" : slots,
          [&, slot_bytes] { all.ring->Send(out.view(), slot_bytes); },
          [&, slot_bytes] { all.ring->Receive(in.view(), slot_bytes); });
    }
  }
  if (all.socket && run_bytes == 0) {
    using Waiting = BareSocket::Waiting;
    for (const Waiting waiting : {Waiting::kInKernel, Waiting::kSpinning}) {
      add(
          "bare socket", waiting == Waiting::kInKernel ? "blocking" : "spinning",
          [&, waiting] {
            BRIGADE_RETURN_IF_ERROR(all.socket->Send(out.view(), waiting));
            return all.socket->Receive(in.view(), waiting);
          },
          [&, waiting] {
            BRIGADE_RETURN_IF_ERROR(all.socket->Receive(in.view(), waiting));
            return all.socket->Send(out.view(), waiting);
          });
    }
  }
  session->Measure(the_case);
}

}  // namespace

void RunPingPong(Session* session) {
  if (session->ranks() < 2) {
    AbortUnlessOk(
        Status(StatusCode::kInvalidArgument, "pingpong needs two ranks: mpirun -n 2 ..."));
  }
  const Options& options = session->options();
  Contenders all;
  all.session = session;
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &all.brigade));
  if (options.HasPeer("mpi")) all.mpi = std::make_unique<MpiPeer>(session->comm());
  if (options.HasPeer("ring")) all.ring = std::make_unique<BareRing>(session->comm());
  if (options.HasPeer("socket")) AbortUnlessOk(BareSocket::Create(session->comm(), &all.socket));
  for (size_t run_bytes : options.run_bytes) {
    session->StartTable("Ping-pong, " + ShapeName(run_bytes) + ", one way");
    const size_t run = std::max(run_bytes, sizeof(double));
    for (size_t bytes : options.message_bytes) {
      if (bytes >= run) MeasureSize(all, run_bytes, bytes / run * run);
    }
  }
}

}  // namespace brigade::bench
