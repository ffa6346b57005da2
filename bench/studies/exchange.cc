#include "bench/studies/exchange.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/runner/panel.h"
#include "bench/studies/exchange_epochs.h"
#include "bench/studies/typed_exchange.h"
#include "bench/studies/window_contenders.h"

namespace brigade::bench {
namespace {

// Without data, in a row: ranks that share processors leave the barrier before a run one by one,
// and one epoch alone would be measured with that.
constexpr int kEpochsInARow = 25;

// One number of neighbours, one length of blocks, one kind of windows.
class Exchange {
 public:
  Exchange(const WindowContenders& all, int neighbours, int64_t doubles, bool is_shared)
      : all_(all),
        rank_(all.session->rank()),
        doubles_(doubles),
        blocks_(static_cast<size_t>(neighbours), std::vector<double>(static_cast<size_t>(doubles))),
        out_(static_cast<size_t>(doubles)),
        windows_(all.Windows(std::max<int64_t>(1, doubles * (neighbours + 1)), is_shared)),
        neighbours_(rank_, all.session->ranks(), neighbours),
        targets_(neighbours_.targets),
        sources_(neighbours_.sources) {
    case_.name = "exchange with " + std::to_string(neighbours) +
                 (neighbours == 1 ? " neighbour, " : " neighbours, ") +
                 (is_shared ? "shared" : "private");
    case_.rows = doubles;
    case_.cols = neighbours;
    case_.ld = doubles;
    case_.bytes = static_cast<size_t>(doubles) * sizeof(double) * static_cast<size_t>(neighbours);
    case_.roots = 2;
    if (doubles == 0) case_.hops = kEpochsInARow;
    case_.prepare = [this](int) { Prepare(); };
  }

  void Measure() {
    for (const auto& window : windows_) {
      for (const bool puts : {true, false}) {
        AddEpoch(window, puts, "fence", EpochKind::kFence);
        AddEpoch(window, puts, "post, start", EpochKind::kPostStart);
        if (!all_.targets_must_call()) AddEpoch(window, puts, "lock", EpochKind::kLock);
      }
    }
    if (all_.session->options().HasPeer("mpi")) {
      AddSendReceive();
      AddSendrecv();
    }
    all_.session->Measure(case_);
    for (const auto& window : windows_) AbortUnlessOk(window->Free());
  }

 private:
  // Where the block of the j-th source lies, if it is put, and where one's own, to be got.
  int64_t PlaceOf(size_t j) const { return static_cast<int64_t>(j + 1) * doubles_; }

  void Prepare() {
    Fill(ViewOf(out_.data(), doubles_), rank_);
    for (std::vector<double>& block : blocks_) std::fill(block.begin(), block.end(), -1.0);
    for (const auto& window : windows_) {
      std::fill(window->memory() + doubles_, window->memory() + PlaceOf(sources_.size()), -1.0);
      Fill(ViewOf(window->memory(), doubles_), rank_);
    }
  }

  std::string Check(const std::function<double*(size_t j)>& block) const {
    for (size_t j = 0; j < sources_.size(); ++j) {
      const std::string wrong = CheckSum(ViewOf(block(j), doubles_), sources_[j], 1);
      if (!wrong.empty()) return "from rank " + std::to_string(sources_[j]) + ": " + wrong;
    }
    return "";
  }

  Status Move(OneSided* window, bool puts, size_t j) {
    if (doubles_ == 0) return Status();
    return puts ? window->Put(out_.data(), doubles_, targets_[j], PlaceOf(j))
                : window->Get(blocks_[j].data(), doubles_, sources_[j], 0);
  }

  std::function<Status(int turn)> InARow(const std::function<Status()>& run) const {
    return [run, times = case_.hops](int) {
      for (int i = 0; i < times; ++i) BRIGADE_RETURN_IF_ERROR(run());
      return Status();
    };
  }

  void AddEpoch(const std::shared_ptr<OneSided>& window, bool puts, const std::string& how,
                EpochKind kind) {
    Subject subject;
    subject.name = window->name();
    subject.pattern = (puts ? "put, " : "get, ") + how;
    subject.run = InARow([this, window, puts, kind] {
      return RunEpoch(window.get(), kind, puts, neighbours_,
                      [&](size_t j) { return Move(window.get(), puts, j); });
    });
    subject.check = [this, window, puts](int) {
      return Check(
          [&](size_t j) { return puts ? window->memory() + PlaceOf(j) : blocks_[j].data(); });
    };
    case_.subjects.push_back(std::move(subject));
  }

  void AddSendReceive() {
    Subject subject;
    subject.name = all_.session->PeerName("mpi");
    subject.pattern = "send, receive";
    subject.run = InARow([this] {
      std::vector<MPI_Request> requests(2 * targets_.size());
      for (size_t j = 0; j < targets_.size(); ++j) {
        MPI_Irecv(blocks_[j].data(), static_cast<int>(doubles_), MPI_DOUBLE, sources_[j],
                  static_cast<int>(j), all_.session->comm(), &requests[2 * j]);
        MPI_Isend(out_.data(), static_cast<int>(doubles_), MPI_DOUBLE, targets_[j],
                  static_cast<int>(j), all_.session->comm(), &requests[2 * j + 1]);
      }
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      return Status();
    });
    subject.check = [this](int) { return Check([&](size_t j) { return blocks_[j].data(); }); };
    case_.subjects.push_back(std::move(subject));
  }

  // One neighbour after the other, as the paper's program.
  void AddSendrecv() {
    Subject subject;
    subject.name = all_.session->PeerName("mpi");
    subject.pattern = "sendrecv";
    subject.run = InARow([this] {
      const auto count = static_cast<int>(doubles_);
      for (size_t j = 0; j < targets_.size(); ++j) {
        MPI_Sendrecv(out_.data(), count, MPI_DOUBLE, targets_[j], 0, blocks_[j].data(), count,
                     MPI_DOUBLE, sources_[j], 0, all_.session->comm(), MPI_STATUS_IGNORE);
      }
      return Status();
    });
    subject.check = [this](int) { return Check([&](size_t j) { return blocks_[j].data(); }); };
    case_.subjects.push_back(std::move(subject));
  }

  const WindowContenders& all_;
  const int rank_;
  const int64_t doubles_;
  std::vector<std::vector<double>> blocks_;
  std::vector<double> out_;
  std::vector<std::shared_ptr<OneSided>> windows_;
  const Neighbours neighbours_;
  const std::vector<int>& targets_;
  const std::vector<int>& sources_;
  Case case_;
};

}  // namespace

void RunExchange(Session* session) {
  const WindowContenders all(session);
  std::vector<int> neighbours = {1};
  if (session->ranks() > 1) neighbours.push_back(session->ranks());
  for (const bool is_shared : {true, false}) {
    for (const int n : neighbours) {
      session->StartTable(std::string("exchange of blocks in ") +
                          (is_shared ? "shared" : "private") + " windows, " + std::to_string(n) +
                          " of " + std::to_string(session->ranks()) + " ranks");
      for (const size_t bytes : session->options().block_bytes) {
        Exchange(all, n, static_cast<int64_t>(bytes / sizeof(double)), is_shared).Measure();
      }
    }
  }
  RunTypedExchange(session, all.group.get(), all.space.get());
}

}  // namespace brigade::bench
