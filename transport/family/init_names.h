// MPI_Init and MPI_Init_thread, under both names of MPI: part of each library of names. Each calls
// the function of its name behind this library. After the first success it sets the attribute that
// MPI_Finalize deletes last (transport/mpi/mpi_teardown.h), and does nothing else: no setting is
// read, and a part that cannot be opened is an error of the first call that needs it.
//
// A profiling tool may be in front of this library, or behind it. One call then comes here under
// several names, nested; the innermost sets the attribute. Included once, after names.h.

#ifndef BRIGADE_TRANSPORT_FAMILY_INIT_NAMES_H_
#define BRIGADE_TRANSPORT_FAMILY_INIT_NAMES_H_

#include <dlfcn.h>

#include <string>

#include "transport/family/names.h"
#include "transport/family/part.h"

namespace brigade {
namespace names {

// Returns the MPI's function, or the function of a tool behind this library.
template <typename Function>
Function* FindMpi(const char* name) {
  void* found = FindNext(name);
  if (found == nullptr) {
    // The MPI was opened with RTLD_LOCAL, as in Python, or there is none: OpenPart makes it visible
    // to all.
    const Part part = OpenPart(BRIGADE_PART);
    found = FindNext(name);
    if (found == nullptr) GiveUp(std::string("there is no ") + name + ": " + part.why_not);
  }
  return reinterpret_cast<Function*>(found);
}

inline int AfterInit(int error) {
  constexpr int kSuccess = 0;  // MPI_SUCCESS of every MPI
  if (error != kSuccess) return error;
  if (void* const part = OpenMpiPart()) {
    auto* const set = reinterpret_cast<void (*)()>(dlsym(part, "brigade_set_finalize_attribute"));
    if (set != nullptr) set();
  }
  return error;
}

}  // namespace names
}  // namespace brigade

#define BRIGADE_INIT(name, parameters, arguments)                               \
  extern "C" int name parameters {                                              \
    static auto* const next = ::brigade::names::FindMpi<decltype(name)>(#name); \
    return ::brigade::names::AfterInit(next arguments);                         \
  }
BRIGADE_INIT(MPI_Init, (int* argc, char*** argv), (argc, argv))
BRIGADE_INIT(PMPI_Init, (int* argc, char*** argv), (argc, argv))
BRIGADE_INIT(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
             (argc, argv, required, provided))
BRIGADE_INIT(PMPI_Init_thread, (int* argc, char*** argv, int required, int* provided),
             (argc, argv, required, provided))
#undef BRIGADE_INIT

#endif  // BRIGADE_TRANSPORT_FAMILY_INIT_NAMES_H_
