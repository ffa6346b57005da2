#include "membuf/copy_bytes.h"

namespace brigade {

// All loads of a block come before its first store: a processor delays a load whose address seems
// to overlap an earlier store.
void CopyBytesByMoves(std::byte* to, const std::byte* from, size_t bytes) {
  struct Block {
    std::byte bytes[128];
  };
  for (; bytes >= sizeof(Block); bytes -= sizeof(Block)) {
    Block block;
    std::memcpy(&block, from, sizeof(block));
    std::memcpy(to, &block, sizeof(block));
    to += sizeof(Block);
    from += sizeof(Block);
  }
  if (bytes > 0) std::memcpy(to, from, bytes);
}

}  // namespace brigade
