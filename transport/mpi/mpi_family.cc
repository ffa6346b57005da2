#include "transport/mpi/mpi_family.h"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace brigade {
namespace {

// MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the longest there is; Open MPI's is 256.
constexpr int kLongestVersionBytes = 8192;

// By symbols that a family exports and the other does not: vendors put their own names into the
// version.
#ifdef OPEN_MPI
constexpr char kOurs[] = "Open MPI";
constexpr char kOther[] = "MPICH";
constexpr char kSymbolOfOther[] = "MPIR_Dup_fn";
#else
constexpr char kOurs[] = "MPICH";
constexpr char kOther[] = "Open MPI";
constexpr char kSymbolOfOther[] = "ompi_mpi_comm_world";
#endif

std::string Version() {
  char version[kLongestVersionBytes] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version, std::strcspn(version, "\n,"));
}

bool IsOwn(const std::string& version) { return version.rfind(kOurs, 0) == 0; }

}  // namespace

std::string WrongMpiFamily() {
  if (dlsym(RTLD_DEFAULT, kSymbolOfOther) == nullptr) return "";
  const std::string version = Version();
  return std::string("this library was built for ") + kOurs + ", but the program uses " +
         (IsOwn(version) ? kOther : version) +
         "; start it without this library, or build both with the same MPI";
}

bool ReachesOwnMpi() { return IsOwn(Version()); }

void RefuseWrongMpiFamily(const char* library) {
  const std::string text = WrongMpiFamily();
  if (text.empty()) return;
  std::fprintf(stderr, "brigade: %s: %s\n", library, text.c_str());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace brigade
