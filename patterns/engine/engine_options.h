// EngineOptions: the settings of an engine.

#ifndef BRIGADE_PATTERNS_ENGINE_ENGINE_OPTIONS_H_
#define BRIGADE_PATTERNS_ENGINE_ENGINE_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "membuf/overflow_arena.h"
#include "patterns/rules.h"

namespace brigade {

struct EngineOptions {
  size_t chunk_bytes = size_t{32} << 10;   // equal on all ranks of a group
  size_t staging_bytes = size_t{2} << 20;  // equal on all ranks of a group
  size_t overflow_bytes = OverflowArena::kAvailableMemory;
  // How long a send waits at the overflow limit before it fails.
  double overflow_wait_seconds = 120;
  // A call during which nothing has moved for this long says so, once per interval, through
  // `report`, and goes on waiting. 0: never.
  double report_seconds = 60;
  // A call that has waited for another rank for this long finds out whether that rank made the same
  // call (match_check.h), and again after twice that time, and so on.
  double match_check_seconds = rules::kMatchCheckSeconds;
  std::function<void(const std::string&)> report;  // default: a line on stderr
  // Whether groups measure what their edges cost when they are made (Group::Create); equal on all
  // ranks of a group. Ranks that all share memory measure only with kAlways: there a rule chooses,
  // not the model.
  enum class Calibrate : uint8_t { kNever, kIfUnknown, kAlways };
  Calibrate calibrate = Calibrate::kNever;
  // A topology that a call names as a hint is replaced, where the result has the same bits, by one
  // predicted to be 1.75 times as fast; equal on all ranks of a group.
  bool topology_is_hint = false;
  // Rank 0 of a scope reports each plan when it is made (DescribePlan).
  bool explain = false;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ENGINE_OPTIONS_H_
