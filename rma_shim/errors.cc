#include "rma_shim/errors.h"

#include <dlfcn.h>

#include <cstdio>

#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace rma {
namespace {

// Of MPI 4; the program's MPI may know it although the one that this was built with does not.
bool IsErrorsAbort(MPI_Errhandler handler) {
#ifdef MPI_ERRORS_ABORT
  return handler == MPI_ERRORS_ABORT;
#elif defined(OPEN_MPI)
  // A program may have a copy of the object, which is then the object to all.
  static void* const known = dlsym(RTLD_DEFAULT, "ompi_mpi_errors_abort");
  return known != nullptr && handler == known;
#else
  return false;
#endif
}

void Print(const char* routine, const std::string& text) {
  std::string where;
  if (MpiIsActive()) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    where = " on rank " + std::to_string(rank);
  }
  std::fprintf(stderr, "brigade: %s%s: %s\n", routine, where.c_str(), text.c_str());
  std::fflush(stderr);
}

}  // namespace

int Raise(MPI_Win window, const char* routine, int error, const std::string& text, bool prints) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_get_errhandler(window, &handler);
  const bool is_fatal = handler == MPI_ERRORS_ARE_FATAL || IsErrorsAbort(handler);
  MPI_Errhandler_free(&handler);
  if (is_fatal) Fail(routine, text);
  if (prints) Print(routine, text);
  MPI_Win_call_errhandler(window, error);
  return error;
}

int ErrorClassOf(const Status& status) {
  return status.code() == StatusCode::kOutOfMemory ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

void Fail(const char* routine, const std::string& text) {
  Print(routine, text);
  EndMpiJob(1);
}

}  // namespace rma
}  // namespace brigade
