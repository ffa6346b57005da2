// PostedBlocks: the posted buffers of the blocks of a gather, a scatter or an all-to-all, where
// ranks share memory. The receiver of a block posts its memory with the receive of each segment. A
// sender that finds it writes the rest of the block there, in the message of one segment: one copy
// in place of two. Segments that came before go through staging memory, and no rank waits for a
// buffer.

#ifndef BRIGADE_PATTERNS_ENGINE_POSTED_BLOCKS_H_
#define BRIGADE_PATTERNS_ENGINE_POSTED_BLOCKS_H_

#include <cstddef>

#include "membuf/byte_span.h"
#include "patterns/engine/pattern_call.h"
#include "transport/channel.h"
#include "transport/edge/edge_access.h"

namespace brigade {

class Engine;
struct GroupState;

class PostedBlocks {
 public:
  // Returns whether a call sends blocks, and to one rank only parts of one block: along the ring of
  // a gather or a scatter it sends several.
  static bool MayServe(const PatternCall& call) {
    const bool is_ring = call.topology.shape == Shape::kIncreasingRings;
    return IsBlocks(call.pattern) && !(IsRootedBlocks(call.pattern) && is_ring);
  }

  // Of calls that have none.
  PostedBlocks() = default;
  // `serves`: MayServe, and each message has one block.
  PostedBlocks(Engine* engine, const GroupState& group, ChannelKind channel, bool serves);

  // Posts a block for the message of the receive from `peer` that was posted last. False: the whole
  // message comes another way.
  bool Post(int peer, const Matrix& block) const {
    return edges_ != nullptr && edges_->PostBuffer(channel_, peer, block.layout, block.data);
  }
  // Sends `head`, and the bytes of a block from packed byte `from` on, to the buffer that `peer`
  // has posted. Counts the message and its copy. False: nothing is sent.
  bool Send(int peer, ConstByteSpan head, const Matrix& block, size_t from,
            OperationStatistics* did) const;
  // Returns whether the block's other rank is expected to post it, or to write to it. Ranks of a
  // call mostly have memory of one kind.
  bool Expects(int peer, const Matrix& block) const;

 private:
  Engine* engine_ = nullptr;
  EdgeAccess* edges_ = nullptr;  // null: the call has none
  Channel channel_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_POSTED_BLOCKS_H_
