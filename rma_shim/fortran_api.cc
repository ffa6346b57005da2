// The one call of Fortran whose wrappers do not end in the names of C: they look at the handle
// beneath.

#include <mpi.h>

#include "rma_shim/carried_window.h"
#include "rma_shim/original.h"

namespace {

using GetAttribute = void(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value,
                          MPI_Fint* flag, MPI_Fint* error);

// MPICH has other numbers for Fortran.
#ifdef OPEN_MPI
constexpr MPI_Fint kAboveThoseOfC = 0;
#else
constexpr MPI_Fint kAboveThoseOfC = 1;
#endif

}  // namespace

extern "C" GetAttribute pmpi_win_get_attr_;
extern "C" GetAttribute mpi_win_get_attr_ __attribute__((alias("pmpi_win_get_attr_")));

extern "C" void pmpi_win_get_attr_(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value,
                                   MPI_Fint* flag, MPI_Fint* error) {
  static auto* const original = brigade::rma::FindOriginal<GetAttribute>("pmpi_win_get_attr_");
  brigade::rma::CarriedWindow* const carried = brigade::rma::Carried(MPI_Win_f2c(*win));
  const int attribute = *keyval - kAboveThoseOfC;
  void* found = nullptr;
  if (carried == nullptr || !carried->FindAttribute(attribute, &found)) {
    return original(win, keyval, value, flag, error);
  }
  // In C the caller gets a pointer to this value.
  if (attribute == MPI_WIN_BASE) {
    *value = reinterpret_cast<MPI_Aint>(found);
  } else if (attribute == MPI_WIN_SIZE) {
    *value = *static_cast<MPI_Aint*>(found);
  } else {
    *value = *static_cast<int*>(found);
  }
  *flag = 1;  // .true. of GNU Fortran, for which these MPIs are built
  *error = MPI_SUCCESS;
}
