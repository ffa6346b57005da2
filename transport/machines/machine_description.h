// MachineDescription: what a machine's memories, processors and links cost. Read from a file
// (transport/machines/), used by the sim transport, and by all that predicts times without
// simulating.
//
// Units: microseconds and MB/s, which is bytes per microsecond. A host is what shares buses and
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

// How fast bytes are worked on in runs of a given length. Between two points the time of a run is
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

// What a bus, of which every host has one, carries while something of a certain rate goes on:
// `weight` times that rate.
struct BusUse {
  int bus;
  double weight;
};

struct Bus {
  std::string name;
  double mb_s;
};

// Copying, or adding, from one memory to another. The processor does it.
struct MemoryWork {
  RateCurve rate;
  std::vector<BusUse> buses;
};

// One kind of memory. What is sent from it or received into it is no faster than `mb_s` and uses
// `buses`.
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

// A message occupies a port of either side for message_us + bytes / mb_s and is there latency_us
// later; of its bytes, those that the buckets of both ports hold take no time. A bucket fills at
// mb_s up to burst_bytes. Messages longer than eager_bytes leave not before their receive is posted
// and, grant_us later, known to the sender.
struct Link {
  double latency_us = 0;
  double mb_s = kUnlimitedRate;
  double message_us = 0;
  size_t burst_bytes = 0;
  double grant_us = 0;
  size_t eager_bytes = SIZE_MAX;
  int send_ports = 1;
  int receive_ports = 1;
  // Of a host, which its ranks share; otherwise of every rank.
  bool ports_of_host = false;
  // Receives use the send ports; receive_ports is not looked at.
  bool half_duplex = false;
  // A control message that may wait for what is sent next goes in one message with that, and costs
  // its bytes alone. The simulator's alone to know.
  bool joins_notes = false;
  Overhead send_overhead;
  Overhead receive_overhead;
};

// How ranks of a host reach each other where they share memory. Whoever sends copies a message to
// staging memory once, however many read it there; each reader copies it out, at the same time as
// others. MachineDescription::copies says how fast either is. No link is in between.
struct SharedMemory {
  bool is_shared = false;
  // The longest message, header included, that lies beside its flag: it is there with that, and
  // nobody copies it besides.
  size_t line_bytes = 0;
  // From point to point, messages of these lengths the sender has the kernel copy to where a
  // receiver that waits awake wants them; none if the least is beyond the most.
  size_t least_kernel_bytes = SIZE_MAX;
  size_t most_kernel_bytes = 0;
  double kernel_mb_s = kUnlimitedRate;
};

struct MachineDescription {
  std::string name;
  std::string about;
  int hosts = 1;  // that there are; a simulation may have more
  int ranks_per_host = 1;
  // Where ranks outnumber processors, all over the machine. The simulator knows nothing of it.
  double ranks_per_processor = 1;
  std::vector<Bus> buses;
  // Ordinary memory first.
  std::vector<Memory> memories;
  // Where staging memory of each MemoryKind is.
  int memory_of_kind[kMemoryKinds] = {};
  // Messages leave from and arrive in staging memory only.
  bool needs_staging = false;
  // From one memory to another: [from * memories + to]. Of an add, the destination is one operand.
  std::vector<MemoryWork> copies;
  std::vector<MemoryWork> adds;
  Link between_hosts;
  Link within_host;
  SharedMemory shared_memory;
  // As in Capabilities.
  size_t preferred_piece_bytes = size_t{32} << 10;
  size_t overlap_piece_bytes = 0;
  size_t piece_cost_bytes = 0;

  static constexpr int kUserMemory = 0;

  const MemoryWork& Copy(int from, int to) const { return copies[Pair(from, to)]; }
  const MemoryWork& Add(int from, int to) const { return adds[Pair(from, to)]; }
  const Link& LinkBetween(int host, int other) const {
    return host == other ? within_host : between_hosts;
  }
  // Of a message between two memories, in MB/s; what buses do to it comes on top.
  double TransferRate(const Link& link, int from, int to) const;
  int HostOf(int rank) const { return rank / ranks_per_host; }

  // kUnavailable if there is no such file; kInvalidArgument, naming file, key and what is expected,
  // if it does not describe a machine as transport/machines/README.md says. *machine is untouched
  // then.
  static Status Read(const std::string& file, MachineDescription* machine);
  // The same from text; `file` is for messages.
  static Status Parse(const std::string& text, const std::string& file,
                      MachineDescription* machine);
  // The text of a file that says the same; `source` is where all its quantities are from.
  std::string ToJson(const std::string& source) const;

 private:
  size_t Pair(int from, int to) const {
    return static_cast<size_t>(from) * memories.size() + static_cast<size_t>(to);
  }
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MACHINES_MACHINE_DESCRIPTION_H_
