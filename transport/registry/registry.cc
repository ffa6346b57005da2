#include "transport/registry/registry.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "membuf/check.h"
#include "transport/auto/auto_endpoint.h"
#include "transport/host/descriptors.h"
#include "transport/host/fabric.h"
#include "transport/host/launcher.h"
#include "transport/host_memory/process_copy.h"
#include "transport/registry/mpi_part.h"
#include "transport/rules.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"
#include "transport/time_slice.h"

namespace brigade {
namespace {

struct Entry {
  const char* name;
  const char* description;
  Status (*create)(const MpiPart* mpi, std::unique_ptr<Endpoint>* endpoint);  // null: no MPI runs
};

// Sets whether io_uring reads; none: as measured.
Status ReadIoUring(std::optional<bool>* io_uring) {
  const char* const set = std::getenv("BRIGADE_IO_URING");
  const std::string value = set == nullptr ? "" : set;
  io_uring->reset();
  if (value.empty() || value == "auto") return Status();
  *io_uring = value == "on";
  if (value == "on" || value == "off") return Status();
  return Status(StatusCode::kInvalidArgument,
                "BRIGADE_IO_URING=" + value + ": must be auto, on or off");
}

Status CreateOverTcp(bool plain_sockets, std::unique_ptr<Endpoint>* endpoint) {
  TcpOptions options;
  BRIGADE_RETURN_IF_ERROR(ReadIoUring(&options.io_uring));
  const char* const interface = std::getenv("BRIGADE_IFACE");
  if (interface != nullptr) options.interface = interface;
  options.plain_sockets = plain_sockets;
  return CreateTcpEndpoint(options, endpoint);
}
Status CreateTcp(const MpiPart*, std::unique_ptr<Endpoint>* endpoint) {
  return CreateOverTcp(/*plain_sockets=*/false, endpoint);
}
Status CreateSockets(const MpiPart*, std::unique_ptr<Endpoint>* endpoint) {
  return CreateOverTcp(/*plain_sockets=*/true, endpoint);
}

Status NoMpi(const std::string& remedy) {
  return Status(StatusCode::kUnavailable,
                "mpi: MPI is not initialised in this process; call MPI_Init first, or " + remedy);
}

Status CreateMpi(const MpiPart* mpi, std::unique_ptr<Endpoint>* endpoint) {
  if (mpi == nullptr) return NoMpi("choose another transport: auto, shm, tcp or sockets");
  return mpi->CreateEndpoint(endpoint);
}

// REQUIRES: MPI runs, and an endpoint or a bootstrap was created, which found its part. The answer
// is worth keeping: it takes a quarter of a second. It is not destroyed: functions of atexit may
// still make groups.
const FabricVerdict& Fabric() {
  static const auto& verdict = *new FabricVerdict([] {
    const MpiPart* mpi = nullptr;
    BRIGADE_CHECK(FindMpiPart(&mpi).ok() && mpi != nullptr);
    return JudgeFabric(mpi->Fabric());
  }());
  return verdict;
}

Status ReadShmOptions(ShmOptions* options) {
  const char* const set = std::getenv("BRIGADE_KERNEL_COPIES");
  const std::string copies = set == nullptr ? "" : set;
  // Numbers are old values of the setting.
  if (copies.empty() || copies == "auto" || copies == "1") {
    options->kernel_copies.reset();  // as measured
  } else if (copies == "on") {
    options->kernel_copies = KernelCopies::Both({rules::kLeastKernelCopyBytes, SIZE_MAX});
  } else if (copies != "off" && copies != "0") {
    return Status(StatusCode::kInvalidArgument,
                  "BRIGADE_KERNEL_COPIES=" + copies + ": must be auto, on or off");
  }
  return Status();
}

Status CreateShm(const MpiPart*, std::unique_ptr<Endpoint>* endpoint) {
  ShmOptions options;
  BRIGADE_RETURN_IF_ERROR(ReadShmOptions(&options));
  return CreateShmEndpoint(options, endpoint);
}

void SayOnStderr(const std::string& line) { std::fprintf(stderr, "brigade: %s\n", line.c_str()); }

bool LogsInfo() {
  const char* const log = std::getenv("BRIGADE_LOG");
  return log != nullptr && std::strcmp(log, "info") == 0;
}

// Prints a warning that applies to all ranks of a host, once: called by one of them.
void LogWhyNoTcp(const Status& why) {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  SayOnStderr("tcp: " + why.message() + "; auto uses mpi instead");
}

void LogWhyNoShm(const Status& why) {
  if (LogsInfo() && LocalRank() <= 0) {
    SayOnStderr(why.message() + "; auto sends within this host as between hosts");
  }
}

Status CreateAutoEndpoint(const MpiPart* mpi, std::unique_ptr<Endpoint>* endpoint) {
  std::unique_ptr<Endpoint> shm;
  std::unique_ptr<Endpoint> tcp;
  std::unique_ptr<Endpoint> over_mpi;
  ShmOptions options;
  BRIGADE_RETURN_IF_ERROR(ReadShmOptions(&options));
  options.spans_hosts = true;
  if (mpi != nullptr) BRIGADE_RETURN_IF_ERROR(mpi->CreateEndpoint(&over_mpi));
  // Without shared memory or sockets MPI is used, but an interface that a setting names must exist.
  // A missing TCP is reported when a group would have used it.
  const Status shared = CreateShmEndpoint(options, &shm);
  if (!shared.ok()) LogWhyNoShm(shared);
  const Status status = CreateTcp(mpi, &tcp);
  if (status.code() == StatusCode::kInvalidArgument) return status;
  using Reach = AutoTransport::Reach;
  std::vector<AutoTransport> transports;
  transports.push_back({std::move(shm), Reach::kHost});
  transports.back().is_missed = LogWhyNoShm;
  transports.push_back({std::move(tcp), Reach::kEverywhere, rules::kAutoPollsPerTcpLook});
  if (mpi == nullptr) {
    // The last transport must work on all ranks.
    if (!status.ok()) {
      return status.WithContext(
          "auto needs tcp where no MPI runs; shm serves the ranks of one host");
    }
  } else {
    if (!status.ok() && LogsInfo() && LocalRank() <= 0) LogWhyNoTcp(status);
    transports.back().is_wanted = [] { return Fabric().uses_tcp; };
    transports.back().is_missed = [status](const Status& why) {
      if (why.ok()) return LogWhyNoTcp(status);
      if (LogsInfo()) SayOnStderr(why.message() + "; auto uses mpi instead");
    };
    transports.push_back({std::move(over_mpi), Reach::kEverywhere});
  }
  *endpoint = MakeAutoEndpoint(std::move(transports));
  return Status();
}

constexpr Entry kTransports[] = {
    {"auto",
     "shm within a host, tcp between hosts where MPI would use TCP or does not run, else mpi",
     CreateAutoEndpoint},
    {"mpi", "messages of the MPI library", CreateMpi},
    {"shm", "memory shared by the ranks of one host", CreateShm},
    {"tcp", "TCP through io_uring or plain sockets, whichever reads faster on the host", CreateTcp},
    {"sockets", "TCP through plain sockets", CreateSockets},
};

// Null: there is no transport called `name`.
const Entry* Find(const std::string& name) {
  // "uring" is the old name of "tcp", which scripts may still use.
  const std::string& known = name == "uring" ? "tcp" : name;
  for (const Entry& entry : kTransports) {
    if (known == entry.name) return &entry;
  }
  return nullptr;
}

}  // namespace

Status CheckTransport(const std::string& name) {
  if (Find(name) != nullptr) return Status();
  return Status(StatusCode::kInvalidArgument,
                "there is no transport '" + name + "'; there are: " + TransportNames());
}

Status CheckVariables() {
  ShmOptions options;
  BRIGADE_RETURN_IF_ERROR(ReadShmOptions(&options));
  std::optional<bool> io_uring;
  BRIGADE_RETURN_IF_ERROR(ReadIoUring(&io_uring));
  bool shortens = true;
  return ReadTimeSlices(&shortens);
}

Status CreateEndpoint(const std::string& name, std::unique_ptr<Endpoint>* endpoint) {
  const MpiPart* mpi = nullptr;
  BRIGADE_RETURN_IF_ERROR(FindMpiPart(&mpi));
  if (mpi != nullptr) BRIGADE_RETURN_IF_ERROR(mpi->Check());
  RaiseDescriptorLimit();
  if (LogsInfo()) LogIfCopiesAreRefused(SayOnStderr);
  BRIGADE_RETURN_IF_ERROR(CheckTransport(name));
  BRIGADE_RETURN_IF_ERROR(Find(name)->create(mpi, endpoint));
  if (mpi != nullptr) (*endpoint)->Keep(mpi->PollInWaits());
  return Status();
}

void PollMpiInWaitsOf(Endpoint* endpoint) {
  const MpiPart* mpi = nullptr;
  if (!FindMpiPart(&mpi).ok() || mpi == nullptr || !mpi->Check().ok()) return;
  endpoint->Keep(mpi->PollInWaits());
}

Status CreateBootstrap(int mpi_comm, std::unique_ptr<Bootstrap>* bootstrap) {
  const MpiPart* mpi = nullptr;
  BRIGADE_RETURN_IF_ERROR(FindMpiPart(&mpi));
  if (mpi == nullptr) return NoMpi("make the group without a communicator");
  return mpi->CreateBootstrap(mpi_comm, bootstrap);
}

JobPosition PositionInJob() {
  const MpiPart* mpi = nullptr;
  if (FindMpiPart(&mpi).ok() && mpi != nullptr) return mpi->PositionInJob();
  return {JobRank(), JobRanks()};
}

std::string DescribeFabric() {
  return std::string("between hosts MPI ") +
         (Fabric().uses_tcp ? "would use TCP: " : "may do better than TCP: ") + Fabric().reason;
}

std::vector<TransportName> Transports() {
  std::vector<TransportName> transports;
  for (const Entry& entry : kTransports) transports.push_back({entry.name, entry.description});
  return transports;
}

std::string TransportNames() {
  std::string names;
  for (const Entry& entry : kTransports) {
    if (!names.empty()) names += ", ";
    names += std::string(entry.name) + " (" + entry.description + ")";
  }
  return names;
}

}  // namespace brigade
