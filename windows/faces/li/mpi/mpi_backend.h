// MpiBackend: what backends in an MPI job have in common.

#ifndef BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_
#define BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "windows/faces/li/backend.h"

namespace brigade {
namespace li {

class MpiBackend : public Backend {
 public:
  // Initialises MPI, unless that is done. `settings`, as they are read, must be equal on all
  // processes: Begin says which differ.
  explicit MpiBackend(std::string settings);

  int processes() const override { return processes_; }
  int process() const override { return process_; }
  Status Begin() override;
  Status End() override;
  [[noreturn]] void Abort(const std::string& text) override;

 protected:
  // Of our own, of all processes.
  MPI_Comm comm() const { return comm_; }
  // What each process says. Collective.
  Status GatherBytes(size_t mine, std::vector<size_t>* all) const;

 private:
  Status CheckSettings() const;

  const std::string settings_;
  static inline bool ends_mpi_ = false;  // it was initialised here
  int processes_ = 0;
  int process_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_
