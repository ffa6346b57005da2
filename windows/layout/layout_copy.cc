#include "windows/layout/layout_copy.h"

#include <algorithm>
#include <cstring>

#include "membuf/accumulate.h"
#include "windows/layout/run_length.h"
#include "windows/rules.h"

namespace brigade {
namespace {

void CopyRuns(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
              int64_t count, int64_t bytes) {
  WithRunLength(static_cast<size_t>(bytes), [=](auto length) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(to + i * to_stride, from + i * from_stride, length);
    }
  });
}

}  // namespace

void CopyLayout(LayoutCursor* from, const std::byte* from_base, int64_t bytes, LayoutCursor* to,
                std::byte* to_base) {
  while (bytes > 0) {
    const Runs source = from->Next();
    const Runs target = to->Next();
    // One of them is packed.
    if (source.bytes >= bytes) {
      Scatter(from_base + source.offset, bytes, to, to_base);
      return from->Skip(bytes);
    }
    if (target.bytes >= bytes) {
      Gather(from, from_base, bytes, to_base + target.offset);
      return to->Skip(bytes);
    }
    const int64_t run = std::min({source.bytes, target.bytes, bytes});
    int64_t count = 1;
    // Runs of equal lengths are copied together. Otherwise a run of one side is part of a run of
    // the other.
    if (source.bytes == target.bytes && run == source.bytes) {
      count = std::min({source.count, target.count, bytes / run});
    } else if (run == source.bytes && target.count == 1) {
      count = std::min(source.count, std::min(target.bytes, bytes) / run);
    } else if (run == target.bytes && source.count == 1) {
      count = std::min(target.count, std::min(source.bytes, bytes) / run);
    }
    CopyRuns(from_base + source.offset, source.count > 1 ? source.stride : run,
             to_base + target.offset, target.count > 1 ? target.stride : run, count, run);
    from->Skip(run * count);
    to->Skip(run * count);
    bytes -= run * count;
  }
}

void AccumulateInto(CombineOp op, Element element, const std::byte* packed, int64_t bytes,
                    LayoutCursor* to, std::byte* base) {
  if (op == CombineOp::kReplace) return Scatter(packed, bytes, to, base);
  if (op == CombineOp::kNoOp) return to->Skip(bytes);
  const auto element_bytes = static_cast<int64_t>(ElementBytes(element));
  for (int64_t done = 0; done < bytes;) {
    const Runs runs = to->Next();
    const int64_t whole = std::min(runs.bytes, bytes - done) / element_bytes;
    if (whole > 0 && (runs.count == 1 || runs.bytes > rules::kLongestGatheredRunBytes)) {
      Accumulate(op, element, static_cast<size_t>(whole), base + runs.offset, packed + done);
      to->Skip(whole * element_bytes);
      done += whole * element_bytes;
      continue;
    }
    std::byte block[rules::kGatheredBlockBytes];
    const int64_t part = std::min(
        bytes - done, rules::kGatheredBlockBytes - rules::kGatheredBlockBytes % element_bytes);
    LayoutCursor back = *to;
    Gather(to, base, part, block);
    Accumulate(op, element, static_cast<size_t>(part / element_bytes), block, packed + done);
    Scatter(block, part, &back, base);
    done += part;
  }
}

}  // namespace brigade
