#include "transport/mpi/mpi_family.h"

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace {

// MPICH's MPI_MAX_LIBRARY_VERSION_STRING, the longest there is; Open MPI's is 256.
constexpr int kLongestVersionBytes = 8192;

#ifdef OPEN_MPI
constexpr char kOurs[] = "Open MPI";
constexpr char kOther[] = "MPICH";
// A function: of data that a program names the linker makes a copy in the program.
constexpr char kSymbolOfOurs[] = "ompi_mpi_finalize";
constexpr char kSymbolOfOther[] = "MPIR_Dup_fn";
#else
constexpr char kOurs[] = "MPICH";
constexpr char kOther[] = "Open MPI";
constexpr char kSymbolOfOurs[] = "MPIR_Dup_fn";
constexpr char kSymbolOfOther[] = "ompi_mpi_comm_world";
#endif

std::string Version() {
  char version[kLongestVersionBytes] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version, std::strcspn(version, "\n,"));
}

// Where the file that has the symbol is loaded; null if none has it.
void* FileOf(const char* symbol) {
  void* const found = dlsym(RTLD_DEFAULT, symbol);
  Dl_info file;
  return found != nullptr && dladdr(found, &file) != 0 ? file.dli_fbase : nullptr;
}

// The status of three bytes that this process sends to itself.
Status TestStatus(MPI_Comm self) {
  constexpr int kTag = 17;
  constexpr int kBytes = 3;
  constexpr unsigned char kUntouched = 0xa5;
  const char sent[kBytes] = {'a', 'b', 'c'};
  char received[kBytes] = {};
  struct {
    MPI_Status status;
    unsigned char behind[64];  // a longer status would be written over it
  } place;
  std::memset(&place, kUntouched, sizeof(place));
  int bytes = -1;
  if (MPI_Sendrecv(sent, kBytes, MPI_BYTE, 0, kTag, received, kBytes, MPI_BYTE, 0, kTag, self,
                   &place.status) != MPI_SUCCESS ||
      MPI_Get_count(&place.status, MPI_BYTE, &bytes) != MPI_SUCCESS) {
    return Status(StatusCode::kUnavailable, "a message to itself fails");
  }
  const bool is_as_declared = bytes == kBytes && place.status.MPI_SOURCE == 0 &&
                              place.status.MPI_TAG == kTag &&
                              std::all_of(std::begin(place.behind), std::end(place.behind),
                                          [](unsigned char byte) { return byte == kUntouched; });
  if (!is_as_declared) {
    return Status(StatusCode::kUnavailable, "the status of a message is of another kind");
  }
  return std::memcmp(sent, received, kBytes) == 0
             ? Status()
             : Status(StatusCode::kUnavailable, "a message does not arrive as it was sent");
}

Status TestHandles() {
  int size = 0;
  int bytes = 0;
  MPI_Comm self = MPI_COMM_NULL;
  // Not a copy of MPI_COMM_SELF: the program may have set attributes whose callbacks would run.
  if (MPI_Comm_size(MPI_COMM_SELF, &size) != MPI_SUCCESS || size != 1 ||
      MPI_Type_size(MPI_BYTE, &bytes) != MPI_SUCCESS || bytes != 1 ||
      MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) != MPI_COMM_SELF ||
      MPI_Comm_split(MPI_COMM_SELF, 0, 0, &self) != MPI_SUCCESS || self == MPI_COMM_NULL) {
    return Status(StatusCode::kUnavailable, "its handles are of another kind");
  }
  const Status status = TestStatus(self);
  MPI_Comm_free(&self);
  return status;
}

}  // namespace

std::string WrongMpiFamily() {
  if (dlsym(RTLD_DEFAULT, kSymbolOfOther) == nullptr) return "";
  return std::string("this library was built for ") + kOurs + ", but the program uses " +
         (ReachesOwnMpi() ? kOther : Version()) +
         "; start it without this library, or build both with the same MPI";
}

// By the name that tools leave to MPI.
bool ReachesOwnMpi() {
  void* const ours = FileOf(kSymbolOfOurs);
  return ours != nullptr && ours == FileOf("PMPI_Get_library_version");
}

void RefuseWrongMpiFamily(const char* library) {
  const std::string text = WrongMpiFamily();
  if (text.empty()) return;
  std::fprintf(stderr, "brigade: %s: %s\n", library, text.c_str());
  std::_Exit(EXIT_FAILURE);
}

Status TestMpi() {
  const Status status = TestHandles();
  if (status.ok()) return status;
  return Status(StatusCode::kUnavailable, "this library was built for " + std::string(kOurs) +
                                              ", and " + Version() +
                                              " is none that it can use: " + status.message());
}

Status CheckMpi() {
  const std::string wrong = WrongMpiFamily();
  if (!wrong.empty()) return Status(StatusCode::kUnavailable, wrong);
  if (!MpiIsActive()) return Status();
  // Not destroyed: functions of atexit may still use MPI.
  static const auto& tested = *new Status(TestMpi());
  return tested;
}

}  // namespace brigade
