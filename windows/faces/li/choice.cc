#include "windows/faces/li/choice.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "patterns/settings/settings.h"
#include "windows/faces/li/bsp_backend.h"
#include "windows/faces/li/checked_backend.h"
#include "windows/faces/li/mpi/mpi_rma_backend.h"
#include "windows/faces/li/mpi/mpi_send_backend.h"
#include "windows/faces/li/windows_backend.h"

namespace brigade {
namespace li {
namespace {

std::string Lookup(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

}  // namespace

Status ChooseBackend(std::unique_ptr<Backend>* backend) {
  const std::string name = Lookup("BRIGADE_LI_BACKEND", "windows");
  const std::string check = Lookup("BRIGADE_LI_CHECK", "0");
  const std::string both = "BRIGADE_LI_BACKEND=" + name + " BRIGADE_LI_CHECK=" + check;
  if (name == "windows") {
    Settings settings;
    BRIGADE_RETURN_IF_ERROR(ReadSettings(&settings));
    *backend = std::make_unique<WindowsBackend>(settings, both);
  } else if (name == "mpi_rma") {
    *backend = std::make_unique<MpiRmaBackend>(both);
    // Open MPI 4.1.4 makes no window of one process, which has nothing to send either.
    if ((*backend)->processes() == 1) *backend = std::make_unique<MpiSendBackend>(both);
  } else if (name == "mpi_send") {
    *backend = std::make_unique<MpiSendBackend>(both);
  } else if (name == "bsp") {
    const std::string path = Lookup("BRIGADE_LI_BSP", "libbrigade_bsp.so.0");
    BspLibrary library;
    BRIGADE_RETURN_IF_ERROR(BspLibrary::Load(path, &library).WithContext("BRIGADE_LI_BSP=" + path));
    *backend = std::make_unique<BspBackend>(library, both);
  } else {
    return {StatusCode::kInvalidArgument,
            "BRIGADE_LI_BACKEND=" + name + ": must be windows, mpi_rma, mpi_send or bsp"};
  }
  if (check == "1") {
    *backend = std::make_unique<CheckedBackend>(std::move(*backend));
  } else if (check != "0") {
    return {StatusCode::kInvalidArgument, "BRIGADE_LI_CHECK=" + check + ": must be 0 or 1"};
  }
  return Status();
}

}  // namespace li
}  // namespace brigade
