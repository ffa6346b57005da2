#include "pblas_shim/grid.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <vector>

#include "patterns/group/group_agreement.h"
#include "pblas_shim/process_functions.h"
#include "pblas_shim/runtime.h"
#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace pblas {
namespace {

// What its ranks tell each other.
struct Offer {
  int when;  // its place in kFromLeast
  int row;
  int col;
};
using When = Settings::When;
constexpr When kFromLeast[] = {When::kOff, When::kAuto, When::kOn};

}  // namespace

std::unique_ptr<Grid> Grid::Make(Runtime* runtime, MPI_Comm comm, const GridPlace& place) {
  std::unique_ptr<Grid> grid(new Grid);
  grid->place_ = place;
  if (!HasOurBlacs()) grid->comm_ = comm;
  grid->when_ = runtime->settings().pblas;
  grid->report_seconds_ = runtime->settings().engine.report_seconds;
  grid->outcome_ = grid->Open(runtime, comm);
  return grid;
}

Status Grid::Open(Runtime* runtime, MPI_Comm comm) {
  MpiBootstrap bootstrap(comm);
  const auto* const least =
      std::find(std::begin(kFromLeast), std::end(kFromLeast), runtime->settings().pblas);
  const Offer mine{static_cast<int>(least - kFromLeast), place_.row, place_.col};
  std::vector<Offer> all(static_cast<size_t>(bootstrap.size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap.AllGather(&mine, sizeof(mine), all.data()));
  int lowest = mine.when;
  is_row_by_row_ = bootstrap.size() == place_.rows * place_.cols;
  for (size_t r = 0; r < all.size(); ++r) {
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
  return Multiplier::Create(runtime->space(), &bootstrap, options, &multiplier_);
}

void Grid::AwaitAll() const {
  if (comm_ == MPI_COMM_NULL) return;
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> interval(report_seconds_);
  auto reported = Clock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  int is_over = 0;
  int error = MPI_Ibarrier(comm_, &request);
  while (error == MPI_SUCCESS && is_over == 0) {
    error = MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    if (is_over != 0) return;
    sched_yield();
    if (interval.count() <= 0 || Clock::now() - reported < interval) continue;
    reported = Clock::now();
    std::fprintf(stderr,
                 "brigade: process {%d,%d} of a grid waits for others to come to a product or to "
                 "the end of the grid, and goes on waiting\n",
                 place_.row, place_.col);
  }
}

void Grid::Free() {
  if (multiplier_ != nullptr) AwaitAll();
  // If it is broken the job has been told.
  if (multiplier_ != nullptr) (void)multiplier_->Free();
  multiplier_.reset();
}

}  // namespace pblas
}  // namespace brigade
