#include "bench/runner/machine.h"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>

#include "bench/runner/barrier.h"
#include "transport/host/host.h"

namespace brigade::bench {
namespace {

std::string CpuModel() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

// While one lives on ranks 0 and 1, they run on different processors, though the scheduler might
// put them on one.
class Apart {
 public:
  explicit Apart(int rank) {
    changed_ = rank <= 1 && sched_getaffinity(0, sizeof(allowed_), &allowed_) == 0;
    if (changed_) RunOnProcessor(rank);
  }
  ~Apart() {
    if (changed_) sched_setaffinity(0, sizeof(allowed_), &allowed_);
  }
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

 private:
  cpu_set_t allowed_;
  bool changed_ = false;
};

// Enough chains to be limited by the multipliers and adders: a second thread on the core must slow
// it down.
double ComputeMilliseconds() {
  const auto start = std::chrono::steady_clock::now();
  double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, k = 9, l = 10, m = 11, n = 12;
  for (int i = 0; i < 3000000; ++i) {
    a = a * 0.999 + 1, b = b * 0.999 + 1, c = c * 0.999 + 1, d = d * 0.999 + 1;
    e = e * 0.999 + 1, f = f * 0.999 + 1, g = g * 0.999 + 1, h = h * 0.999 + 1;
    k = k * 0.999 + 1, l = l * 0.999 + 1, m = m * 0.999 + 1, n = n * 0.999 + 1;
  }
  volatile double keep = a + b + c + d + e + f + g + h + k + l + m + n;
  static_cast<void>(keep);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

double TogetherOverAlone(MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (ranks < 2) return 0;
  DisseminationBarrier barrier(comm);
  const Apart apart(rank);
  constexpr int kTrials = 5;
  double alone = 1e300, together = 1e300;  // the least disturbed of each
  for (int trial = 0; trial < kTrials; ++trial) {
    barrier.WaitAsleep();
    if (rank == 0) alone = std::min(alone, ComputeMilliseconds());
    barrier.WaitAsleep();
    if (rank <= 1) together = std::min(together, ComputeMilliseconds());
  }
  double ratio = together / alone;
  MPI_Bcast(&ratio, 1, MPI_DOUBLE, 0, comm);
  return ratio;
}

// Read back from MPI, which falls back to "none" by itself where processes may not read each other.
std::string SingleCopyMechanism() {
  std::string mechanism = "unknown";
  int provided, index;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_cvar_get_index("btl_vader_single_copy_mechanism", &index) == MPI_SUCCESS) {
    int verbosity, bind, scope, name_length = 0, description_length = 0;
    MPI_Datatype type;
    MPI_T_enum names;
    MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &names, nullptr,
                        &description_length, &bind, &scope);
    MPI_T_cvar_handle handle;
    int count, value;
    MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);

    char name[64];
    int items;
    MPI_T_enum_get_info(names, &items, nullptr, &name_length);
    for (int i = 0; i < items; ++i) {
      int item, length = sizeof(name);
      MPI_T_enum_get_item(names, i, &item, name, &length);
      if (item == value) mechanism = name;
    }
  }
  MPI_T_finalize();
  return mechanism;
}

}  // namespace

void RunOnProcessor(int turn) {
  const cpu_set_t allowed = AllowedProcessors();
  int wanted = turn % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || wanted-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

Machine DescribeMachine(MPI_Comm comm) {
  Machine machine;
  machine.cpu = CpuModel();
  machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  utsname system;
  uname(&system);
  machine.kernel = std::string(system.sysname) + " " + system.release;
  const cpu_set_t allowed = AllowedProcessors();
  int pinned = CPU_COUNT(&allowed) == 1;
  MPI_Allreduce(MPI_IN_PLACE, &pinned, 1, MPI_INT, MPI_LAND, comm);
  machine.pinned = pinned != 0;
  machine.together_over_alone = TogetherOverAlone(comm);

  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  // "Open MPI v4.1.4, package: ..." or "MPICH Version:\t4.0.2\nMPICH Release date: ...".
  machine.mpi = std::string(version, length);
  machine.mpi.resize(std::min(machine.mpi.size(), machine.mpi.find_first_of(",\n")));
  const std::string heading = "Version:\t";
  const size_t at = machine.mpi.find(heading);
  if (at != std::string::npos) machine.mpi.erase(at, heading.size());
  machine.single_copy = SingleCopyMechanism();
  return machine;
}

bool OnOneMachine(MPI_Comm comm) {
  const Host here = Host::Here();
  Host first = here;
  MPI_Bcast(first.boot_id, sizeof(first.boot_id), MPI_CHAR, 0, comm);
  int same = std::memcmp(first.boot_id, here.boot_id, sizeof(here.boot_id)) == 0;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_LAND, comm);
  return same != 0;
}

}  // namespace brigade::bench
