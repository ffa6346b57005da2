#include "patterns/engine/progress_thread.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "patterns/rules.h"
#include "patterns/trace/trace.h"
#include "transport/host/start_thread.h"

namespace brigade {
namespace {

// All progress threads: they may be at work when this process forks. The list is never destroyed:
// threads outlive static objects.
struct ProgressThreads {
  std::mutex mutex;
  std::vector<ProgressThread*> all;
};
ProgressThreads& Existing() {
  static ProgressThreads& progress_threads = *new ProgressThreads;
  return progress_threads;
}

}  // namespace

Status ProgressThread::Create(std::function<Step()> step,
                              std::function<void(int microseconds)> await,
                              std::unique_ptr<ProgressThread>* progress_thread) {
  std::unique_ptr<ProgressThread> created(new ProgressThread(std::move(step), std::move(await)));
  ProgressThread* const thread = created.get();
  const Status status = StartThread([thread] { thread->Run(); }, &thread->thread_);
  if (!status.ok()) return {status.code(), "no progress thread: " + status.message()};
  pthread_setname_np(thread->thread_.native_handle(), "brigade");
  // A child that found a step half done could do nothing with its copy, not even destroy it.
  static const int handlers = pthread_atfork(&LockAll, &UnlockAll, &UnlockAll);
  BRIGADE_CHECK(handlers == 0);
  {
    const std::lock_guard<std::mutex> lock(Existing().mutex);
    Existing().all.push_back(created.get());
  }
  *progress_thread = std::move(created);
  return status;
}

ProgressThread::ProgressThread(std::function<Step()> step,
                               std::function<void(int microseconds)> await)
    : step_(std::move(step)), await_(std::move(await)) {}

ProgressThread::~ProgressThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(Existing().mutex);
    std::vector<ProgressThread*>& all = Existing().all;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void ProgressThread::AwaitStep() { const std::lock_guard<std::mutex> lock(mutex_); }

void ProgressThread::Wake() {
  AwaitStep();  // who is about to sleep has the lock until it does
  changed_.notify_one();
}

void ProgressThread::LockAll() {
  Existing().mutex.lock();
  for (ProgressThread* progress_thread : Existing().all) progress_thread->mutex_.lock();
}

void ProgressThread::UnlockAll() {
  for (ProgressThread* progress_thread : Existing().all) progress_thread->mutex_.unlock();
  Existing().mutex.unlock();
}

bool ProgressThread::Claim() {
  if (!claimed_.load(std::memory_order_relaxed)) {
    claimed_.store(true, std::memory_order_relaxed);
    fence_.Heavy();
  }
  return given_.load(std::memory_order_acquire);
}

ProgressThread::Step ProgressThread::DoStep() {
  const Step step = step_();
  if (step == Step::kNothingLeft) given_.store(false, std::memory_order_relaxed);
  return step;
}

// While an owner comes and goes the thread looks by itself, now and then, whether it has stayed
// away: to be woken by each call, or by what comes for an owner that is in one, costs more. One
// step it takes all the same, for an owner whose calls move nothing.
void ProgressThread::Run() {
  Trace::ThisIsTheProgressThread();
  const auto given = [&] { return given_.load(std::memory_order_relaxed); };
  const auto hurries = [&] { return now_.load(std::memory_order_relaxed) && given(); };
  const auto takes_so_far = [&] { return takes_.load(std::memory_order_relaxed); };
  std::unique_lock<std::mutex> lock(mutex_);
  for (int looks = 0; !over_;) {
    if (looks == rules::kProgressThreadPolls) {
      parked_.store(true, std::memory_order_relaxed);
      fence_.Heavy();
      changed_.wait(lock, [&] { return over_ || given(); });
      parked_.store(false, std::memory_order_relaxed);
      looks = 0;
    }
    const uint64_t takes = takes_so_far();
    const bool was_given = given();
    const int grace_us = grace_us_.load(std::memory_order_relaxed);
    sleep_us_.store(grace_us, std::memory_order_relaxed);
    changed_.wait_for(lock, std::chrono::microseconds(grace_us),
                      [&] { return over_ || is_to_look_sooner() || hurries(); });
    const bool is_sooner = is_to_look_sooner();
    sleep_us_.store(0, std::memory_order_relaxed);
    if (over_) return;
    if (is_sooner && !hurries()) continue;
    looks = takes == takes_so_far() ? looks + 1 : 0;
    if (hurries() || (given() && was_given && takes == takes_so_far())) {
      MakeProgress(&lock);
      looks = 0;
      continue;
    }
    int unchanged_us = grace_us;
    grace_us_.compare_exchange_strong(unchanged_us,
                                      std::min(2 * grace_us, rules::kProgressThreadLongestGraceUs));
    if (given()) {
      if (Claim()) (void)DoStep();
      Unclaim();
    }
  }
}

void ProgressThread::MakeProgress(std::unique_lock<std::mutex>* lock) {
  int rest_us = rules::kProgressThreadShortestRestUs;
  while (Claim()) {
    const Step step = DoStep();
    if (step == Step::kNothingMoved) Unclaim();
    lock->unlock();
    if (step == Step::kNothingMoved) {
      await_(rest_us);
      rest_us = std::min(2 * rest_us, rules::kProgressThreadLongestRestUs);
    } else {
      rest_us = rules::kProgressThreadShortestRestUs;
    }
    lock->lock();
  }
  Unclaim();
}

}  // namespace brigade
