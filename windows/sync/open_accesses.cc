#include "windows/sync/open_accesses.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>

#include "windows/layout/layout_cursor.h"

namespace brigade {
namespace {

using Kind = Access::Kind;

bool AreEqual(const Access& a, const Access& b) {
  const auto key = [](const Access& access) {
    return std::tie(access.kind, access.op, access.element, access.end, access.origin);
  };
  return key(a) == key(b);
}

bool Accumulates(const Access& access) {
  return access.kind != Kind::kPut && access.kind != Kind::kGet;
}

bool OnlyReads(const Access& access) {
  return access.kind == Kind::kGet ||
         (access.kind == Kind::kFetch && access.op == CombineOp::kNoOp);
}

// A swap is made to be mixed with fetches and replacements; and those of one origin are in order.
bool Conflict(const Access& a, const Access& b) {
  if (OnlyReads(a) && OnlyReads(b)) return false;
  if (!Accumulates(a) || !Accumulates(b)) return true;
  if (a.origin == b.origin) return false;
  if (a.element != b.element) return true;
  return a.op != b.op && !OnlyReads(a) && !OnlyReads(b) && a.kind != Kind::kSwap &&
         b.kind != Kind::kSwap;
}

std::string Describe(const Access& access) {
  const std::string of = " of rank " + std::to_string(access.origin);
  const std::string element = ElementName(access.element);
  const std::string how =
      std::string(" (") + CombineOpName(access.op) + " of " + element + ")" + of;
  switch (access.kind) {
    case Kind::kPut:
      return "a put" + of;
    case Kind::kGet:
      return "a get" + of;
    case Kind::kAccumulate:
      return "an accumulate" + how;
    case Kind::kFetch:
      return "a fetch" + how;
    case Kind::kSwap:
      break;
  }
  return "a compare-and-swap (of " + element + ")" + of;
}

}  // namespace

Status OpenAccesses::Add(const Access& access, const TypedLayout& layout, int64_t count,
                         int64_t offset) {
  LayoutCursor at(&layout, count);
  while (at.position() < at.size()) {
    const Runs runs = at.Next();
    for (int64_t i = 0; i < runs.count; ++i) {
      const int64_t begin = offset + runs.offset + i * runs.stride;
      BRIGADE_RETURN_IF_ERROR(AddRun(access, begin, begin + runs.bytes));
    }
    at.Skip(runs.bytes * runs.count);
  }
  return Status();
}

Status OpenAccesses::AddRun(const Access& access, int64_t begin, int64_t end) {
  Split(begin);
  Split(end);
  for (int64_t at = begin; at < end;) {
    const auto next = segments_.lower_bound(at);
    if (next == segments_.end() || next->first > at) {
      const int64_t gap = next == segments_.end() ? end : std::min(end, next->first);
      segments_.emplace_hint(next, at, Segment{gap, {access}});
      at = gap;
      continue;
    }
    Segment& segment = next->second;
    bool is_known = false;
    for (const Access& other : segment.accesses) {
      if (Conflict(other, access)) {
        return {StatusCode::kMismatch,
                "a conflict in the window of rank " + std::to_string(owner_) + ", bytes " +
                    std::to_string(first_ + at) + " to " +
                    std::to_string(first_ + segment.end - 1) + ": " + Describe(access) +
                    " comes before " + Describe(other) + " is over"};
      }
      is_known = is_known || AreEqual(other, access);
    }
    if (!is_known) segment.accesses.push_back(access);
    at = segment.end;
  }
  return Status();
}

void OpenAccesses::Split(int64_t at) {
  const auto behind = segments_.lower_bound(at);
  if (behind == segments_.begin()) return;
  Segment& segment = std::prev(behind)->second;
  if (segment.end <= at) return;
  segments_.emplace_hint(behind, at, segment);
  segment.end = at;
}

template <typename IsOver>
void OpenAccesses::EndIf(const IsOver& is_over) {
  for (auto at = segments_.begin(); at != segments_.end();) {
    std::vector<Access>& accesses = at->second.accesses;
    accesses.erase(std::remove_if(accesses.begin(), accesses.end(), is_over), accesses.end());
    at = accesses.empty() ? segments_.erase(at) : std::next(at);
  }
}

void OpenAccesses::EndAll(int origin) {
  EndIf([&](const Access& access) { return access.origin == origin; });
}

void OpenAccesses::EndReads(int origin) {
  EndIf([&](const Access& access) { return access.origin == origin && access.is_answered(); });
}

void OpenAccesses::EndBy(AccessEnd end, int origin) {
  EndIf([&](const Access& access) { return access.origin == origin && access.end == end; });
}

}  // namespace brigade
