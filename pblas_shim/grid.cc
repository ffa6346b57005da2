#include "pblas_shim/grid.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

#include "patterns/group/group_agreement.h"
#include "pblas_shim/errors.h"
#include "pblas_shim/process_functions.h"
#include "pblas_shim/runtime.h"
#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace pblas {
namespace {

// What its ranks tell each other.
struct Offer {
  uint64_t course;  // its address
  int when;         // its place in kFromLeast
  int row;
  int col;
};
using When = Settings::When;
constexpr When kFromLeast[] = {When::kOff, When::kAuto, When::kOn};

// The course of a process that ends the grid.
constexpr int64_t kEnd = INT64_MAX;
// From look to look at others who do not come.
constexpr std::chrono::seconds kLookInterval(1);

}  // namespace

std::unique_ptr<Grid> Grid::Make(Runtime* runtime, MPI_Comm comm, const GridPlace& place) {
  std::unique_ptr<Grid> grid(new Grid);
  grid->place_ = place;
  grid->when_ = runtime->settings().pblas;
  grid->report_seconds_ = runtime->settings().engine.report_seconds;
  grid->outcome_ = grid->Open(runtime, comm);
  return grid;
}

Status Grid::Open(Runtime* runtime, MPI_Comm comm) {
  MpiBootstrap bootstrap(comm);
  const auto* const least =
      std::find(std::begin(kFromLeast), std::end(kFromLeast), runtime->settings().pblas);
  const Offer mine{reinterpret_cast<uint64_t>(&course_), static_cast<int>(least - kFromLeast),
                   place_.row, place_.col};
  std::vector<Offer> all(static_cast<size_t>(bootstrap.size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap.AllGather(&mine, sizeof(mine), all.data()));
  int lowest = mine.when;
  is_row_by_row_ = bootstrap.size() == place_.rows * place_.cols;
  for (size_t r = 0; r < all.size(); ++r) {
    courses_.push_back(all[r].course);
    lowest = std::min(lowest, all[r].when);
    is_row_by_row_ = is_row_by_row_ && all[r].row * place_.cols + all[r].col == static_cast<int>(r);
  }
  when_ = kFromLeast[lowest];
  if (when_ == When::kOff || !is_row_by_row_) return Status();
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(&bootstrap, runtime->OpenEngine()));
  MultiplierOptions options;
  options.rows = place_.rows;
  options.cols = place_.cols;
  options.buffer_bytes = runtime->settings().multiply_bytes;
  BRIGADE_RETURN_IF_ERROR(Multiplier::Create(runtime->space(), &bootstrap, options, &multiplier_));
  if (HasOurBlacs()) return Status();
  return AgreeOnOutcome(&bootstrap, MpiStatus(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup"));
}

void Grid::ComeToProduct(const char* routine, bool is_taken) {
  course_ = 2 * (course_ / 2 + 1) + (is_taken ? 0 : 1);
  if (is_taken) AwaitAll(routine);
}

void Grid::AwaitAll(const char* routine) {
  if (comm_ == MPI_COMM_NULL) return;
  const auto require = [routine](const Status& status) {
    if (!status.ok()) Fail(routine, status.ToString());
  };
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> interval(report_seconds_);
  auto reported = Clock::now();
  auto looked = reported;
  // A barrier that also says whether all have come to the same.
  const int64_t course = course_;
  const int64_t mine[] = {course, -course};
  int64_t least[] = {course, -course};
  MPI_Request request = MPI_REQUEST_NULL;
  int is_over = 0;
  require(
      MpiStatus(MPI_Iallreduce(mine, least, 2, MPI_INT64_T, MPI_MIN, comm_, &request), "a wait"));
  for (;;) {
    require(MpiStatus(MPI_Test(&request, &is_over, MPI_STATUS_IGNORE), "a wait"));
    if (is_over != 0) break;
    sched_yield();
    require(FindWhoHasLeft());
    const auto now = Clock::now();
    if (now - looked >= kLookInterval) {
      looked = now;
      require(LookAtOthers());
    }
    if (interval.count() <= 0 || now - reported < interval) continue;
    reported = now;
    std::fprintf(stderr,
                 "brigade: process {%d,%d} of a grid waits for others to come to a product or to "
                 "the end of the grid, and goes on waiting\n",
                 place_.row, place_.col);
  }
  if (least[0] != -least[1]) {
    require({StatusCode::kMismatch,
             "processes of a grid do not come to the same products, or one leaves to the PBLAS "
             "what another takes: their arguments differ"});
  }
  // All are in the same, and answer.
  for (size_t r = 0; looks_ != nullptr && r < courses_.size(); ++r) {
    require(multiplier_->WaitFor(looks_[r].over));
  }
}

Status Grid::LookAtOthers() {
  if (looks_ == nullptr) looks_ = std::make_unique<Look[]>(courses_.size());
  for (size_t r = 0; r < courses_.size(); ++r) {
    Look& look = looks_[r];
    if (static_cast<int>(r) == multiplier_->rank() || !look.over) continue;
    look.over = false;
    BRIGADE_RETURN_IF_ERROR(
        multiplier_->Read(static_cast<int>(r), courses_[r], &look.course, &look.over));
  }
  return Status();
}

Status Grid::FindWhoHasLeft() {
  if (looks_ == nullptr) return Status();
  BRIGADE_RETURN_IF_ERROR(multiplier_->Progress());
  for (size_t r = 0; r < courses_.size(); ++r) {
    if (!looks_[r].over || looks_[r].course <= course_) continue;
    const int rank = static_cast<int>(r);
    return {StatusCode::kMismatch,
            "process {" + std::to_string(rank / place_.cols) + "," +
                std::to_string(rank % place_.cols) +
                "} of the grid leaves to the PBLAS what is taken here: their arguments differ"};
  }
  return Status();
}

void Grid::Free() {
  if (multiplier_ == nullptr) return;
  course_ = kEnd;
  AwaitAll("the end of a grid");
  // If others are elsewhere, they tell the job.
  (void)multiplier_->Free();
  multiplier_.reset();
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

}  // namespace pblas
}  // namespace brigade
