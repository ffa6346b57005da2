// brigade_info: prints what Brigade finds on this machine. Under mpirun it opens every transport
// among all ranks, and rank 0 prints the results. With a program as its argument it prints the
// libraries that the program will use.

#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "membuf/status.h"
#include "membuf/version.h"
#include "patterns/group/group_agreement.h"
#include "patterns/model/machine_cache.h"
#include "patterns/settings/settings.h"
#include "tools/installation.h"
#include "tools/program_libraries.h"
#include "tools/whole_output.h"
#include "transport/endpoint.h"
#include "transport/host/host.h"
#include "transport/host/launcher.h"
#include "transport/host/memory_lock.h"
#include "transport/host/network_interface.h"
#include "transport/host/process_watch.h"
#include "transport/host/variable_names.h"
#include "transport/host_memory/copy_trial.h"
#include "transport/host_memory/process_copy.h"
#include "transport/registry/registry.h"
#include "transport/tcp/io/read_trial.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {
namespace {

constexpr int kExitRefused = 2;

void Line(const std::string& name, const std::string& value) {
  std::printf("  %-22s %s\n", name.c_str(), value.c_str());
}

std::string YesOr(const Status& status, const std::string& yes) {
  return status.ok() ? yes : "no: " + status.message();
}

void PrintVersion() {
  std::printf("brigade " BRIGADE_VERSION "\n");
  Line("compiler", "g++ " __VERSION__);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string text = version;
  Line("MPI", text.substr(0, text.find_first_of("\n,")));
}

void PrintInstallation() {
  std::printf("this installation\n");
  for (const auto& [name, value] : DescribeInstallation()) Line(name, value);
}

// 0 if `program` is one.
int PrintProgram(const std::string& program) {
  std::vector<std::pair<std::string, std::string>> lines;
  const Status status = DescribeProgram(program, &lines);
  if (!status.ok()) {
    std::fprintf(stderr, "brigade_info: %s\n", status.message().c_str());
    return 1;
  }
  std::printf("%s will use\n", program.c_str());
  for (const auto& [name, value] : lines) Line(name, value);
  return 0;
}

// 0, or why the system lets no rank copy to another. A process may copy to itself, and to what it
// has started, where it may not to others; so one that is started copies to this one.
int RefusalOfKernelCopies() {
  char target = 0;
  const pid_t here = getpid();
  const pid_t child = fork();
  if (child == 0) {
    const char source = 1;
    const ProcessWatch none;
    ProcessCopy copy(here, &none, ProcessCopy::Direction::kWrite);
    (void)copy.Add(reinterpret_cast<uint64_t>(&source), reinterpret_cast<uint64_t>(&target), 1);
    _exit(copy.Finish());
  }
  int status = 0;
  const bool tried = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return tried ? WEXITSTATUS(status) : 0;
}

std::string DescribeKernelCopies() {
  const int refusal = RefusalOfKernelCopies();
  if (refusal != 0) return std::string("no: the system refuses them: ") + std::strerror(refusal);
  const KernelCopyRange& range = GuessedKernelCopies().writes;
  if (range.empty()) return "allowed; staging is faster";
  return "allowed; faster for " + std::to_string(range.least_bytes) + " to " +
         std::to_string(range.most_bytes) + " bytes where ranks share a processor";
}

std::string DescribeIoUring() {
  std::unique_ptr<SocketIo> io;
  const Status status = CreateUringIo(&io);
  ReadTimes times;
  if (!status.ok() || !TryReads(/*shares_processor=*/true, &times).ok())
    return YesOr(status, "yes");
  return "yes; a segment takes " + std::to_string(std::lround(times.ring_us)) +
         " us, by plain calls " + std::to_string(std::lround(times.plain_us)) +
         " us, where ranks share a processor";
}

void PrintHost() {
  std::printf("this host\n");
  const cpu_set_t allowed = AllowedProcessors();
  Line("processors", std::to_string(CPU_COUNT(&allowed)));
  const int quota = ProcessorQuota();
  if (quota != INT_MAX) Line("quota of time", "of " + std::to_string(quota) + " processors");
  const size_t lockable = MemoryLockBudget(/*ranks=*/1);
  Line("memory it may lock",
       lockable == SIZE_MAX ? "unlimited" : std::to_string(lockable) + " bytes per user");
  Line("io_uring", DescribeIoUring());
  AuthKey key;
  Line("libsodium", YesOr(MakeRandom(&key), "yes"));
  SocketAddress address;
  const Status status = ChooseInterface(std::getenv("BRIGADE_IFACE"), &address);
  Line("address for peers", YesOr(status, address.ToString()));
  Line("kernel copies", DescribeKernelCopies());
}

// Collective. Returns this rank's failure, or that of the lowest rank that has failed.
Status OpenOnAll(const std::string& transport) {
  std::unique_ptr<Bootstrap> bootstrap;
  BRIGADE_RETURN_IF_ERROR(CreateBootstrap(MPI_Comm_c2f(MPI_COMM_WORLD), &bootstrap));
  std::unique_ptr<Endpoint> endpoint;
  const Status created = CreateEndpoint(transport, &endpoint);
  BRIGADE_RETURN_IF_ERROR(AgreeOnOutcome(bootstrap.get(), created));
  GroupId group;
  const Status opened = endpoint->OpenGroup(bootstrap.get(), &group);
  // All close together, or one that is quick is taken for lost.
  const Status all_opened = AgreeOnOutcome(bootstrap.get(), opened);
  if (opened.ok()) endpoint->CloseGroup(group);
  return all_opened;
}

// Collective.
void PrintTransports(bool prints, int ranks) {
  if (prints)
    std::printf("transports among %d rank%s\n", ranks, ranks == 1 ? ", this process" : "s");
  const std::string odd = WrongLauncher(ranks);
  if (prints && !odd.empty()) std::printf("  %s\n", odd.c_str());
  for (const TransportName& transport : Transports()) {
    const Status status = OpenOnAll(transport.name);
    if (prints) Line(transport.name, YesOr(status, std::string("yes: ") + transport.description));
  }
  if (prints) std::printf("  %s\n", DescribeFabric().c_str());
}

Status PrintSettings() {
  std::printf("settings, * where set\n");
  std::fputs(SettingWarnings(environ).c_str(), stdout);
  Settings settings;
  BRIGADE_RETURN_IF_ERROR(ReadSettings(&settings));
  auto listed = ListSettings(settings);
  const auto value_of = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  listed.emplace_back("BRIGADE_IFACE", value_of("BRIGADE_IFACE"));
  for (const char* const name : {"BRIGADE_KERNEL_COPIES", "BRIGADE_IO_URING"}) {
    const std::string value = value_of(name);
    listed.emplace_back(name, value.empty() ? "auto" : value);
  }
  const std::string slices = value_of("BRIGADE_TIME_SLICES");
  listed.emplace_back("BRIGADE_TIME_SLICES", slices.empty() ? "short" : slices);
  for (const auto& [name, value] : listed) {
    const char* const set = std::getenv(name.c_str());
    std::printf("%c %-22s %s\n", set != nullptr && *set != '\0' ? '*' : ' ', name.c_str(),
                value.c_str());
  }
  return Status();
}

void PrintCalibration() {
  const std::string file = CachedMachineFile("");
  if (file.empty()) {
    std::printf("calibration: no folder; neither XDG_CACHE_HOME nor HOME is set\n");
    return;
  }
  std::printf("calibration in %s\n", file.substr(0, file.rfind('/')).c_str());
  const std::vector<std::string> known = CachedMachines();
  for (const std::string& key : known) std::printf("  %s\n", key.c_str());
  if (known.empty()) std::printf("  none\n");
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Prints what Brigade finds on this machine: version, the MPIs that the installation serves, "
      "processors, limits, transports, settings and calibration. "
      "Under mpirun, tests the transports between all ranks. With PROGRAM, prints instead which "
      "BLACS, PBLAS, one-sided calls and MPI this program will use, and does not run the program. "
      "LD_PRELOAD and LD_LIBRARY_PATH have the same effect as for the program.");
  app.set_version_flag("--version", "brigade_info " BRIGADE_VERSION);
  std::string program;
  app.add_option("PROGRAM", program, "A program; prints the libraries that it will use");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitRefused;
  }
  if (!program.empty()) return LocalRank() > 0 ? 0 : PrintProgram(program);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool prints = rank == 0;
  if (prints) {
    PrintVersion();
    PrintInstallation();
    PrintHost();
  }
  PrintTransports(prints, ranks);
  Status settings;
  if (prints) {
    settings = PrintSettings();
    if (!settings.ok()) std::printf("  %s\n", settings.message().c_str());
    PrintCalibration();
  }
  MPI_Finalize();
  return settings.ok() ? 0 : 1;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  return brigade::WholeOutput("brigade_info", brigade::Main(argc, argv));
}
