#include "bench/studies/putget/study.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "bench/contenders/mpi_window.h"
#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"
#include "transport/registry/registry.h"

namespace brigade::bench {

bool StudyOptions::Wants(const std::string& variant) const {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

Study::Study(Session* session, const StudyOptions& options) : session_(session), options_(options) {
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &group_));
  AbortUnlessOk(MakeWindowSpace(group_.get(), &space_));
}

std::vector<std::unique_ptr<OneSided>> Study::Windows(int64_t doubles) const {
  std::vector<std::unique_ptr<OneSided>> windows(1);
  AbortUnlessOk(MakeBrigadeWindow(group_.get(), space_.get(), doubles, /*is_shared=*/true,
                                  &windows[0], /*goes_directly=*/!options_.by_messages));
  if (options_.HasPeer("mpi")) {
    std::unique_ptr<OneSided> mpi =
        MakeMpiWindow(session_->comm(), session_->PeerName("mpi"), doubles, /*is_shared=*/true);
    if (mpi != nullptr) windows.push_back(std::move(mpi));
  }
  for (const auto& window : windows) AbortUnlessOk(window->LockAll());
  // Memory of others may be zeroed until here.
  MPI_Barrier(session_->comm());
  return windows;
}

int StudyMain(int argc, char** argv, CLI::App* app, const std::vector<std::string>& variants,
              const std::function<void(Study*)>& run, const std::vector<std::string>& if_named) {
  constexpr int kExitRefused = 2;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  StudyOptions options;
  options.shim = "none";
  options.peers = {"mpi"};
  options.variants = variants;
  std::vector<std::string> known = variants;
  known.insert(known.end(), if_named.begin(), if_named.end());
  app->option_defaults()->always_capture_default();
  app->add_option("--variants", options.variants,
                  "How it communicates: by MPI's messages (send), or over windows (the others)")
      ->delimiter(',')
      ->check(CLI::IsMember(known));
  app->add_option("--peers", options.peers,
                  "MPI beside Brigade: mpi, messages (without its windows) or none")
      ->check(CLI::IsMember({"mpi", "messages", "none"}));
  app->add_option("--transport", options.transport, "Transport under Brigade: " + TransportNames());
  AddByMessages(app, &options);
  app->add_option("--pause-us", options.pause_us,
                  "Longest random pause before each step of communication: shows that results do "
                  "not depend on which rank is faster; times mean nothing then")
      ->check(CLI::Range(0, 1000000));
  AddMeasuringOptions(app, &options);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool help = app->exit(error, text, text) == 0;
    if (rank == 0) std::fputs(text.str().c_str(), help ? stdout : stderr);
    MPI_Finalize();
    return help ? 0 : kExitRefused;
  }
  AbortUnlessOk(CatchOutOfMemory([&] {
    std::unique_ptr<Session> session;
    AbortUnlessOk(Session::Create(MPI_COMM_WORLD, options, &session));
    Study study(session.get(), options);
    run(&study);
    return Status();
  }));
  MPI_Finalize();
  return 0;
}

}  // namespace brigade::bench
