// OpenAccesses: what others do to one member's memory and is not known to be over. Of two of these
// that touch the same bytes, and of which one writes, the outcome is unspecified, unless both
// accumulate in the same way: that is a conflict. The checking mode's; the target keeps it.
//
// An access is over when its origin, and every rank that learns that from the origin, may take it
// for complete at the target. Every access that arrives before that moment was begun before it,
// too. So each conflict that is found exists in whatever order the ranks are fast. No conflict is
// found if one access happens to be over when the other one arrives, although nothing orders the
// two.
//
// Source: MPI-3.1, section 11.7; the debug layer of LPF has the idea.

#ifndef BRIGADE_WINDOWS_SYNC_OPEN_ACCESSES_H_
#define BRIGADE_WINDOWS_SYNC_OPEN_ACCESSES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "membuf/element.h"
#include "membuf/status.h"
#include "windows/layout/typed_layout.h"

namespace brigade {

// The event by which an origin learns that its access is over. Frames contain it: numbers keep
// their meaning.
enum class AccessEnd : uint8_t {
  kEpoch,         // the end of an epoch, or a flush
  kAnswer,        // what it has read: it can be waited for by itself
  kNotification,  // its own
};

struct Access {
  enum class Kind : uint8_t { kPut, kGet, kAccumulate, kFetch, kSwap };

  Kind kind = Kind::kPut;
  CombineOp op = CombineOp::kReplace;  // of kAccumulate and kFetch
  Element element = Element::kByte;    // of these and of kSwap
  AccessEnd end = AccessEnd::kEpoch;
  int origin = 0;

  bool is_answered() const { return kind != Kind::kPut && kind != Kind::kAccumulate; }
};

class OpenAccesses {
 public:
  // Of the memory of rank `owner`, whose first byte has number `first` in error texts.
  OpenAccesses(int owner, int64_t first) : owner_(owner), first_(first) {}

  // One more, of `count` values that begin at `offset` of the memory. kMismatch: there is a
  // conflict; it is named. REQUIRES: Bounds() of so many are known.
  Status Add(const Access& access, const TypedLayout& layout, int64_t count, int64_t offset);
  // End accesses of one origin: all; all that read; all that end by one kind of event.
  void EndAll(int origin);
  void EndReads(int origin);
  void EndBy(AccessEnd end, int origin);
  // Of all origins.
  void EndAll() { segments_.clear(); }

 private:
  // Bytes that the same accesses touch.
  struct Segment {
    int64_t end;
    std::vector<Access> accesses;
  };

  Status AddRun(const Access& access, int64_t begin, int64_t end);
  // Makes `at` a boundary, if it is within a segment.
  void Split(int64_t at);
  template <typename IsOver>
  void EndIf(const IsOver& is_over);

  const int owner_;
  const int64_t first_;
  std::map<int64_t, Segment> segments_;  // by their first byte; they do not overlap
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_SYNC_OPEN_ACCESSES_H_
