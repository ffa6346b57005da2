#include "li_shim/mpi/mpi_backend.h"

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

Status MpiBackend::Begin() {
  std::vector<MpiJob::Numbers> none;
  BRIGADE_RETURN_IF_ERROR(job_.Begin(settings_, {}, &none));
  return job_.Open(processes());
}

Status MpiBackend::GatherBytes(size_t mine, std::vector<size_t>* all) const {
  all->resize(static_cast<size_t>(processes()));
  return MpiBootstrap(comm()).AllGather(&mine, sizeof(mine), all->data());
}

}  // namespace li
}  // namespace brigade
