// Trace: the timeline of one process, in the format that Perfetto and chrome://tracing load.
//
// Off, it costs a load and a branch at each place that would record something. On, an event costs
// one or two looks at the clock and 40 bytes of memory, up to a fixed number of events; those that
// come later are counted only. The clock is CLOCK_MONOTONIC, the same for all ranks of a host.
//
// Recorded by any thread; started and stopped by one at a time. Events of the progress
// thread (progress_thread.h) have a line of their own.

#ifndef BRIGADE_PATTERNS_TRACE_TRACE_H_
#define BRIGADE_PATTERNS_TRACE_TRACE_H_

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade {

enum class TraceKind : uint8_t {
  // Events with a length, which is 0 for copies and combines of an inline message.
  kCall,  // of a public routine
  kCopyIn,
  kCopyOut,
  kCopyFromOverflow,
  kCombine,
  kPostSend,  // giving a segment to the transport, or keeping it for later
  kWait,      // polling until it is over or an operation advances; what then moves is inside
  // Moments.
  kSent,  // the segment's memory is free again
  kPostReceive,
  kReceived,  // and taken up
};
inline constexpr int kTraceKinds = 10;

struct TraceEvent {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  size_t bytes = 0;
  const char* routine = nullptr;  // of kCall; never freed
  int32_t peer = -1;              // a rank of the group; -1: none
  TraceKind kind = TraceKind::kCall;
  char scope = 0;                   // of kCall: R, C or A; 0: none
  char topology = 0;                // of kCall: BLACS' letter; 0: none
  bool by_progress_thread = false;  // set by Add
};
static_assert(sizeof(TraceEvent) == 40, "a million of them fit 40 MiB");

class Trace {
 public:
  static constexpr size_t kMostEvents = size_t{1} << 20;

  // Starts recording what is to become the file PartOf(file, rank), and removes an older one of
  // that name. `rank` of `ranks`: of the job; -1: unknown, the process number is used.
  // kInvalidArgument if there is a trace already, kOutOfMemory if there is no room for
  // `most_events`; nothing happened then.
  static Status Start(const std::string& file, int rank, int ranks,
                      size_t most_events = kMostEvents);
  // Whether what is recorded becomes the file PartOf(file, rank).
  static bool RecordsTo(const std::string& file, int rank) {
    return current() != nullptr && current()->path_ == PartOf(file, rank);
  }
  // Ends recording and writes the file, which appears complete or not at all. kUnavailable, naming
  // file and reason, if it cannot be written. Does nothing without a trace, and in a forked child
  // of the process that started it.
  static Status Stop();

  // Null while nothing is recorded.
  static Trace* current() { return current_.load(std::memory_order_relaxed); }
  static uint64_t NowNs() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }
  // Records what happens now, if anything is recorded.
  static void Mark(TraceKind kind, size_t bytes, int peer) {
    if (current() != nullptr) AddInstant(kind, bytes, peer);
  }
  static void AddInstant(TraceKind kind, size_t bytes, int peer);
  static void Add(TraceEvent event);
  // Said once by the progress thread.
  static void ThisIsTheProgressThread();
  // From now on calls `watch` for each event, on the thread of the event, before the event is
  // recorded; null: calls nothing. For tests that stop a rank between two steps of a call.
  static void Watch(void (*watch)(const TraceEvent& event)) { watch_ = watch; }

  // "lu.3.json" of "lu.json" and 3.
  static std::string PartOf(const std::string& file, int rank);

 private:
  Trace(const std::string& path, int rank, int ranks);

  // False, with errno, if it failed.
  bool WriteTo(const std::string& path) const;

  static std::atomic<Trace*> current_;
  static std::atomic<void (*)(const TraceEvent&)> watch_;

  const std::string path_;
  const int rank_;
  const int ranks_;
  const pid_t pid_;
  std::vector<TraceEvent> events_;  // never grows beyond what was reserved
  uint64_t dropped_ = 0;
};

// Records its own life, if it began while something was recorded. Otherwise its members never leave
// the registers.
class TraceSpan {
 public:
  explicit TraceSpan(TraceKind kind, size_t bytes = 0, int peer = -1)
      : TraceSpan(kind, nullptr, bytes, peer, 0, 0) {}
  // Of a call; arguments as in TraceEvent.
  explicit TraceSpan(const char* routine, size_t bytes = 0, int peer = -1, char scope = 0,
                     char topology = 0)
      : TraceSpan(TraceKind::kCall, routine, bytes, peer, scope, topology) {}
  // Out of line it would need them in memory.
  [[gnu::always_inline]] ~TraceSpan() {
    if (begin_ns_ == 0 || Trace::current() == nullptr) return;
    Trace::Add({begin_ns_, Trace::NowNs(), bytes_, routine_, peer_, kind_, scope_, topology_});
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;
  // Nothing has happened: records no event.
  void Cancel() { begin_ns_ = 0; }

 private:
  TraceSpan(TraceKind kind, const char* routine, size_t bytes, int peer, char scope, char topology)
      : begin_ns_(Trace::current() == nullptr ? 0 : Trace::NowNs()),
        bytes_(bytes),
        routine_(routine),
        peer_(peer),
        kind_(kind),
        scope_(scope),
        topology_(topology) {}

  uint64_t begin_ns_;
  const size_t bytes_;
  const char* const routine_;
  const int32_t peer_;
  const TraceKind kind_;
  const char scope_;
  const char topology_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_TRACE_TRACE_H_
