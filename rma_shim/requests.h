// Requests: MPI requests for pending operations of this library.
//
// Each is a generalised request, which only this library completes. While one is pending, a wait
// for MPI requests must therefore call Progress.

#ifndef BRIGADE_RMA_SHIM_REQUESTS_H_
#define BRIGADE_RMA_SHIM_REQUESTS_H_

#include <mpi.h>

#include <atomic>
#include <string>
#include <vector>

namespace brigade {
namespace rma {

class CarriedWindow;

class Requests {
 public:
  // An operation that has a request, on its way to be started. Belongs to the MPI once it is.
  struct Operation {
    CarriedWindow* window = nullptr;
    std::atomic<bool> over{false};
    int error = MPI_SUCCESS;  // what the request ends with
  };

  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;

  bool any() const { return !pending_.empty(); }
  // The request of an operation that was started. Takes it over.
  void Add(Operation* operation, MPI_Request* request);
  // An error to raise on a window, once for all its requests. The caller raises it after it has
  // left the gate: the error handler may wait for a thread that works with windows.
  struct Failure {
    MPI_Win window;
    int error;
    std::string text;
  };
  // Moves windows, and completes the requests of what is over. Requests of a broken window complete
  // with an error, which is one of `failures`.
  void Progress(std::vector<Failure>* failures);
  // Completes those of a window of which nothing is under way any more.
  void Complete(const CarriedWindow* window);
  // Completes all of them. REQUIRES: all windows have ended.
  void CompleteAll();

 private:
  struct PendingRequest {
    Operation* operation;
    MPI_Request request;
  };

  // Returns those that `which` says, which are in the list no more.
  template <typename Which>
  std::vector<PendingRequest> Take(const Which& which);
  // Completes the requests of a broken window with an error. Returns false if it has none.
  bool Fail(const CarriedWindow* window, int error);

  std::vector<PendingRequest> pending_;
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_REQUESTS_H_
