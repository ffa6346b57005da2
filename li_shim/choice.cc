#include "li_shim/choice.h"

#include <string>
#include <utility>

#include "li_shim/backend/checked_backend.h"
#include "li_shim/bsp_backend.h"
#include "li_shim/mpi/mpi_rma_backend.h"
#include "li_shim/mpi/mpi_send_backend.h"
#include "li_shim/windows_backend.h"
#include "patterns/settings/settings.h"

namespace brigade {
namespace li {

Status ChooseBackend(std::unique_ptr<Backend>* backend) {
  Settings settings;
  BRIGADE_RETURN_IF_ERROR(ReadSettings(&settings));
  const std::string& name = settings.li_backend;
  const std::string both =
      "BRIGADE_LI_BACKEND=" + name + " BRIGADE_LI_CHECK=" + (settings.li_check ? "1" : "0");
  if (name == "windows") {
    *backend = std::make_unique<WindowsBackend>(settings, both);
  } else if (name == "mpi_rma") {
    *backend = std::make_unique<MpiRmaBackend>(both);
    // Open MPI 4.1.4 makes no window of one process, which has nothing to send either.
    if ((*backend)->processes() == 1) *backend = std::make_unique<MpiSendBackend>(both);
  } else if (name == "mpi_send") {
    *backend = std::make_unique<MpiSendBackend>(both);
  } else {  // "bsp"
    const std::string& path = settings.li_bsp;
    BspLibrary library;
    BRIGADE_RETURN_IF_ERROR(BspLibrary::Load(path, &library).WithContext("BRIGADE_LI_BSP=" + path));
    *backend = std::make_unique<BspBackend>(library, both);
  }
  if (settings.li_check) *backend = std::make_unique<CheckedBackend>(std::move(*backend));
  return Status();
}

}  // namespace li
}  // namespace brigade
