#include "li_shim/mpi/mpi_backend.h"

#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

Status MpiBackend::Agree(bool begins) const {
  std::vector<MpiJob::Numbers> all;
  BRIGADE_RETURN_IF_ERROR(job_.Begin(settings_, {begins ? 1 : 0}, &all));
  for (size_t p = 0; p < all.size(); ++p) {
    if ((all[p][0] != 0) == begins) continue;
    return Invalid(begins ? "process " + std::to_string(p) + " has ended without it"
                          : "LIBEGIN has not been called, as on process " + std::to_string(p));
  }
  return Status();
}

Status MpiBackend::Begin() {
  BRIGADE_RETURN_IF_ERROR(Agree(/*begins=*/true));
  return job_.Open(processes());
}

Status MpiBackend::Leave() {
  if (!MpiJob::IsOurs()) return Status();
  BRIGADE_RETURN_IF_ERROR(Agree(/*begins=*/false));
  return job_.Close();
}

Status MpiBackend::GatherBytes(size_t mine, std::vector<size_t>* all) const {
  all->resize(static_cast<size_t>(processes()));
  return MpiBootstrap(comm()).AllGather(&mine, sizeof(mine), all->data());
}

}  // namespace li
}  // namespace brigade
