#include "blacs_shim/runtime.h"

#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "blacs_shim/integers.h"
#include "membuf/version.h"
#include "patterns/trace/trace.h"
#include "transport/host/launcher.h"
#include "transport/host/variable_names.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/mpi_teardown.h"
#include "transport/mpi/mpi_time.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace blacs {
namespace {

// A trace is not worth the job.
void WarnIfNoTrace(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "brigade: BRIGADE_TRACE: %s\n", status.message().c_str());
}

}  // namespace

std::atomic<const Entry*> Entry::inside_{nullptr};
std::atomic<const char*> Entry::routine_{nullptr};
Runtime* Runtime::current_ = nullptr;

void Entry::FailConcurrent(const char* routine) {
  SetBeforeEnd(nullptr);  // statistics would read what the other thread writes
  Fail(OriginOf(routine, -1),
       "called while another thread is inside %s; BLACS is called by one thread at a time",
       routine_.load());
}

Origin OriginOf(const char* routine, int64_t context) {
  Origin origin{routine, FitsInt(context) ? static_cast<int>(context) : -1};
  if (Runtime* runtime = Runtime::Current()) {
    origin.pnum = runtime->world_rank();
    if (const ProcessGrid* grid = runtime->grids().Find(context)) {
      origin.row = grid->row;
      origin.col = grid->col;
    }
  }
  return origin;
}

void RequireInt(const char* routine, const char* what, int64_t value) {
  if (FitsInt(value)) return;
  Fail(OriginOf(routine, -1),
       "%s = %" PRId64
       " needs more than 32 bits; a program whose integers have 32 takes libbrigade_blacs.so, not "
       "libbrigade_blacs64.so",
       what, value);
}

ProcessGrid& GridOf(const char* routine, int64_t context) {
  ProcessGrid* grid = Runtime::Start(routine).grids().Find(context);
  if (grid == nullptr) {
    RequireInt(routine, "context", context);
    Fail(OriginOf(routine, context), "context %d does not exist: %s", static_cast<int>(context),
         context == -1 ? "this process is outside the grid"
                       : "it was never created, or is already freed");
  }
  return *grid;
}

Runtime::Runtime(const Settings& settings) : settings_(settings), pid_(getpid()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  if (settings.statistics != Settings::Statistics::kOff || !settings.statistics_file.empty()) {
    statistics_ = std::make_unique<Statistics>();
    if (settings.statistics_of_mpi) CountMpiTime();
    SetBeforeEnd(&Runtime::OnAbort);
  }
}

Runtime& Runtime::StartNow(const char* routine) {
  if (!MpiIsActive()) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized) Fail(Origin{routine}, "called after MPI_Finalize");
    MPI_Init(nullptr, nullptr);
  }
  if (IsTornDown()) {
    Fail(Origin{routine},
         "called after MPI_Finalize has ended the BLACS; load the library before MPI_Init, or end "
         "grids before MPI_Finalize");
  }
  Settings settings;
  FailIfNotOk(Origin{routine}, ReadSettings(&settings));
  current_ = new Runtime(settings);
  const std::string odd = WrongLauncher(current_->world_size_);
  if (!odd.empty()) std::fprintf(stderr, "brigade: %s\n", odd.c_str());
  // An engine of brigade.h, which reads the same variable, may have begun it.
  if (!settings.trace.empty() && !Trace::RecordsTo(settings.trace, current_->world_rank_)) {
    WarnIfNoTrace(Trace::Start(settings.trace, current_->world_rank_, current_->world_size_));
  }

  SetTeardown(Teardown::kBlacs, &Runtime::OnMpiFinalize);
  return *current_;
}

void Runtime::OnMpiFinalize() {
  // A forked child has copies of everything and owns none of it.
  if (current_->pid_ != getpid()) return;
  current_->Reset("MPI_Finalize");
  WarnIfNoTrace(Trace::Stop());
  current_->WriteStatistics(/*aborted=*/false);
  SetBeforeEnd(nullptr);
  delete current_;
  current_ = nullptr;
}

void Runtime::LogStart(const ProcessGrid& grid) const {
  std::fprintf(stderr,
               "brigade " BRIGADE_VERSION
               ": BLACS over transport %s to every peer; %zu bytes of staging memory per rank in "
               "chunks of %zu\n",
               grid.group->transport(), settings_.engine.staging_bytes,
               settings_.engine.chunk_bytes);
  // Ranks that share memory use no fabric, and describing it takes long.
  const bool between_hosts =
      !grid.group->capabilities().lands_in_peer_memory || grid.group->goes_by_host();
  if (settings_.transport == "auto" && between_hosts)
    std::fprintf(stderr, "brigade: %s\n", DescribeFabric().c_str());
}

// Sums over all ranks need a communicator of all ranks, and every rank's consent: the first grid
// that has them all is the only place where both can be had without a step of their own.
void Runtime::AgreeOnStatistics(const char* routine, const ProcessGrid& grid) {
  if (statistics_agreed_) return;
  // Its size would not do: a grid may have processes of another MPI_COMM_WORLD.
  int comparison = MPI_UNEQUAL;
  MPI_Comm_compare(grid.communicator, MPI_COMM_WORLD, &comparison);
  if (comparison == MPI_UNEQUAL) return;
  statistics_agreed_ = true;
  MpiBootstrap bootstrap(grid.communicator);
  struct Wanted {
    Settings::Statistics mode;
    bool file;
  };
  const Wanted mine = {settings_.statistics, !settings_.statistics_file.empty()};
  std::vector<Wanted> wanted(world_size_);
  FailIfNotOk(OriginOf(routine, -1), bootstrap.AllGather(&mine, sizeof(mine), wanted.data()));
  const Status same = CheckEqualSettings("a grid", wanted.size(), [&](size_t r) -> SettingValues {
    return {{"BRIGADE_STATS", Settings::kStatistics[static_cast<int>(wanted[r].mode)]},
            {"BRIGADE_STATS_FILE", wanted[r].file ? "a file" : "none"}};
  });
  if (!same.ok()) Fail(OriginOf(routine, -1), "%s", same.message().c_str());
  if (statistics_ != nullptr && mine.mode != Settings::Statistics::kPerRank) {
    MPI_Request request;
    FailIfNotOk(OriginOf(routine, -1),
                MpiStatus(MPI_Comm_idup(grid.communicator, &statistics_communicator_, &request),
                          "MPI_Comm_idup"));
    FailIfNotOk(OriginOf(routine, -1), MpiPoll(&request, "MPI_Comm_idup"));
  }
}

void Runtime::OnAbort() {
  if (current_ != nullptr && current_->pid_ == getpid())
    current_->WriteStatistics(/*aborted=*/true);
}

void Runtime::WriteStatistics(bool aborted) {
  if (statistics_ == nullptr) return;
  if (engine_ != nullptr) statistics_->SetMemory(engine_->staging(), engine_->overflow());
  if (settings_.statistics_of_mpi) statistics_->SetMpiTime(MpiTimeSoFar());
  if (aborted) statistics_->SetAborted(grids_.count());
  std::string whose = "of rank " + std::to_string(world_rank_);
  if (aborted) whose += ", which ended the job";
  const bool summed = !aborted && statistics_communicator_ != MPI_COMM_NULL;
  if (summed) {
    FailIfNotOk(OriginOf("MPI_Finalize", -1), statistics_->SumOver(statistics_communicator_));
    int rank = 0;
    MPI_Comm_rank(statistics_communicator_, &rank);
    MPI_Comm_free(&statistics_communicator_);
    if (rank != 0) return;
    whose = "summed over " + std::to_string(world_size_) + " ranks";
  }
  if (settings_.statistics != Settings::Statistics::kOff) {
    std::fputs(statistics_->ToString(whose).c_str(), stderr);
    std::fflush(stderr);
  }
  const std::string& file = settings_.statistics_file;
  if (file.empty()) return;
  const std::string path = summed ? file : Trace::PartOf(file, world_rank_);
  std::ofstream out(path);
  out << statistics_->ToJson(summed ? -1 : world_rank_, world_size_);
  out.close();
  // Not worth the job, as a trace.
  if (!out)
    std::fprintf(stderr, "brigade: BRIGADE_STATS_FILE: cannot write %s: %s\n", path.c_str(),
                 std::strerror(errno));
}

int Runtime::OpenGrid(const char* routine, MPI_Comm parent, const std::vector<int>& members,
                      int rows, int cols) {
  const TraceSpan span(routine);
  const bool first = engine_ == nullptr;
  const Origin origin = OriginOf(routine, -1);
  if (first) {
    FailIfNotOk(origin,
                SharedEngine::Acquire(settings_.transport, settings_.engine, &shared_engine_));
    engine_ = shared_engine_->engine.get();
  }
  std::unique_ptr<ProcessGrid> grid;
  FailIfNotOk(origin, ProcessGrid::Create(engine_, parent, members, rows, cols, &grid));
  // World rank 0 may never be in a grid.
  if (first && grid->row == 0 && grid->col == 0) {
    PrintSettingWarnings();
    if (settings_.log_info) LogStart(*grid);
  }
  AgreeOnStatistics(routine, *grid);
  return grids_.Insert(std::move(grid));
}

std::unique_ptr<ProcessGrid> Runtime::CloseGrid(int context) {
  std::unique_ptr<ProcessGrid> grid = grids_.Remove(context);
  handles_.Forget(grid->communicator, context);
  return grid;
}

void Runtime::Drain(const char* routine) {
  if (engine_ != nullptr) FailIfNotOk(OriginOf(routine, -1), engine_->AwaitReceivers());
}

void Runtime::Trim() {
  std::vector<int32_t>().swap(location_scratch_);
  if (engine_ != nullptr) engine_->Trim();
}

// Groups are closed first: two ranks with unreceived messages of each other would otherwise wait
// for each other's close.
void Runtime::Reset(const char* routine) {
  grids_.Clear();  // not entered: delete callbacks of the program may call the BLACS
  const Entry entry(routine);
  handles_ = SystemHandles();
  Drain(routine);
  Trim();
}

}  // namespace blacs
}  // namespace brigade
