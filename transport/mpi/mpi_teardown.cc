#include "transport/mpi/mpi_teardown.h"

#include <mpi.h>

#include <atomic>

#include "transport/mpi/polled_mpi.h"

namespace brigade {
namespace {

constexpr int kTeardowns = 3;
std::atomic<void (*)()> teardowns[kTeardowns];  // by Teardown; null: that library has nothing to do
std::atomic<bool> has_attribute{false};
std::atomic<bool> is_last{false};
std::atomic<bool> is_torn_down{false};

int OnDelete(MPI_Comm, int, void*, void*) {
  is_torn_down = true;
  for (auto& teardown : teardowns) {
    if (auto* const function = teardown.exchange(nullptr)) function();
  }
  StopPollingMpi();  // MPI ends with no request open
  return MPI_SUCCESS;
}

// By the names that profiling tools do not take over: a tool's MPI_Init calls PMPI_Init, and so
// this, before the tool is initialised itself.
void SetAttribute() {
  if (has_attribute.exchange(true)) return;
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &OnDelete, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  PMPI_Comm_free_keyval(&keyval);
}

}  // namespace

void SetTeardown(Teardown library, void (*function)()) {
  teardowns[static_cast<int>(library)] = function;
  SetAttribute();
}

bool IsTornDown() { return is_torn_down; }

bool IsTornDownLast() { return is_last; }

}  // namespace brigade

void brigade_set_finalize_attribute() {
  int is_initialized = 0;
  int is_finalized = 0;
  PMPI_Initialized(&is_initialized);
  PMPI_Finalized(&is_finalized);
  // A program may have reached another MPI, or a library without messages in its place.
  if (is_initialized == 0 || is_finalized != 0 || brigade::has_attribute) return;
  brigade::is_last = true;
  brigade::SetAttribute();
}
