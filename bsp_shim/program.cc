#include "bsp_shim/program.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "patterns/settings/settings.h"
#include "transport/host/variable_names.h"
#include "transport/mpi/mpi_environment.h"

namespace brigade {
namespace bsp {
namespace {

const char* NameOf(PacketHeader::Call call) {
  return call == PacketHeader::Call::kSync ? "bsp_sync" : "bsp_end";
}

Status CheckLength(int bytes) {
  return bytes >= 0 ? Status() : Invalid(std::to_string(bytes) + " bytes: must be 0 or more");
}

}  // namespace

Status QueueSize(size_t messages, size_t bytes, int* count, int* all_bytes) {
  if (messages > INT_MAX || bytes > INT_MAX) {
    return Invalid(
        std::to_string(messages) + " messages of " + std::to_string(bytes) +
        " bytes, which an int cannot represent; instead, call bsp_get_tag until its status is -1");
  }
  *count = static_cast<int>(messages);
  *all_bytes = static_cast<int>(bytes);
  return Status();
}

// --- errors ---

void Program::Fail(const char* call, const std::string& why) {
  std::string text =
      std::string("brigade: ") + call + " on process " + std::to_string(job_.process());
  if (phase_ == Phase::kRunning) text += ", superstep " + std::to_string(superstep_);
  Abort(text + ": " + why);
}

void Program::Abort(const std::string& text) {
  phase_ = Phase::kEnded;  // Leave has nothing to say
  MpiJob::Abort(text);
}

Status Program::FailOn(int process, const char* call, const std::string& why) {
  if (process == job_.process()) Fail(call, why);
  for (;;) pause();
}

Status Program::CheckRunning() const {
  if (phase_ == Phase::kRunning) return Status();
  return Invalid(phase_ == Phase::kEnded ? "a call after bsp_end" : "bsp_begin must come first");
}

Status Program::CheckProcess(int pid) const {
  if (pid >= 0 && pid < processes()) return Status();
  return Invalid("there is no process " + std::to_string(pid) + ": they are 0 to " +
                 std::to_string(processes() - 1));
}

// --- start and end ---

Status Program::Init(void (*start)()) {
  if (phase_ != Phase::kNotBegun) return Invalid("it must come before bsp_begin");
  if (is_started_by_init_) return Invalid("called a second time");
  if (start == nullptr) return Invalid("its procedure is NULL");
  is_started_by_init_ = true;
  if (job_.process() == 0) return Status();
  start();
  if (phase_ == Phase::kNotBegun) return Invalid("its procedure has returned without bsp_begin");
  std::exit(EXIT_SUCCESS);
}

Status Program::AgreeToBegin(bool leaves, int most_processes, int* processes) {
  enum { kLeaves, kMostProcesses, kIsFree };  // free: bsp_init, and what process 0 says counts
  std::vector<MpiJob::Numbers> all;
  BRIGADE_RETURN_IF_ERROR(
      job_.Begin("BSPlib", {leaves, most_processes, is_started_by_init_}, &all));
  const MpiJob::Numbers& first = all.front();
  *processes = first[kLeaves] != 0
                   ? 0
                   : static_cast<int>(std::min<int64_t>(job_.processes(), first[kMostProcesses]));
  if (first[kLeaves] != 0 && first[kIsFree] != 0) return Status();
  for (int p = 1; p < job_.processes(); ++p) {
    const MpiJob::Numbers& other = all[static_cast<size_t>(p)];
    if (other[kLeaves] != first[kLeaves]) {
      return other[kLeaves] != 0
                 ? FailOn(p, "exit", "bsp_begin has not been called, as on process 0")
                 : FailOn(p, "bsp_begin", "process 0 has ended without it");
    }
    if (other[kIsFree] == 0 && other[kMostProcesses] != first[kMostProcesses]) {
      return FailOn(p, "bsp_begin",
                    "its argument is " + std::to_string(other[kMostProcesses]) + ", and " +
                        std::to_string(first[kMostProcesses]) + " on process 0");
    }
  }
  return Status();
}

Status Program::Begin(int most_processes) {
  if (phase_ != Phase::kNotBegun) return Invalid("the program has begun already");
  const bool counts = job_.process() == 0 || !is_started_by_init_;
  if (counts && most_processes < 1) {
    return Invalid("its argument is " + std::to_string(most_processes) + ": at least 1 process");
  }
  int members = 0;
  BRIGADE_RETURN_IF_ERROR(AgreeToBegin(/*leaves=*/false, most_processes, &members));
  if (members > 0) BRIGADE_RETURN_IF_ERROR(job_.Open(members));
  if (job_.process() >= members) {
    phase_ = Phase::kEnded;
    BRIGADE_RETURN_IF_ERROR(job_.Close());
    std::exit(EXIT_SUCCESS);
  }
  BRIGADE_RETURN_IF_ERROR(Open());
  phase_ = Phase::kRunning;
  begun_ = std::chrono::steady_clock::now();
  return Status();
}

Status Program::Open() {
  Settings settings;
  BRIGADE_RETURN_IF_ERROR(ReadSettings(&settings));
  if (job_.process() == 0) PrintSettingWarnings();
  BRIGADE_RETURN_IF_ERROR(SharedEngine::Acquire(settings.transport, settings.engine, &engine_));
  bootstrap_ = std::make_unique<MpiBootstrap>(job_.comm());
  BRIGADE_RETURN_IF_ERROR(
      Group::Create(engine_->engine.get(), bootstrap_.get(), 1, bootstrap_->size(), &group_));
  current_ = std::make_unique<Superstep>(group_.get(), settings.engine.chunk_bytes);
  return Status();
}

Status Program::End() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Meet(PacketHeader::Call::kEnd));
  processes_ = group_->cols();
  phase_ = Phase::kEnded;
  messages_.clear();
  current_.reset();
  group_.reset();
  engine_.reset();
  bootstrap_.reset();
  return job_.Close();
}

void Program::Leave() {
  if (phase_ == Phase::kEnded || pid_ != getpid()) return;
  if (phase_ == Phase::kRunning) Fail("exit", "bsp_end has not been called");
  if (!MpiJob::IsOurs()) return;
  int processes = 0;
  Status status = AgreeToBegin(/*leaves=*/true, 0, &processes);
  phase_ = Phase::kEnded;
  if (status.ok()) status = job_.Close();
  if (!status.ok()) Fail("exit", status.message());
}

Status Program::Process(int* process) const {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  *process = group_->rank();
  return Status();
}

Status Program::Time(double* seconds) const {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  return Status();
}

// --- supersteps ---

Status Program::Meet(PacketHeader::Call call) {
  PacketHeader said;
  said.call = call;
  said.tag_calls = tag_calls_;
  said.tag_bytes = next_tag_bytes_;
  BRIGADE_RETURN_IF_ERROR(current_->Meet(said, tag_bytes_, registrations_));
  const PacketHeader& first = current_->HeaderOf(0);
  for (int p = 1; p < processes(); ++p) {
    const PacketHeader& other = current_->HeaderOf(p);
    if (other.call != first.call) {
      return FailOn(p, NameOf(other.call),
                    std::string("process 0 is in ") + NameOf(first.call) +
                        ": the processes call bsp_sync different numbers of times");
    }
    if (other.tag_calls != first.tag_calls) {
      return FailOn(p, "bsp_set_tagsize",
                    std::to_string(other.tag_calls) + " calls in this superstep, and " +
                        std::to_string(first.tag_calls) + " on process 0");
    }
    if (other.tag_bytes != first.tag_bytes) {
      return FailOn(p, "bsp_set_tagsize",
                    std::to_string(other.tag_bytes) + " bytes, and " +
                        std::to_string(first.tag_bytes) + " on process 0");
    }
  }
  return Status();
}

Status Program::Sync() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Meet(PacketHeader::Call::kSync));
  BRIGADE_RETURN_IF_ERROR(current_->Complete(registrations_, &messages_));
  int who = 0;
  const char* what = "";
  const Status differs = registrations_.Apply(current_->RegistrationCallsOfAll(), &who, &what);
  if (!differs.ok()) return FailOn(who, what, differs.message());
  next_message_ = 0;
  tag_bytes_here_ = tag_bytes_;
  tag_bytes_ = next_tag_bytes_;
  tag_calls_ = 0;
  ++superstep_;
  return Status();
}

// --- memory of other processes ---

Status Program::Push(const void* address, int bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckLength(bytes));
  return registrations_.Push(address, bytes);
}

Status Program::Pop(const void* address) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  return registrations_.Pop(address);
}

Status Program::CheckAccess(int pid, const void* address, int offset, int bytes,
                            Superstep::Place* place) {
  BRIGADE_RETURN_IF_ERROR(CheckProcess(pid));
  const int slot = registrations_.Find(address);
  if (slot == Registrations::kNone) {
    return Invalid(MemoryAt(address) +
                   " is not registered on this process, or not yet: that takes "
                   "effect at bsp_sync");
  }
  const int64_t there = registrations_.at(slot).bytes_of[static_cast<size_t>(pid)];
  if (offset < 0) return Invalid("offset " + std::to_string(offset) + " is negative");
  if (bytes > there - offset) {
    const int64_t registered = std::max<int64_t>(there, 0);
    return Invalid(std::to_string(bytes) + " bytes at offset " + std::to_string(offset) + " end " +
                   std::to_string(int64_t{offset} + bytes - registered) + " bytes beyond the " +
                   std::to_string(registered) + " bytes that process " + std::to_string(pid) +
                   " has registered");
  }
  *place = {pid, slot, static_cast<size_t>(offset)};
  return Status();
}

Status Program::Put(Buffering buffering, int pid, const void* source, const void* address,
                    int offset, int bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckLength(bytes));
  if (bytes == 0) return Status();
  Superstep::Place place;
  BRIGADE_RETURN_IF_ERROR(CheckAccess(pid, address, offset, bytes, &place));
  if (source == nullptr) return Invalid("its source is NULL");
  if (buffering == Buffering::kBuffered) {
    current_->Put(place, source, static_cast<size_t>(bytes));
  } else {
    current_->DirectPut(place, source, static_cast<size_t>(bytes));
  }
  return Status();
}

Status Program::Get(Buffering buffering, int pid, const void* address, int offset, void* result,
                    int bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckLength(bytes));
  if (bytes == 0) return Status();
  Superstep::Place place;
  BRIGADE_RETURN_IF_ERROR(CheckAccess(pid, address, offset, bytes, &place));
  if (result == nullptr) return Invalid("its destination is NULL");
  if (buffering == Buffering::kBuffered) {
    current_->Get(place, result, static_cast<size_t>(bytes));
  } else {
    current_->DirectGet(place, result, static_cast<size_t>(bytes));
  }
  return Status();
}

// --- messages ---

Status Program::SetTagSize(int* bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  if (bytes == nullptr) return Invalid("its argument is NULL");
  BRIGADE_RETURN_IF_ERROR(CheckLength(*bytes));
  const auto last = static_cast<int>(next_tag_bytes_);
  next_tag_bytes_ = static_cast<size_t>(*bytes);
  ++tag_calls_;
  *bytes = last;
  return Status();
}

Status Program::Send(int pid, const void* tag, const void* payload, int bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckProcess(pid));
  BRIGADE_RETURN_IF_ERROR(CheckLength(bytes));
  if (tag == nullptr && tag_bytes_ > 0) {
    return Invalid("its tag is NULL, and tags have " + std::to_string(tag_bytes_) + " bytes");
  }
  if (payload == nullptr && bytes > 0) return Invalid("its payload is NULL");
  current_->Send(pid, tag, tag_bytes_, payload, static_cast<size_t>(bytes));
  return Status();
}

Status Program::CountMessages(int* count, int* bytes) const {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  if (count == nullptr || bytes == nullptr) return Invalid("an argument is NULL");
  size_t all = 0;
  for (size_t m = next_message_; m < messages_.size(); ++m) all += messages_[m].bytes;
  return QueueSize(messages_.size() - next_message_, all, count, bytes);
}

Status Program::GetTag(int* status, void* tag) const {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  if (status == nullptr) return Invalid("its status is NULL");
  *status = -1;
  if (!has_messages()) return Status();
  if (tag == nullptr && tag_bytes_here_ > 0) {
    return Invalid("its tag is NULL, and tags have " + std::to_string(tag_bytes_here_) + " bytes");
  }
  const Superstep::Message& message = messages_[next_message_];
  if (tag_bytes_here_ > 0) std::memcpy(tag, message.tag, tag_bytes_here_);
  *status = static_cast<int>(message.bytes);
  return Status();
}

Status Program::Move(void* payload, int most_bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckLength(most_bytes));
  if (!has_messages()) return Invalid("no message is left");
  const Superstep::Message& message = messages_[next_message_];
  const size_t bytes = std::min(message.bytes, static_cast<size_t>(most_bytes));
  if (payload == nullptr && bytes > 0) return Invalid("its payload is NULL");
  if (bytes > 0) std::memcpy(payload, message.data, bytes);
  ++next_message_;
  return Status();
}

Status Program::MoveDirectly(void** tag, void** payload, int* bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  if (tag == nullptr || payload == nullptr) return Invalid("an argument is NULL");
  *bytes = -1;
  if (!has_messages()) return Status();
  const Superstep::Message& message = messages_[next_message_++];
  *tag = message.tag;
  *payload = message.data;
  *bytes = static_cast<int>(message.bytes);
  return Status();
}

}  // namespace bsp
}  // namespace brigade
