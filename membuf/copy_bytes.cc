#include "membuf/copy_bytes.h"

namespace brigade {

// What is loaded next may lie where the last store seems to, too, for which a processor waits; so
// all of a block is loaded before any of it is stored.
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
