#include "bench/studies/typed_exchange.h"

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders/block_type.h"
#include "bench/contenders/brigade_window.h"
#include "bench/contenders/mpi_window.h"
#include "bench/runner/panel.h"
#include "bench/studies/exchange_epochs.h"

namespace brigade::bench {
namespace {

// One datatype, one length of blocks, private windows, one neighbour.
class TypedExchange {
 public:
  TypedExchange(Session* session, BlockType* type, int64_t count)
      : session_(*session),
        type_(*type),
        count_(count),
        doubles_(type->DoublesOf(count)),
        next_((session->rank() + 1) % session->ranks()),
        previous_((session->rank() + session->ranks() - 1) % session->ranks()),
        next_of_each_(session->rank(), session->ranks(), 1),
        out_(Size()),
        in_(Size()) {
    case_.name = "typed exchange, " + type->name();
    case_.rows = count;
    case_.cols = 1;
    case_.ld = count;
    case_.bytes = static_cast<size_t>(count * BlockType::kBytes);
    case_.roots = 2;
    case_.prepare = [this](int) {
      Fill({out_.data(), doubles_, 1, doubles_}, session_.rank());
      std::fill(in_.begin(), in_.end(), -1.0);
      for (const auto& window : windows_) {
        std::fill(window->memory(), window->memory() + doubles_, -1.0);
      }
    };
  }

  void Measure(BrigadeGroup* group, WindowSpace* space) {
    // By the library's choice, and by messages: only these send datatypes.
    for (const bool goes_directly : {true, false}) {
      std::unique_ptr<OneSided> ours;
      AbortUnlessOk(MakeBrigadeWindow(group, space, doubles_, /*is_shared=*/false, &ours,
                                      goes_directly && !session_.options().by_messages));
      AddPut(ours.get(), goes_directly ? "put" : "put, cached", /*forgets=*/false);
      if (!goes_directly) AddPut(ours.get(), "put, uncached", /*forgets=*/true);
      windows_.push_back(std::move(ours));
    }
    if (session_.options().HasPeer("mpi")) {
      const std::string name = session_.PeerName("mpi");
      std::unique_ptr<OneSided> mpi =
          MakeMpiWindow(session_.comm(), name, doubles_, /*is_shared=*/false);
      if (mpi != nullptr) {
        AddPut(mpi.get(), "put", /*forgets=*/false);
        windows_.push_back(std::move(mpi));
      }
      AddSendReceive(name);
    }
    session_.Measure(case_);
    for (const auto& window : windows_) AbortUnlessOk(window->Free());
  }

 private:
  size_t Size() const { return static_cast<size_t>(doubles_); }

  // Checks the data from the previous rank; gaps must be untouched.
  std::string Check(const double* memory) const {
    std::vector<double> sent(Size());
    std::vector<double> expected(Size(), -1.0);
    Fill({sent.data(), doubles_, 1, doubles_}, previous_);
    type_.Copy(sent.data(), count_, expected.data());
    const auto wrong =
        std::mismatch(expected.begin(), expected.end(), memory, [](double a, double b) {
          return std::equal(reinterpret_cast<const std::byte*>(&a),
                            reinterpret_cast<const std::byte*>(&a + 1),
                            reinterpret_cast<const std::byte*>(&b));
        });
    if (wrong.first == expected.end()) return "";
    return "double " + std::to_string(wrong.first - expected.begin()) + " from rank " +
           std::to_string(previous_) + " is wrong";
  }

  void AddPut(OneSided* window, const std::string& pattern, bool forgets) {
    Subject subject;
    subject.name = window->name();
    subject.pattern = pattern;
    subject.run = [this, window, forgets](int) {
      if (forgets) type_.Forget();
      return RunEpoch(window, EpochKind::kPostStart, /*puts=*/true, next_of_each_, [&](size_t) {
        return window->PutBlocks(out_.data(), type_, count_, next_, 0);
      });
    };
    subject.check = [this, window](int) { return Check(window->memory()); };
    case_.subjects.push_back(std::move(subject));
  }

  void AddSendReceive(const std::string& name) {
    Subject subject;
    subject.name = name;
    subject.pattern = "send, receive";
    subject.run = [this](int) {
      MPI_Sendrecv(out_.data(), static_cast<int>(count_), type_.mpi(), next_, 0, in_.data(),
                   static_cast<int>(count_), type_.mpi(), previous_, 0, session_.comm(),
                   MPI_STATUS_IGNORE);
      return Status();
    };
    subject.check = [this](int) { return Check(in_.data()); };
    case_.subjects.push_back(std::move(subject));
  }

  Session& session_;
  BlockType& type_;
  const int64_t count_;
  const int64_t doubles_;
  const int next_;
  const int previous_;
  const Neighbours next_of_each_;
  std::vector<double> out_;
  std::vector<double> in_;
  std::vector<std::unique_ptr<OneSided>> windows_;
  Case case_;
};

}  // namespace

void RunTypedExchange(Session* session, BrigadeGroup* group, WindowSpace* space) {
  session->StartTable("exchange of typed blocks in private windows, 1 of " +
                      std::to_string(session->ranks()) + " ranks");
  for (const BlockKind kind : {BlockKind::kVector, BlockKind::kStruct}) {
    BlockType type(kind);
    for (const size_t bytes : session->options().block_bytes) {
      const int64_t count = static_cast<int64_t>(bytes) / BlockType::kBytes;
      if (count > 0) TypedExchange(session, &type, count).Measure(group, space);
    }
  }
}

}  // namespace brigade::bench
