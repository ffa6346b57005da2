#include "bench/cases/pingpong.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "bench/cases/allocate.h"
#include "bench/contenders/bare_ring.h"
#include "bench/contenders/bare_socket.h"
#include "bench/contenders/brigade_group.h"
#include "bench/contenders/brigade_window.h"
#include "bench/contenders/mpi_peer.h"
#include "bench/contenders/one_sided.h"
#include "bench/runner/machine.h"
#include "bench/runner/panel.h"
#include "windows/message/window_space.h"

namespace brigade::bench {
namespace {

constexpr size_t kSlotBytes[] = {4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10};
static_assert(kSlotBytes[4] == BareRing::kLargestSlotBytes);

// All contenders but the BLACS, made once per launch. Null where left out.
struct Contenders {
  Session* session;
  std::unique_ptr<BrigadeGroup> brigade;
  std::unique_ptr<WindowSpace> space;
  std::unique_ptr<OneSided> idle_window;
  std::unique_ptr<MpiPeer> mpi;
  std::unique_ptr<BareRing> ring;
  std::unique_ptr<BareSocket> socket;
};

// `run_bytes` 0: contiguous.
Panel MakePanel(size_t bytes, size_t run_bytes, bool allocated) {
  const int64_t elements = static_cast<int64_t>(bytes / sizeof(double));
  const int64_t rows = run_bytes == 0 ? elements : static_cast<int64_t>(run_bytes / sizeof(double));
  const int64_t cols = run_bytes == 0 ? 1 : elements / rows;
  const int64_t ld = run_bytes == 0 ? rows : 2 * rows;
  return Panel(rows, cols, ld, AllocateIf(allocated, ld * cols));
}

std::string ShapeName(size_t run_bytes) {
  return run_bytes == 0 ? "contiguous" : "runs of " + std::to_string(run_bytes) + " B";
}

void MakeIdleWindow(Contenders* all) {
  const std::string& kind = all->session->options().idle_window;
  if (kind == "none") return;
  AbortUnlessOk(MakeWindowSpace(all->brigade.get(), &all->space));
  AbortUnlessOk(MakeBrigadeWindow(all->brigade.get(), all->space.get(), /*doubles=*/1,
                                  /*is_shared=*/kind == "shared", &all->idle_window));
}

// One message length: the panels, and the contenders.
class Exchange {
 public:
  Exchange(const Contenders& all, size_t run_bytes, size_t bytes)
      : all_(all),
        run_bytes_(run_bytes),
        touched_(all.session->options().touched),
        rank_(all.session->rank()),
        peer_(1 - rank_),
        out_(MakePanel(bytes, run_bytes, all.session->options().allocated)),
        in_(MakePanel(bytes, run_bytes, all.session->options().allocated)) {
    case_.name = "pingpong " + ShapeName(run_bytes);
    case_.rows = out_.view().rows;
    case_.cols = out_.view().cols;
    case_.ld = out_.view().ld;
    case_.bytes = bytes;
    case_.hops = 2;
    case_.prepare = [this](int) {
      Fill(out_.view(), rank_);
      in_.Poison();
    };
  }

  void Measure() {
    AddBrigade();
    AddBlacs("shim", all_.session->shim());
    AddBlacs(all_.session->PeerName("stock"), all_.session->stock());
    if (all_.mpi) AddMpi();
    if (all_.ring) AddRing();
    if (all_.socket && run_bytes_ == 0) AddSocket();
    all_.session->Measure(case_);
  }

 private:
  Subject& Add(const std::string& name, const std::string& pattern,
               const std::function<Status()>& ping, const std::function<Status()>& pong) {
    Subject subject;
    subject.name = name;
    subject.pattern = pattern;
    subject.run = [this, ping, pong](int) {
      if (rank_ > 1) return Status();
      if (touched_) WriteLines(out_.view());
      return rank_ == 0 ? ping() : pong();
    };
    subject.check = [this](int) -> std::string {
      if (rank_ > 1) return "";
      if (!in_.GapsUntouched()) return "gaps between columns were written";
      return CheckSum(in_.view(), peer_, 1);
    };
    return case_.subjects.emplace_back(std::move(subject));
  }

  void Received() const {
    if (touched_) ReadLines(in_.view());
  }

  // One whose two halves are calls of their own.
  template <typename Send, typename Receive>
  void AddHalves(const std::string& name, const std::string& pattern, Send send, Receive receive) {
    const auto ping = [=] {
      send(), receive(), Received();
      return Status();
    };
    const auto pong = [=] {
      receive(), Received(), send();
      return Status();
    };
    Add(name, pattern, ping, pong);
  }

  Status Run(bool begins, OperationStatistics* statistics) {
    OperationStatistics halves[2];
    for (const bool sends : {begins, !begins}) {
      BRIGADE_RETURN_IF_ERROR(sends ? all_.brigade->Send(out_.view(), peer_, &halves[0])
                                    : all_.brigade->Receive(in_.view(), peer_, &halves[1]));
      if (!sends) Received();
    }
    if (statistics != nullptr) {
      for (const OperationStatistics& half : halves) Accumulate(half, statistics);
    }
    return Status();
  }

  void AddBrigade() {
    const Options& options = all_.session->options();
    const std::string window =
        all_.idle_window == nullptr ? "" : ", beside a " + options.idle_window + " window";
    const std::string memory = options.allocated ? ", allocated" : "";
    Subject& subject = Add(
        "brigade", "send, receive" + memory + window, [this] { return Run(true, nullptr); },
        [this] { return Run(false, nullptr); });
    subject.cost = [this](int, Cost* cost) {
      OperationStatistics statistics;
      if (rank_ <= 1) BRIGADE_RETURN_IF_ERROR(Run(rank_ == 0, &statistics));
      *cost = all_.brigade->CostOf(statistics, case_.bytes);
      return Status();
    };
  }

  void AddBlacs(const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    AddHalves(
        name, "dgesd2d, dgerv2d", [this, grid] { grid->Send(out_.view(), peer_); },
        [this, grid] { grid->Receive(in_.view(), peer_); });
  }

  void AddMpi() {
    const auto both = [this](bool begins) {
      all_.mpi->PingPong(out_.view(), in_.view(), peer_, begins, [this] { Received(); });
      return Status();
    };
    Add(
        all_.session->PeerName("mpi"), run_bytes_ == 0 ? "Isend, Irecv" : "Isend, Irecv, vector",
        [=] { return both(true); }, [=] { return both(false); });
  }

  void AddRing() {
    for (const size_t slot_bytes : kSlotBytes) {
      // A message that fits the smallest slot fills no larger one either.
      if (slot_bytes > std::max(case_.bytes, kSlotBytes[0])) break;
      const std::string slots = "slots of " + std::to_string(slot_bytes >> 10) + " KiB";
      AddHalves(
          "bare ring", case_.bytes <= BareRing::kLineBytes ? "one line" : slots,
          [this, slot_bytes] { all_.ring->Send(out_.view(), slot_bytes); },
          [this, slot_bytes] { all_.ring->Receive(in_.view(), slot_bytes); });
    }
  }

  void AddSocket() {
    using Waiting = BareSocket::Waiting;
    for (const Waiting waiting : {Waiting::kInKernel, Waiting::kSpinning}) {
      Add(
          "bare socket", waiting == Waiting::kInKernel ? "blocking" : "spinning",
          [this, waiting] {
            BRIGADE_RETURN_IF_ERROR(all_.socket->Send(out_.view(), waiting));
            BRIGADE_RETURN_IF_ERROR(all_.socket->Receive(in_.view(), waiting));
            Received();
            return Status();
          },
          [this, waiting] {
            BRIGADE_RETURN_IF_ERROR(all_.socket->Receive(in_.view(), waiting));
            Received();
            return all_.socket->Send(out_.view(), waiting);
          });
    }
  }

  const Contenders& all_;
  const size_t run_bytes_;
  const bool touched_;
  const int rank_;
  const int peer_;
  Panel out_;
  Panel in_;
  Case case_;
};

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
  MakeIdleWindow(&all);
  if (options.HasPeer("mpi")) all.mpi = std::make_unique<MpiPeer>(session->comm());
  // Of memory that both ranks map; a peer by default, also of ranks on two machines.
  if (options.HasPeer("ring") && OnOneMachine(session->comm())) {
    all.ring = std::make_unique<BareRing>(session->comm());
  }
  if (options.HasPeer("socket")) AbortUnlessOk(BareSocket::Create(session->comm(), &all.socket));
  for (size_t run_bytes : options.run_bytes) {
    session->StartTable("Ping-pong, " + ShapeName(run_bytes) + ", one way");
    const size_t run = std::max(run_bytes, sizeof(double));
    for (size_t bytes : options.message_bytes) {
      if (bytes >= run) Exchange(all, run_bytes, bytes / run * run).Measure();
    }
  }
  if (all.idle_window != nullptr) AbortUnlessOk(all.idle_window->Free());
}

}  // namespace brigade::bench
