// Copies of equally long runs at equal distances: the inner loop of every pack and unpack.
//
// Which loop is fastest depends on the length of the runs: below some hundred bytes a call of
// memcpy per run costs more than the bytes. The choice is a table, and its thresholds are measured
// (bench/tables/copy_table.cc; figures in docs/results/copy.md).

#ifndef BRIGADE_MEMBUF_COPY_ROUTINE_H_
#define BRIGADE_MEMBUF_COPY_ROUTINE_H_

#include <cstddef>
#include <cstdint>

#include "membuf/rules.h"

namespace brigade {

// One side of a copy of runs.
struct RunWriter {
  std::byte* data;
  size_t stride_bytes;  // from one run's start to the next; the run's length if packed
};
struct RunReader {
  const std::byte* data;
  size_t stride_bytes;
};

// Copies `runs` runs of `run_bytes` each. The two sides must not overlap.
using CopyRoutine = void (*)(RunWriter to, RunReader from, size_t run_bytes, size_t runs);

// Runs of exactly kBytes: a strided row of single elements.
template <size_t kBytes>
void CopyElements(RunWriter to, RunReader from, size_t run_bytes, size_t runs);
extern template void CopyElements<4>(RunWriter, RunReader, size_t, size_t);
extern template void CopyElements<8>(RunWriter, RunReader, size_t, size_t);
extern template void CopyElements<16>(RunWriter, RunReader, size_t, size_t);

// Runs of at least kBytes in inline moves of kBytes, the last of which overlaps the one before.
template <size_t kBytes>
void CopyBlocks(RunWriter to, RunReader from, size_t run_bytes, size_t runs);
extern template void CopyBlocks<4>(RunWriter, RunReader, size_t, size_t);
extern template void CopyBlocks<8>(RunWriter, RunReader, size_t, size_t);
extern template void CopyBlocks<16>(RunWriter, RunReader, size_t, size_t);
extern template void CopyBlocks<32>(RunWriter, RunReader, size_t, size_t);

// Runs of any length, one memcpy each.
void CopyByMemcpy(RunWriter to, RunReader from, size_t run_bytes, size_t runs);

struct CopyTableRow {
  size_t up_to_run_bytes;
  CopyRoutine routine;
  const char* name;
};

// The table. A row applies to runs longer than the bound of the row before it and at most as long
// as its own bound.
inline constexpr CopyTableRow kCopyTable[] = {
    {3, CopyByMemcpy, "memcpy"},  // only ever the torn part of an element
    {4, CopyElements<4>, "elements<4>"},
    {7, CopyBlocks<4>, "blocks<4>"},
    {8, CopyElements<8>, "elements<8>"},
    {15, CopyBlocks<8>, "blocks<8>"},
    {16, CopyElements<16>, "elements<16>"},
    {31, CopyBlocks<16>, "blocks<16>"},
    {rules::kInlineCopyBytes, CopyBlocks<32>, "blocks<32>"},
    {SIZE_MAX, CopyByMemcpy, "memcpy"},
};

inline const CopyTableRow& CopyRowFor(size_t run_bytes) {
  const CopyTableRow* row = kCopyTable;
  while (run_bytes > row->up_to_run_bytes) ++row;
  return *row;
}

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_COPY_ROUTINE_H_
