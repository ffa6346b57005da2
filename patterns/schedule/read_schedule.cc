#include "patterns/schedule/read_schedule.h"

namespace brigade {

std::string ReadSchedule::ToString() const {
  static constexpr const char* kNames[] = {"expose", "read", "combine", "done"};
  std::string text;
  for (const ReadStep& step : steps) {
    text += std::string("  ") + kNames[step.opcode];
    if (step.block >= 0) text += " block " + std::to_string(step.block);
    if (step.opcode == ReadStep::kCombine) {
      text += " of ranks";
      for (const int rank : order) text += " " + std::to_string(rank);
      text += " and its own";
    }
    text += "\n";
  }
  return text;
}

}  // namespace brigade
