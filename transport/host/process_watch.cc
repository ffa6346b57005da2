#include "transport/host/process_watch.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

namespace brigade {
namespace {

// Returns the start time of `process`, in ticks since the machine's start; empty if it has ended,
// or if /proc does not have it.
std::string StartOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  // The program's name, in brackets, may have anything in it.
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return "";
  std::istringstream fields(text.substr(end_of_name + 1));
  std::string state;
  std::string threads;
  std::string start;
  std::string other;
  fields >> state;
  constexpr int kThreadsBehindState = 17;
  for (int i = 1; i < kThreadsBehindState; ++i) fields >> other;
  fields >> threads >> other >> start;
  // The state is that of the main thread, which may end before the others.
  const bool is_alone = threads == "0" || threads == "1";
  if ((state == "Z" || state == "X") && is_alone) return "";
  return start;
}

// A process forks while no thread has the lock, which its child could never take otherwise.
std::mutex watches_mutex;
[[maybe_unused]] const int fork_handlers = pthread_atfork(
    [] { watches_mutex.lock(); }, [] { watches_mutex.unlock(); }, [] { watches_mutex.unlock(); });

}  // namespace

ProcessWatch::ProcessWatch(pid_t process)
    : process_(process), pidfd_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))) {
  if (pidfd_ < 0) started_ = StartOf(process);
}

ProcessWatch::~ProcessWatch() {
  if (pidfd_ >= 0) close(pidfd_);
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept { *this = std::move(other); }

ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(started_, other.started_);
  ran_at_ns_ = other.ran_at_ns_.exchange(ran_at_ns_);
  return *this;
}

std::shared_ptr<const ProcessWatch> ProcessWatch::Of(pid_t process) {
  const std::lock_guard<std::mutex> lock(watches_mutex);
  static auto& watches = *new std::map<pid_t, std::weak_ptr<const ProcessWatch>>;
  const auto known = watches.find(process);
  std::shared_ptr<const ProcessWatch> watch =
      known == watches.end() ? nullptr : known->second.lock();
  // The number may be that of another one by now.
  if (watch == nullptr || watch->HasEnded()) {
    for (auto it = watches.begin(); it != watches.end();) {
      it = it->second.expired() ? watches.erase(it) : std::next(it);
    }
    watches[process] = watch = std::make_shared<const ProcessWatch>(process);
  }
  return watch;
}

bool ProcessWatch::HasEnded() const {
  if (pidfd_ >= 0) {
    pollfd end{pidfd_, POLLIN, 0};
    return poll(&end, 1, 0) > 0;
  }
  if (process_ == 0) return false;
  if (!started_.empty()) return StartOf(process_) != started_;
  return kill(process_, 0) != 0 && errno == ESRCH;
}

bool ProcessWatch::RanLately() const {
  constexpr int64_t kLateNs = 1000000;
  const int64_t now =
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (now < ran_at_ns_.load(std::memory_order_relaxed) + kLateNs) return true;
  if (HasEnded()) return false;
  ran_at_ns_.store(now, std::memory_order_relaxed);
  return true;
}

}  // namespace brigade
