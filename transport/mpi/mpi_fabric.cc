#include "transport/mpi/mpi_fabric.h"

#include <mpi.h>

#include <string>
#include <vector>

namespace brigade {
namespace {

// The value of a control variable of MPI that is a string; empty if there is none.
std::string ReadControlVariable(const char* name) {
  int index = 0;
  MPI_T_cvar_handle handle;
  int count = 0;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) {
    return "";
  }
  std::vector<char> value(static_cast<size_t>(count) + 1);
  const bool read = MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  return read ? value.data() : "";
}

}  // namespace

FabricFacts FabricHere() {
  FabricFacts facts;
#ifdef OPEN_MPI  // or a vendor's version of it: other families are refused before
  facts.is_open_mpi = true;
#else
  facts.is_open_mpi = false;
#endif
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS) {
    facts.pml = ReadControlVariable("pml");
    facts.btl = ReadControlVariable("btl");
    facts.mtl = ReadControlVariable("mtl");
    MPI_T_finalize();
  } else {
    facts.is_open_mpi = false;  // as good as unknown
  }
  facts.devices = ActiveDevices("/sys");
  const std::vector<std::string> open = OpenDevices("/proc/self/fd");
  facts.devices.insert(facts.devices.end(), open.begin(), open.end());
  return facts;
}

}  // namespace brigade
