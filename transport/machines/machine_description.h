// MachineDescription: the costs of a machine's memories, processors and links. Read from a file
// (transport/machines/); used by the sim transport, and by predictions of times without simulation.
//
// Units: microseconds and MB/s, which is bytes per microsecond. Ranks of a host share buses and
// network ports.

#ifndef BRIGADE_TRANSPORT_MACHINES_MACHINE_DESCRIPTION_H_
#define BRIGADE_TRANSPORT_MACHINES_MACHINE_DESCRIPTION_H_

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "membuf/memory_kind.h"
#include "membuf/status.h"

namespace brigade {

inline constexpr double kLeastRate = 1e-6;  // MB/s; slower ones are infinitely slow
inline constexpr double kUnlimitedRate = std::numeric_limits<double>::infinity();

// The rate of work on bytes in runs of a given length. Between two points the time of a run is
// linear in its length, a cost per run and a cost per byte; outside, the rate is that of the
// nearest point.
struct RateCurve {
  struct Point {
    double run_bytes;
    double mb_s;
  };
  std::vector<Point> points;  // at least one, in increasing run length

  double RateAt(double run_bytes) const;  // in MB/s
};

// The load of a bus, one per host, during an activity with some rate: `weight` times that rate.
struct BusUse {
  int bus;
  double weight;
};

struct Bus {
  std::string name;
  double mb_s;
};

// A copy, or an add, by the processor, from one memory to another.
struct MemoryWork {
  RateCurve rate;
  std::vector<BusUse> buses;
};

// A kind of memory. Messages sent from it or received into it are at most as fast as `mb_s`, and
// use `buses`.
struct Memory {
  struct Side {
    double mb_s = kUnlimitedRate;
    std::vector<BusUse> buses;
  };
  std::string name;
  size_t bytes_per_rank = SIZE_MAX;  // SIZE_MAX: not limited
  Side send;
  Side receive;
};

// Time of the processor: per message and per byte.
struct Overhead {
  double message_us = 0;
  double mb_s = kUnlimitedRate;

  double Microseconds(size_t bytes) const { return message_us + OfBytes(bytes); }
  double OfBytes(size_t bytes) const { return static_cast<double>(bytes) / mb_s; }
};

// A message occupies a port of either side for message_us + bytes / mb_s and arrives latency_us
// later; the bytes that the buckets of both ports hold take no time. A bucket fills at mb_s up to
// burst_bytes. Messages longer than eager_bytes leave after their receive is posted and, grant_us
// later, known to the sender.
struct Link {
  double latency_us = 0;
  double mb_s = kUnlimitedRate;
  double message_us = 0;
  size_t burst_bytes = 0;
  double grant_us = 0;
  size_t eager_bytes = SIZE_MAX;
  int send_ports = 1;
  int receive_ports = 1;
  // The ranks of a host share its ports; if false, every rank has its own.
  bool ports_of_host = false;
  // Receives use the send ports; receive_ports is ignored.
  bool half_duplex = false;
  // A control message that may wait (Urgency::kWithNext) is sent in one message with the next one,
  // and costs only its bytes. Used by the simulator only.
  bool joins_control = false;
  Overhead send_overhead;
  Overhead receive_overhead;
};

// Messages between ranks of a host that share memory. The sender copies a message to staging memory
// once, for any number of readers; each reader copies it out, at the same time as others.
// MachineDescription::copies has the rates. No link is used.
struct SharedMemory {
  bool is_shared = false;
  // The longest inline message, header included: it arrives with its flag, without a copy.
  size_t max_inline_bytes = 0;
  // Point-to-point messages of these lengths are copied by the kernel, straight to the buffer of a
  // receiver that waits awake; none if the least is above the most.
  size_t least_kernel_bytes = SIZE_MAX;
  size_t most_kernel_bytes = 0;
  double kernel_mb_s = kUnlimitedRate;
};

struct MachineDescription {
  std::string name;
  std::string about;
  int hosts = 1;  // of the machine; a simulation may have more
  int ranks_per_host = 1;
  // Above 1 if ranks outnumber processors. The simulator ignores it.
  double ranks_per_processor = 1;
  std::vector<Bus> buses;
  // Ordinary memory first.
  std::vector<Memory> memories;
  // The memory of each MemoryKind of staging memory.
  int memory_of_kind[kMemoryKinds] = {};
  // Messages leave from and arrive in staging memory only.
  bool needs_staging = false;
  // From one memory to another: [from * memories + to]. The destination of an add is one of its
  // operands.
  std::vector<MemoryWork> copies;
  std::vector<MemoryWork> adds;
  Link between_hosts;
  Link within_host;
  SharedMemory shared_memory;
  // As in Capabilities.
  size_t preferred_segment_bytes = size_t{32} << 10;
  size_t overlap_segment_bytes = 0;
  size_t segment_cost_bytes = 0;

  static constexpr int kUserMemory = 0;

  const MemoryWork& Copy(int from, int to) const { return copies[Pair(from, to)]; }
  const MemoryWork& Add(int from, int to) const { return adds[Pair(from, to)]; }
  const Link& LinkBetween(int host, int other) const {
    return host == other ? within_host : between_hosts;
  }
  // Returns the rate of a message between two memories, in MB/s, without the load of buses.
  double TransferRate(const Link& link, int from, int to) const;
  int HostOf(int rank) const { return rank / ranks_per_host; }

  // Reads a file. kUnavailable: no such file; kInvalidArgument, with file, key and expected value:
  // it does not describe a machine as transport/machines/README.md defines. *machine is unchanged
  // on failure.
  static Status Read(const std::string& file, MachineDescription* machine);
  // Reads a text; `file` is used in error texts.
  static Status Parse(const std::string& text, const std::string& file,
                      MachineDescription* machine);
  // Returns the text of a file for this machine; `source` is the source of all its quantities.
  std::string ToJson(const std::string& source) const;

 private:
  size_t Pair(int from, int to) const {
    return static_cast<size_t>(from) * memories.size() + static_cast<size_t>(to);
  }
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MACHINES_MACHINE_DESCRIPTION_H_
