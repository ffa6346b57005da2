// The times of single steps of a schedule on a machine that is described: what the cost model is
// made of.

#ifndef BRIGADE_PATTERNS_MODEL_COST_STEPS_H_
#define BRIGADE_PATTERNS_MODEL_COST_STEPS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "membuf/memory_kind.h"
#include "patterns/model/cost_query.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/machines/machine_description.h"

namespace brigade {

// The times of a call's segments: of the first one until all ranks have it, and of each further one
// at least.
struct SegmentTimes {
  double first_us = 0;
  double segment_us = 0;
  // The time that a port's bucket may yet save, all segments taken together; and the part of
  // segment_us that ports would save if they let everything pass at once.
  double spare_us = 0;
  double port_bound_us = 0;
};

// The place of a segment in its message: only later segments land in place, and only the first has
// a header.
struct Segment {
  size_t bytes;
  bool later;
  size_t wire_bytes() const { return bytes + (later ? 0 : kHeaderBytes); }
};

// The times of single steps.
class Steps {
 public:
  Steps(const MachineDescription& machine, const SegmentSettings& settings, const CostQuery& query)
      : machine_(machine),
        settings_(settings),
        query_(query),
        shares_(brigade::SharesMemory(machine, query)) {}

  int HostOf(int rank) const {
    return query_.hosts.empty() ? machine_.HostOf(rank) : query_.hosts[static_cast<size_t>(rank)];
  }
  // The host of each rank, if messages go by host.
  std::vector<int> HostsToGoBy() const {
    std::vector<int> hosts;
    for (int r = 0; query_.topology.by_host && r < query_.ranks; ++r) hosts.push_back(HostOf(r));
    return hosts;
  }
  // 0: within a host, 1: between hosts.
  int LinkIndex(int rank, int other) const { return HostOf(rank) == HostOf(other) ? 0 : 1; }
  const Link& LinkAt(int index) const {
    return index == 0 ? machine_.within_host : machine_.between_hosts;
  }

  // Ranks per processor.
  double Crowd() const { return machine_.ranks_per_processor; }

  bool SharesMemory() const { return shares_; }
  bool GoesInOneRound() const { return brigade::GoesInOneRound(machine_, query_); }
  // Ranks per processor that copy and combine at once: between hosts that is little beside
  // messages.
  double CrowdAtWork() const { return shares_ ? Crowd() : 1; }
  // Whether the sender of the query's message has the kernel copy it. A receiver that shares its
  // processor hardly ever waits awake.
  bool CopiesByKernel() const {
    const SharedMemory& shared = machine_.shared_memory;
    return shares_ && IsPair(query_.pattern) && Crowd() <= 1 &&
           shared.least_kernel_bytes <= std::min(query_.run_bytes, query_.bytes) &&
           query_.bytes <= shared.most_kernel_bytes;
  }
  double KernelCopy(size_t bytes) const {
    return static_cast<double>(bytes) / machine_.shared_memory.kernel_mb_s;
  }

  int MemoryOf(ChunkRole role) const {
    const size_t run = std::min(query_.run_bytes, query_.bytes);
    return machine_
        .memory_of_kind[static_cast<int>(KindFor(role, run, query_.bytes, settings_.chunk_bytes))];
  }
  double CopyIn(ChunkRole role, size_t bytes) const {
    if (IsLine(bytes)) return 0;
    return Work(machine_.Copy(MachineDescription::kUserMemory, MemoryOf(role)), bytes);
  }
  double CopyOut(ChunkRole role, size_t bytes) const {
    if (IsLine(bytes)) return 0;
    return Work(machine_.Copy(MemoryOf(role), MachineDescription::kUserMemory), bytes);
  }
  // Of received bytes and user memory, into memory of `role`.
  double Combine(ChunkRole role, size_t bytes) const {
    const int to = MemoryOf(role);
    return std::max(Work(machine_.Add(MemoryOf(ChunkRole::kReceive), to), bytes),
                    Work(machine_.Add(MachineDescription::kUserMemory, to), bytes));
  }
  // Into user memory, which is the other operand.
  double CombineAtHome(size_t bytes) const {
    return Work(machine_.Add(MemoryOf(ChunkRole::kReceive), MachineDescription::kUserMemory),
                bytes);
  }
  // Received segments but the first go where they are wanted. Of ranks that share memory none do.
  bool LandsInPlace() const {
    return !machine_.needs_staging && !shares_ && query_.run_bytes >= query_.bytes;
  }

  double Send(int link, size_t bytes) const {
    return LinkAt(link).send_overhead.Microseconds(bytes);
  }
  double Receive(int link, size_t bytes) const {
    return LinkAt(link).receive_overhead.Microseconds(bytes);
  }
  double Wire(int link, size_t bytes, ChunkRole from, ChunkRole to) const {
    if (shares_) return 0;
    const Link& l = LinkAt(link);
    return l.message_us +
           static_cast<double>(bytes) / machine_.TransferRate(l, MemoryOf(from), MemoryOf(to));
  }
  // Returns the most time on the wire that an idle port saves.
  double Burst(int link) const {
    const Link& l = LinkAt(link);
    return l.burst_bytes == 0 ? 0 : static_cast<double>(l.burst_bytes) / l.mb_s;
  }
  double Latency(int link) const { return LinkAt(link).latency_us; }
  // From the first call until a message may leave.
  double Grant(int link, size_t bytes) const {
    return bytes > LinkAt(link).eager_bytes ? LinkAt(link).grant_us : 0;
  }

 private:
  bool IsLine(size_t bytes) const {
    return shares_ && bytes + kHeaderBytes <= machine_.shared_memory.max_inline_bytes;
  }
  double Work(const MemoryWork& work, size_t bytes) const {
    if (bytes == 0) return 0;
    const auto run = static_cast<double>(std::min(query_.run_bytes, bytes));
    return static_cast<double>(bytes) / work.rate.RateAt(run);
  }

  const MachineDescription& machine_;
  const SegmentSettings& settings_;
  const CostQuery& query_;
  const bool shares_;
};

// A port that the first segment passes: messages pass one after the other, those that its bucket
// holds at once.
class Port {
 public:
  explicit Port(double burst_us) : Port(burst_us, burst_us) {}
  // `bucket_us`: what the bucket holds at first.
  Port(double burst_us, double bucket_us) : bucket_us_(bucket_us), burst_us_(burst_us) {}

  // When a message that may leave at `ready` and needs `wire_us` has left.
  double Pass(double ready, double wire_us) {
    wire_us_ += wire_us;
    const double start = std::max(ready, free_);
    bucket_us_ = std::min(burst_us_, bucket_us_ + start - free_);
    free_ = start + std::max(wire_us - bucket_us_, 0.0);
    bucket_us_ = std::max(bucket_us_ - wire_us, 0.0);
    return free_;
  }
  // Returns the time that all messages together need.
  double wire_us() const { return wire_us_; }

 private:
  double bucket_us_;
  const double burst_us_;
  double free_ = 0;
  double wire_us_ = 0;
};

// One message from a rank to the next, which both have been waiting for.
struct Hop {
  // `crowd`: how many ranks that do the same share a processor.
  Hop(const Steps& steps, int link, const Segment& segment, ChunkRole from, ChunkRole to,
      double crowd)
      : send_us(crowd * steps.Send(link, segment.wire_bytes())),
        wire_us(steps.Wire(link, segment.wire_bytes(), from, to)),
        burst_us(steps.Burst(link)),
        latency_us(steps.Latency(link)),
        receive_us(crowd * steps.Receive(link, segment.wire_bytes())),
        grant_us(steps.Grant(link, segment.wire_bytes())) {}

  // One of many in a row, during whose other times the bucket fills.
  double us() const {
    const double other = send_us + latency_us + receive_us;
    return std::max({other, wire_us, other + wire_us - burst_us});
  }
  // Returns the time that the full bucket saves on `messages` in a row.
  double Saved(int messages) const {
    const double other = send_us + latency_us + receive_us;
    return std::max(0.0, std::min(burst_us - other, messages * (us() - other)));
  }
  double processor_us() const { return send_us + receive_us; }
  // Until it may leave, what has to be done before included.
  double Begin(double before) const { return std::max(before, grant_us - send_us); }

  double send_us;
  double wire_us;
  double burst_us;
  double latency_us;
  double receive_us;
  double grant_us;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_STEPS_H_
