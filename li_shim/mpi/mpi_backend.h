// MpiBackend: what backends in an MPI job have in common.

#ifndef BRIGADE_LI_SHIM_MPI_MPI_BACKEND_H_
#define BRIGADE_LI_SHIM_MPI_MPI_BACKEND_H_

#include <mpi.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "li_shim/backend/backend.h"
#include "membuf/status.h"
#include "transport/mpi_job/mpi_job.h"

namespace brigade {
namespace li {

class MpiBackend : public Backend {
 public:
  // Initialises MPI, unless that is done. `settings`, as they are read, must be equal on all
  // processes: Begin says which differ.
  explicit MpiBackend(std::string settings) : settings_(std::move(settings)) {}

  int processes() const override { return job_.processes(); }
  int process() const override { return job_.process(); }
  Status Begin() override;
  Status End() override { return job_.Close(); }
  Status Leave() override;
  [[noreturn]] void Abort(const std::string& text) override { MpiJob::Abort(text); }

 protected:
  // Of our own, of all processes.
  MPI_Comm comm() const { return job_.comm(); }
  // Gathers the number `mine` of each process. Collective.
  Status GatherBytes(size_t mine, std::vector<size_t>* all) const;

 private:
  // Agrees with all processes whether the program begins.
  Status Agree(bool begins) const;

  const std::string settings_;
  MpiJob job_{"libbrigade_li.so"};
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MPI_MPI_BACKEND_H_
