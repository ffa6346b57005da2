#include "patterns/trace/trace.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>

namespace brigade {
namespace {

struct KindText {
  const char* name;
  const char* category;
};

// In the order of TraceKind. The name of a call is its routine's.
constexpr KindText kKindTexts[kTraceKinds] = {
    {"", "call"},
    {"copy in", "copy"},
    {"copy out", "copy"},
    {"copy from overflow", "copy"},
    {"combine", "combine"},
    {"post send", "post"},
    {"wait", "wait"},
    {"sent", "message"},
    {"receive posted", "message"},
    {"received", "message"},
};

thread_local bool is_progress_thread = false;

// Of what is recorded. A process forks while no thread has the lock, which its child could never
// take otherwise.
std::mutex events_mutex;
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] { events_mutex.lock(); }, [] { events_mutex.unlock(); }, [] { events_mutex.unlock(); });

// The format's unit is the microsecond.
void PrintTime(std::FILE* out, const char* key, uint64_t ns) {
  std::fprintf(out, ",\"%s\":%" PRIu64 ".%03" PRIu64, key, ns / 1000, ns % 1000);
}

// Nothing in it needs escapes: all texts are names of this library, or letters it has accepted.
void PrintEvent(std::FILE* out, int rank, const TraceEvent& event) {
  const KindText& text = kKindTexts[static_cast<int>(event.kind)];
  const bool call = event.kind == TraceKind::kCall;
  const bool instant = event.kind >= TraceKind::kSent;
  std::fprintf(out, ",\n{\"name\":\"%s\",\"cat\":\"%s\",\"ph\":%s,\"pid\":%d,\"tid\":%d",
               call ? event.routine : text.name, text.category,
               instant ? "\"i\",\"s\":\"t\"" : "\"X\"", rank, event.by_progress_thread ? 1 : 0);
  PrintTime(out, "ts", event.begin_ns);
  if (!instant) PrintTime(out, "dur", event.end_ns - event.begin_ns);
  std::fprintf(out, ",\"args\":{\"bytes\":%zu", event.bytes);
  if (event.peer >= 0) std::fprintf(out, ",\"peer\":%d", event.peer);
  if (event.scope != 0) std::fprintf(out, ",\"scope\":\"%c\"", event.scope);
  if (event.topology != 0) std::fprintf(out, ",\"topology\":\"%c\"", event.topology);
  std::fputs("}}", out);
}

}  // namespace

std::atomic<Trace*> Trace::current_{nullptr};
std::atomic<void (*)(const TraceEvent&)> Trace::watch_{nullptr};

Trace::Trace(const std::string& path, int rank, int ranks)
    : path_(path), rank_(rank), ranks_(ranks), pid_(getpid()) {}

std::string Trace::PartOf(const std::string& file, int rank) {
  std::filesystem::path path(file);
  path.replace_extension("." + std::to_string(rank) + path.extension().string());
  return path.string();
}

Status Trace::Start(const std::string& file, int rank, int ranks, size_t most_events) {
  if (current() != nullptr) {
    return Status(StatusCode::kInvalidArgument,
                  "this process already records a trace, to " + current()->path_);
  }
  const int number = rank < 0 ? getpid() : rank;
  std::unique_ptr<Trace> trace(new Trace(PartOf(file, number), number, ranks));
  try {
    trace->events_.reserve(most_events);
  } catch (const std::exception&) {
    return Status(StatusCode::kOutOfMemory,
                  "no memory for a trace of " + std::to_string(most_events) + " events");
  }
  // A file that lies there after this run must be of this run. If this process may not remove an
  // older file, Stop reports that it cannot write the trace.
  (void)std::remove(trace->path_.c_str());
  current_ = trace.release();
  return Status();
}

Status Trace::Stop() {
  if (current() == nullptr || current()->pid_ != getpid()) return Status();
  std::unique_lock<std::mutex> lock(events_mutex);
  const std::unique_ptr<const Trace> trace(current_.exchange(nullptr));
  lock.unlock();
  const std::string unfinished = trace->path_ + ".tmp";
  if (trace->WriteTo(unfinished) && std::rename(unfinished.c_str(), trace->path_.c_str()) == 0) {
    return Status();
  }
  const int reason = errno;
  (void)std::remove(unfinished.c_str());
  return Status(StatusCode::kUnavailable,
                "cannot write the trace to " + unfinished + ": " + std::strerror(reason));
}

void Trace::ThisIsTheProgressThread() { is_progress_thread = true; }

void Trace::AddInstant(TraceKind kind, size_t bytes, int peer) {
  const uint64_t now_ns = NowNs();
  Add({now_ns, now_ns, bytes, nullptr, peer, kind});
}

void Trace::Add(TraceEvent event) {
  event.by_progress_thread = is_progress_thread;
  if (auto* const watch = watch_.load(std::memory_order_relaxed)) watch(event);
  const std::lock_guard<std::mutex> lock(events_mutex);
  Trace* const trace = current_.load(std::memory_order_acquire);  // Start takes no lock
  if (trace == nullptr) return;                                   // stopped just now
  if (trace->events_.size() < trace->events_.capacity()) {
    trace->events_.push_back(event);
  } else {
    ++trace->dropped_;
  }
}

bool Trace::WriteTo(const std::string& path) const {
  std::FILE* out = std::fopen(path.c_str(), "we");
  if (out == nullptr) return false;
  std::fprintf(out,
               "{\"otherData\":{\"rank\":%d,\"ranks\":%d,\"dropped_events\":%" PRIu64
               "},\n\"traceEvents\":[\n"
               "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%d,"
               "\"args\":{\"name\":\"rank %d\"}},\n"
               "{\"name\":\"process_sort_index\",\"ph\":\"M\",\"pid\":%d,"
               "\"args\":{\"sort_index\":%d}}",
               rank_, ranks_, dropped_, rank_, rank_, rank_, rank_);
  if (std::any_of(events_.begin(), events_.end(),
                  [](const auto& e) { return e.by_progress_thread; })) {
    std::fprintf(out,
                 ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%d,\"tid\":1,"
                 "\"args\":{\"name\":\"progress thread\"}}",
                 rank_);
  }
  for (const TraceEvent& event : events_) PrintEvent(out, rank_, event);
  std::fputs("\n]}\n", out);
  const bool complete = std::ferror(out) == 0;
  return std::fclose(out) == 0 && complete;
}

}  // namespace brigade
