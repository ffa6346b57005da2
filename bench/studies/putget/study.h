// Common parts of the programs of the put/get study: the command line, the launch, and the
// subjects.
//
// A variant is how the algorithm communicates: "put" and "nbput" over windows, blocking and
// non-blocking, "send" and "nbsend" by MPI's messages in the same order of steps.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_STUDY_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_STUDY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases/session.h"
#include "bench/contenders/brigade_group.h"
#include "bench/contenders/brigade_window.h"
#include "bench/contenders/one_sided.h"
#include "bench/runner/options.h"
#include "bench/studies/putget/pauses.h"

namespace CLI {
class App;
}

namespace brigade::bench {

struct StudyOptions : Options {
  std::vector<std::string> variants;
  int pause_us = 0;  // the longest random pause before a step of communication

  bool Wants(const std::string& variant) const;
  bool WantsMessagesOfMpi() const { return HasPeer("mpi") || HasPeer("messages"); }
};

// A launch: Brigade, and everything that lives as long.
class Study {
 public:
  Study(Session* session, const StudyOptions& options);

  Session* session() const { return session_; }
  const StudyOptions& options() const { return options_; }
  int rank() const { return session_->rank(); }
  int ranks() const { return session_->ranks(); }
  BrigadeGroup* group() const { return group_.get(); }
  WindowSpace* space() const { return space_.get(); }
  // As the command line wants them, before each step of communication.
  Pauses pauses() const {
    return Pauses(options_.pause_us, options_.seed + static_cast<uint64_t>(rank()));
  }
  // Collective. Brigade's window, and MPI's where it can make one and is wanted: `doubles`, equal
  // on all ranks, on each, all locked for operations.
  std::vector<std::unique_ptr<OneSided>> Windows(int64_t doubles) const;

 private:
  Session* const session_;
  const StudyOptions& options_;
  std::unique_ptr<BrigadeGroup> group_;
  std::unique_ptr<WindowSpace> space_;
};

// Runs a program from main() on. `app` has its own options, `variants` are its variants, and
// `if_named` those that run only if they are named. Returns the exit code.
int StudyMain(int argc, char** argv, CLI::App* app, const std::vector<std::string>& variants,
              const std::function<void(Study*)>& run,
              const std::vector<std::string>& if_named = {});

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_STUDY_H_
