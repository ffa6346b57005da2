#include "patterns/plan/inline_program.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>

#include "patterns/rules.h"
#include "patterns/schedule/message_cut.h"

namespace brigade {
namespace {

// Of one segment, what leads comes before what does not.
std::vector<Step> InOrder(const Schedule& schedule) {
  std::vector<Step> steps;
  for (const Lane& lane : schedule.lanes) {
    for (int lead = schedule.max_lead; lead >= 0; --lead) {
      std::copy_if(lane.work.begin(), lane.work.end(), std::back_inserter(steps),
                   [lead](const Step& step) { return step.lead == lead; });
    }
  }
  return steps;
}

bool Frees(const Step& step, int stream) {
  return step.opcode == Opcode::kFree && step.left.index == stream;
}

bool WritesUserMemory(const Step& step) {
  return step.dst.kind == Place::kMatrix || step.dst.kind == Place::kBlock;
}

// Whether no step writes user memory until the slot that `copy` opens is freed.
bool StaysUntilFreed(const std::vector<Step>& steps, std::vector<Step>::const_iterator copy) {
  for (auto step = copy + 1; step != steps.end(); ++step) {
    if (Frees(*step, copy->dst.index)) return true;
    // A step reads its operands before it writes, but later sends may still need the old bytes.
    if (WritesUserMemory(*step)) return false;
  }
  return false;
}

bool SendsOneToEach(const std::vector<Step>& steps) {
  std::set<int> peers;
  return std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.opcode != Opcode::kSend || peers.insert(step.peer).second;
  });
}

// Whether all messages go from one rank's block to another's, and no rank sends one on.
bool MovesBlocks(const std::vector<Step>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const Step& step) {
    switch (step.opcode) {
      case Opcode::kSend:
        return step.left.kind == Place::kBlock || step.left.kind == Place::kSent;
      case Opcode::kCopy:
        return step.dst.kind == Place::kBlock;
      default:
        return step.opcode != Opcode::kCombine;
    }
  });
}

}  // namespace

InlineProgram CompileInline(const Schedule& schedule, const Scope& scope) {
  InlineProgram program;
  if (schedule.shares.count > 0 || !schedule.runs.empty() ||
      schedule.streams.size() > InlineProgram::kMostStreams) {
    return program;
  }
  const std::vector<Step> steps = InOrder(schedule);
  std::array<std::optional<Place>, InlineProgram::kMostStreams> user_memory;
  std::array<bool, InlineProgram::kMostStreams> is_received{};
  std::array<size_t, InlineProgram::kMostStreams> sends{};
  size_t most_sends = 1;
  const auto resolve = [&](Place* place) {
    if (place->kind == Place::kCurrent && user_memory[static_cast<size_t>(place->index)]) {
      *place = *user_memory[static_cast<size_t>(place->index)];
    }
  };
  for (auto it = steps.begin(); it != steps.end(); ++it) {
    Step step = *it;
    const auto stream = static_cast<size_t>(std::max(it->left.index, 0));
    if (step.peer >= 0) step.peer = scope.GroupRank(step.peer);
    switch (step.opcode) {
      case Opcode::kReceive:
      case Opcode::kOpen:
        return InlineProgram();
      case Opcode::kAwait:
        is_received[stream] = true;
        sends[stream] = 0;
        break;
      case Opcode::kSend:
        most_sends = std::max(most_sends, ++sends[stream]);
        break;
      case Opcode::kFree:
        if (!is_received[stream]) {
          user_memory[stream].reset();
          continue;
        }
        is_received[stream] = false;
        break;
      case Opcode::kCopy:
      case Opcode::kCombine:
        break;
    }
    resolve(&step.right);
    if (step.opens()) {
      const auto opened = static_cast<size_t>(step.dst.index);
      sends[opened] = 0;
      if (step.opcode == Opcode::kCopy && !step.left.in_stream() && StaysUntilFreed(steps, it)) {
        user_memory[opened] = step.left;
        program.copied_blocks.push_back(step.block);
        continue;
      }
    }
    resolve(&step.left);
    program.steps.push_back(step);
  }
  program.most_bytes = most_sends == 1 && MovesBlocks(program.steps)
                           ? rules::kMostInlineBlockBytes
                           : rules::kMostInlineCollectiveBytes / most_sends;
  program.fits_core = FitsCore(schedule, scope.config->settings);
  return program.fits_core || SendsOneToEach(program.steps) ? program : InlineProgram();
}

}  // namespace brigade
