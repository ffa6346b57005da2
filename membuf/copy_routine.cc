#include "membuf/copy_routine.h"

#include <cstring>

#include "membuf/copy_bytes.h"

namespace brigade {

// memcpy of a constant length is a move or two, not a call, and is right at any alignment.

template <size_t kBytes>
void CopyElements(RunWriter to, RunReader from, size_t /*run_bytes*/, size_t runs) {
  for (size_t i = 0; i < runs; ++i) {
    std::memcpy(to.data, from.data, kBytes);
    to.data += to.stride_bytes;
    from.data += from.stride_bytes;
  }
}
template void CopyElements<4>(RunWriter, RunReader, size_t, size_t);
template void CopyElements<8>(RunWriter, RunReader, size_t, size_t);
template void CopyElements<16>(RunWriter, RunReader, size_t, size_t);

template <size_t kBytes>
void CopyBlocks(RunWriter to, RunReader from, size_t run_bytes, size_t runs) {
  const size_t last = run_bytes - kBytes;
  for (size_t i = 0; i < runs; ++i) {
    for (size_t k = 0; k < last; k += kBytes) std::memcpy(to.data + k, from.data + k, kBytes);
    std::memcpy(to.data + last, from.data + last, kBytes);
    to.data += to.stride_bytes;
    from.data += from.stride_bytes;
  }
}
template void CopyBlocks<4>(RunWriter, RunReader, size_t, size_t);
template void CopyBlocks<8>(RunWriter, RunReader, size_t, size_t);
template void CopyBlocks<16>(RunWriter, RunReader, size_t, size_t);
template void CopyBlocks<32>(RunWriter, RunReader, size_t, size_t);

void CopyByMemcpy(RunWriter to, RunReader from, size_t run_bytes, size_t runs) {
  for (size_t i = 0; i < runs; ++i) {
    CopyBytes(to.data, from.data, run_bytes);
    to.data += to.stride_bytes;
    from.data += from.stride_bytes;
  }
}

}  // namespace brigade
