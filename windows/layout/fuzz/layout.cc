// Fuzz target: what TypedLayout::Parse accepts can be walked, within its bounds, and has a serial
// form that is read as the same.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "membuf/byte_span.h"
#include "membuf/check.h"
#include "membuf/status.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace {

ConstByteSpan SpanOf(const void* data, size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

// Along so many values.
void CheckWalk(const TypedLayout& layout, int64_t values) {
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (!layout.Bounds(values, &low, &high, &bytes)) return;
  LayoutCursor cursor(&layout, values);
  BRIGADE_CHECK_EQ(cursor.size(), bytes);
  constexpr int kMostSteps = 1000;
  for (int step = 0; step < kMostSteps && cursor.position() < cursor.size(); ++step) {
    const Runs runs = cursor.Next();
    BRIGADE_CHECK_LT(0, runs.bytes);
    BRIGADE_CHECK_LT(0, runs.count);
    BRIGADE_CHECK_LE(runs.count, cursor.size() / runs.bytes);
    const int64_t last = runs.offset + (runs.count - 1) * runs.stride;
    BRIGADE_CHECK_LE(low, std::min(runs.offset, last));
    BRIGADE_CHECK_LE(std::max(runs.offset, last) + runs.bytes, high);
    // A part of them, or all.
    const int64_t all = runs.count * runs.bytes;
    cursor.Skip(step % 2 == 0 ? all : all / 2 + 1);
    if (cursor.position() == cursor.size()) return;
    BRIGADE_CHECK_EQ(LayoutCursor(cursor).Next().offset, cursor.Next().offset);
  }
}

}  // namespace
}  // namespace brigade

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  using namespace brigade;  // NOLINT: the function cannot be in a namespace
  TypedLayout layout;
  const Status status = TypedLayout::Parse(SpanOf(data, bytes), &layout);
  if (!status.ok()) {
    BRIGADE_CHECK(status.code() == StatusCode::kMismatch);
    return 0;
  }
  const std::string form = layout.ToBytes();
  TypedLayout again;
  BRIGADE_CHECK(TypedLayout::Parse(SpanOf(form.data(), form.size()), &again).ok());
  BRIGADE_CHECK(again.ToBytes() == form);
  for (const int64_t values : {1, 3}) CheckWalk(layout, values);
  return 0;
}
