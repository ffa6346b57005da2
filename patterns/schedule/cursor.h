// Cursor: a position in the steps of a lane, which are repeated in rounds, and the turns that say
// which of them there are in a round.

#ifndef BRIGADE_PATTERNS_SCHEDULE_CURSOR_H_
#define BRIGADE_PATTERNS_SCHEDULE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "patterns/schedule/schedule.h"
#include "patterns/schedule/shares.h"

namespace brigade {

// In which rounds the segments have their turns.
class Turns {
 public:
  // `segments`: how many the matrix has, and then each of what steps call blocks. `shares`: what
  // the matrix is cut into.
  void Set(const Shares& shares, const std::vector<int64_t>& segments);

  int64_t rounds() const { return rounds_; }
  // `block`: -1 is the matrix.
  int64_t Segments(int block) const { return At(block).segments; }
  // The segment that `step` works on in round `round`, if there is one of that number.
  int64_t SegmentOf(const Step& step, int64_t round) const {
    return round + step.lead - At(step.block).first_round;
  }
  bool Exists(const Step& step, int64_t round) const {
    const int64_t segment = SegmentOf(step, round);
    return segment >= 0 && segment < Segments(step.block);
  }

 private:
  struct Turn {
    int64_t segments = 0;
    int64_t first_round = 0;  // of the first segment
  };
  const Turn& At(int block) const { return turns_[static_cast<size_t>(block + 1)]; }

  std::vector<Turn> turns_;
  int64_t rounds_ = 0;
};

struct Cursor {
  int64_t round = 0;
  size_t step = 0;

  static Cursor AtStartOf(const Schedule& schedule) { return {-schedule.max_lead, 0}; }
  // Moves on to the next step whose segment exists, which may be this one; false at the end.
  bool SkipToExisting(const Turns& turns, const std::vector<Step>& steps) {
    for (;; ++step) {
      if (steps.empty() || round >= turns.rounds()) return false;
      if (step == steps.size()) {
        step = 0;
        if (++round >= turns.rounds()) return false;
      }
      if (turns.Exists(steps[step], round)) return true;
    }
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_CURSOR_H_
