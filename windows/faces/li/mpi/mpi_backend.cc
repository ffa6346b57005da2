#include "windows/faces/li/mpi/mpi_backend.h"

#include "transport/mpi/mpi_bootstrap.h"
#include "windows/faces/li/settings_text.h"

namespace brigade {
namespace li {

Status MpiBackend::Begin() {
  BRIGADE_RETURN_IF_ERROR(job_.Open(processes()));
  const SettingsText mine = ToSettingsText(settings_);
  std::vector<SettingsText> all(static_cast<size_t>(processes()));
  BRIGADE_RETURN_IF_ERROR(MpiBootstrap(comm()).AllGather(&mine, sizeof(mine), all.data()));
  return CheckSettings(all);
}

Status MpiBackend::GatherBytes(size_t mine, std::vector<size_t>* all) const {
  all->resize(static_cast<size_t>(processes()));
  return MpiBootstrap(comm()).AllGather(&mine, sizeof(mine), all->data());
}

}  // namespace li
}  // namespace brigade
