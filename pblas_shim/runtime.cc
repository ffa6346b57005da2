#include "pblas_shim/runtime.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "pblas_shim/errors.h"
#include "pblas_shim/process_functions.h"
#include "transport/host/variable_names.h"
#include "transport/mpi/mpi_teardown.h"

namespace brigade {
namespace pblas {
Runtime* Runtime::current_ = nullptr;

Runtime::Runtime(const Settings& settings) : settings_(settings), pid_(getpid()) {
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Runtime::OnCommunicatorFree, &keyval_, nullptr);
  SetTeardown(Teardown::kProducts, &Runtime::OnMpiFinalize);
}

Runtime* Runtime::StartNow(const char* routine) {
  Settings settings;
  const Status status = ReadSettings(&settings);
  if (!status.ok()) Fail(routine, status.message());
  current_ = new Runtime(settings);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) PrintSettingWarnings();
  return current_;
}

Status Runtime::OpenEngine() {
  if (space_ != nullptr) return Status();
  BRIGADE_RETURN_IF_ERROR(SharedEngine::Acquire(settings_.transport, settings_.engine, &engine_));
  return WindowSpace::Create(engine_->engine.get(), &space_);
}

Grid* Runtime::GridOf(const char* routine, int64_t context, const GridPlace& place) {
  static auto* const get = FindFunction<Get>(find_first, "blacs_get_", routine);
  constexpr int64_t kCommunicatorOfContext = 10;
  int64_t handle = 0;
  get(&context, &kCommunicatorOfContext, &handle);
  MPI_Comm comm = MPI_Comm_f2c(LowHalf(handle));
  DestroyEnded();
  void* known = nullptr;
  int is_known = 0;
  MPI_Comm_get_attr(comm, keyval_, &known, &is_known);
  if (is_known != 0) return static_cast<Grid*>(known);
  grids_.push_back(std::make_unique<Grid>(this, comm, place));
  MPI_Comm_set_attr(comm, keyval_, grids_.back().get());
  return grids_.back().get();
}

int Runtime::OnCommunicatorFree(MPI_Comm, int, void* grid, void*) {
  if (current_ == nullptr || current_->pid_ != getpid()) return MPI_SUCCESS;
  auto& grids = current_->grids_;
  const auto found =
      std::find_if(grids.begin(), grids.end(), [&](const auto& one) { return one.get() == grid; });
  if (found == grids.end()) return MPI_SUCCESS;
  (*found)->End();
  current_->ended_.push_back(std::move(*found));
  grids.erase(found);
  current_->DestroyEnded();
  return MPI_SUCCESS;
}

void Runtime::DestroyEnded() {
  ended_.erase(std::remove_if(ended_.begin(), ended_.end(),
                              [](const auto& grid) { return grid->HasEnded(); }),
               ended_.end());
}

void Runtime::OnMpiFinalize() {
  // A forked child has copies of everything and owns none of it.
  if (current_->pid_ != getpid()) return;
  for (const auto* const grids : {&current_->grids_, &current_->ended_}) {
    for (const auto& grid : *grids) grid->Abandon();
  }
  delete std::exchange(current_, nullptr);
}

}  // namespace pblas
}  // namespace brigade
