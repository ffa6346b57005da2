// WindowContenders: Brigade's and MPI's windows, and everything that lives as long as the launch.

#ifndef BRIGADE_BENCH_STUDIES_WINDOW_CONTENDERS_H_
#define BRIGADE_BENCH_STUDIES_WINDOW_CONTENDERS_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/cases/session.h"
#include "bench/contenders/brigade_group.h"
#include "bench/contenders/brigade_window.h"
#include "bench/contenders/mpi_window.h"
#include "bench/runner/panel.h"

namespace brigade::bench {

inline PanelView ViewOf(double* data, int64_t doubles) { return {data, doubles, 1, doubles}; }

struct WindowContenders {
  // Collective over the session's ranks.
  explicit WindowContenders(Session* s) : session(s) {
    AbortUnlessOk(BrigadeGroup::Create(s->comm(), s->options(), &group));
    AbortUnlessOk(MakeWindowSpace(group.get(), &space));
  }

  // Collective. Of all who make windows.
  std::vector<std::shared_ptr<OneSided>> Windows(int64_t doubles, bool is_shared) const {
    std::vector<std::shared_ptr<OneSided>> windows;
    std::unique_ptr<OneSided> ours;
    AbortUnlessOk(MakeBrigadeWindow(group.get(), space.get(), doubles, is_shared, &ours,
                                    /*goes_directly=*/!session->options().by_messages));
    windows.push_back(std::move(ours));
    if (session->options().HasPeer("mpi")) {
      std::unique_ptr<OneSided> mpi =
          MakeMpiWindow(session->comm(), session->PeerName("mpi"), doubles, is_shared);
      if (mpi != nullptr) windows.push_back(std::move(mpi));
    }
    return windows;
  }
  // Collective. Other ranks may need this rank in their last epoch, and calls of one library make
  // no progress in another.
  void EndEpochs(const std::vector<std::shared_ptr<OneSided>>& windows) const {
    for (const auto& window : windows) {
      AbortUnlessOk(window->UnlockAll());
      MPI_Barrier(session->comm());
    }
  }
  // Whether a finished rank makes no progress, so that operations on it must not be needed.
  bool targets_must_call() const { return group->group()->capabilities().calls_mpi; }

  Session* const session;
  std::unique_ptr<BrigadeGroup> group;
  std::unique_ptr<WindowSpace> space;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_WINDOW_CONTENDERS_H_
