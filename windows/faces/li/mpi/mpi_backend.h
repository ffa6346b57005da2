// MpiBackend: what backends in an MPI job have in common.

#ifndef BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_
#define BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_

#include <string>

#include "membuf/status.h"
#include "windows/faces/li/backend.h"

namespace brigade {
namespace li {

class MpiBackend : public Backend {
 public:
  // Initialises MPI, unless that is done.
  MpiBackend();

  int processes() const override { return processes_; }
  int process() const override { return process_; }
  Status Begin() override;
  Status End() override;
  [[noreturn]] void Abort(const std::string& text) override;

 protected:
  // The Fortran handle of a communicator of our own.
  int comm() const { return comm_; }

 private:
  bool ends_mpi_ = false;
  int processes_ = 0;
  int process_ = 0;
  int comm_ = 0;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_WINDOWS_FACES_LI_MPI_MPI_BACKEND_H_
