// Answering: whether a member of a window answers while its caller is elsewhere, and how many
// origins send requests to it because it does. A word in memory that several processes map, and
// beside it whether an origin has wanted to send requests. Zeroed memory is that of a member that
// does not answer.
//
// BeginRequests and End change the same word, so one of them comes first. Either the origin finds
// that the member does not answer, or the member sees the origin and continues until it has
// answered.

#ifndef BRIGADE_WINDOWS_SYNC_ANSWERING_H_
#define BRIGADE_WINDOWS_SYNC_ANSWERING_H_

#include <atomic>
#include <cstdint>

namespace brigade {

class Answering {
 public:
  // Of the member.
  void Begin() { word_.fetch_or(kAnswers, std::memory_order_release); }
  // From here on no origin begins to send requests.
  void End() { word_.fetch_and(~kAnswers, std::memory_order_acq_rel); }
  // Whether an origin has begun to send requests and not ended.
  bool is_asked() const { return (word_.load(std::memory_order_acquire) & ~kAnswers) != 0; }

  // Whether an origin has wanted to send requests.
  bool is_wanted() const { return wanted_.load(std::memory_order_relaxed); }

  // Of an origin. True: it may send requests, will be answered, and calls EndRequests behind that.
  bool BeginRequests() {
    // A look first: who finds nobody must not take the line from others.
    if ((word_.load(std::memory_order_relaxed) & kAnswers) == 0) {
      if (!is_wanted()) wanted_.store(true, std::memory_order_relaxed);
      return false;
    }
    if ((word_.fetch_add(1, std::memory_order_acq_rel) & kAnswers) != 0) return true;
    EndRequests();
    return false;
  }
  void EndRequests() { word_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr uint64_t kAnswers = uint64_t{1} << 63;

  static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share it");
  std::atomic<uint64_t> word_{0};  // below kAnswers: how many send requests
  std::atomic<bool> wanted_{false};
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_SYNC_ANSWERING_H_
