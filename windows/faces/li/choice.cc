#include "windows/faces/li/choice.h"

#include <cstdlib>
#include <string>

#include "blacs_shim/settings.h"
#include "windows/faces/li/mpi/mpi_rma_backend.h"
#include "windows/faces/li/mpi/mpi_send_backend.h"
#include "windows/faces/li/windows_backend.h"

namespace brigade {
namespace li {
namespace {

// Empty where it is unset.
std::string Lookup(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

}  // namespace

Status ChooseBackend(std::unique_ptr<Backend>* backend) {
  const std::string name = Lookup("BRIGADE_LI_BACKEND");
  if (name.empty() || name == "windows") {
    blacs::Settings settings;
    BRIGADE_RETURN_IF_ERROR(blacs::ReadSettings(&settings));
    *backend = std::make_unique<WindowsBackend>(settings);
  } else if (name == "mpi_rma") {
    *backend = std::make_unique<MpiRmaBackend>();
    // Open MPI 4.1.4 makes no window of one process, which has nothing to send either.
    if ((*backend)->processes() == 1) *backend = std::make_unique<MpiSendBackend>();
  } else if (name == "mpi_send") {
    *backend = std::make_unique<MpiSendBackend>();
  } else {
    return {StatusCode::kInvalidArgument,
            "BRIGADE_LI_BACKEND=" + name + ": must be windows, mpi_rma or mpi_send"};
  }
  return Status();
}

}  // namespace li
}  // namespace brigade
