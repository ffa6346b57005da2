// A forked child has a copy of its parent's window, and maps the same memory: its calls fail, and
// change nothing that its parent or another rank sees.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "test/support/run_processes.h"
#include "test/windows/window_process.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/core/window_options.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/member.h"

namespace brigade {
namespace {

ProcessSetup OverShm(WindowMemory kind) { return {"shm", false, true, kind}; }

// One that the processes share.
class Flag {
 public:
  Flag()
      : flag_(new (mmap(nullptr, sizeof(*flag_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) std::atomic<bool>(false)) {}
  ~Flag() { munmap(flag_, sizeof(*flag_)); }
  Flag(const Flag&) = delete;
  Flag& operator=(const Flag&) = delete;

  void Set() { *flag_ = true; }
  bool is_set() const { return *flag_; }

 private:
  std::atomic<bool>* const flag_;
};

// Whether all these calls of a forked child fail.
bool FailInChild(const std::vector<std::function<Status()>>& calls) {
  const pid_t child = fork();
  if (child == 0) {
    int others = 0;
    for (const auto& call : calls) others += call().code() != StatusCode::kUnavailable;
    _exit(others);
  }
  int outcome = -1;
  return waitpid(child, &outcome, 0) == child && outcome == 0;
}

Status PutToZero(Window* window, int64_t value) {
  const TypedLayout word = TypedLayout::Run(Element::kInt64, 1);
  return window->Put({reinterpret_cast<std::byte*>(&value), word, 1}, {0, 0, word, 1});
}

TEST(WindowOfAForkedChild, AnnouncesNoFence) {
  Flag has_come;
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const WindowProcess me(OverShm(WindowMemory::kShared), bootstrap);
    Window* const window = me.window.get();
    WindowProcess::Require(window->Fence());
    bool fails = true;
    if (bootstrap->rank() == 0) {
      fails = FailInChild({[&] { return window->Fence(); }, [&] { return PutToZero(window, 1); }});
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // longer than rank 1 sleeps
      has_come.Set();
    }
    WindowProcess::Require(window->Fence());
    const bool is_early = !has_come.is_set();
    WindowProcess::Require(window->Free());
    return fails && !is_early ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2));
}

TEST(WindowOfAForkedChild, KeepsNoLock) {
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const WindowProcess me(OverShm(WindowMemory::kShared), bootstrap);
    WindowOptions options;
    options.kind = WindowMemory::kDynamic;
    std::unique_ptr<Window> window;
    WindowProcess::Require(Window::Create(me.space.get(), bootstrap, options, &window));
    std::byte memory[8];
    const auto attach = [&] { return window->Attach(memory, sizeof(memory)); };
    const bool fails = FailInChild({attach});
    WindowProcess::Require(attach());
    WindowProcess::Require(window->Free());
    WindowProcess::Require(me.window->Free());
    return fails ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2));
}

// Rank 1 has wanted a mailbox of rank 0 when the child makes its call.
TEST(WindowOfAForkedChild, MakesNoMailboxes) {
  Flag is_wanted;
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const WindowProcess me(OverShm(WindowMemory::kPrivate), bootstrap);
    Window* const window = me.window.get();
    WindowProcess::Require(window->Fence());
    bool fails = true;
    if (bootstrap->rank() == 1) {
      WindowProcess::Require(PutToZero(window, 1));
      is_wanted.Set();
    } else {
      while (!is_wanted.is_set()) std::this_thread::yield();
      fails = FailInChild({[&] { return window->Fence(); }});
    }
    WindowProcess::Require(window->Fence());
    if (bootstrap->rank() == 1) WindowProcess::Require(PutToZero(window, 2));
    WindowProcess::Require(window->Fence());
    const int64_t value = me.memory[0];
    WindowProcess::Require(window->Free());
    return fails && (bootstrap->rank() == 1 || value == 2) ? 0 : 1;
  });
  EXPECT_EQ(ends, std::vector<int>(2));
}

}  // namespace
}  // namespace brigade
