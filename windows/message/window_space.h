// WindowSpace: the staging memory of all windows of an engine.
//
// Windows have four uses of staging memory: requests go out, requests land, replies go out, replies
// land. One chunk is kept for each use, so that no use waits for another. A reply has a receive
// buffer before it is requested, and data that lands was posted before it is announced. So every
// chunk comes back, whatever requests the ranks send at once. Beyond these chunks, windows take
// surplus chunks that are free.

#ifndef BRIGADE_WINDOWS_MESSAGE_WINDOW_SPACE_H_
#define BRIGADE_WINDOWS_MESSAGE_WINDOW_SPACE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/staged_buffer.h"

namespace brigade {

struct GroupState;

class WindowSpace final : private BufferOwner {
 public:
  enum class Use { kRequest, kRequestReceiveBuffer, kReply, kReplyReceiveBuffer };
  static constexpr int kUses = 4;

  // `engine` must outlive it. It waits for chunks that returned sends have, as sends wait for
  // memory. kOutOfMemory: staging memory has too few beside its core, or receivers give none
  // back.
  static Status Create(Engine* engine, std::unique_ptr<WindowSpace>* space);
  // REQUIRES: all windows are gone.
  ~WindowSpace();
  WindowSpace(const WindowSpace&) = delete;
  WindowSpace& operator=(const WindowSpace&) = delete;

  Engine* engine() const { return engine_; }
  // The capacity of each buffer.
  size_t segment_bytes() const { return engine_->options().chunk_bytes; }
  // Returns a buffer for data to or from a member of a group; to be given back to the engine's
  // buffers. Null: progress, then try again. A member that does not take its data holds about half
  // of a share at most. REQUIRES: the caller is the progress owner.
  StagedBuffer* Take(Use use, const GroupState* group, int peer);

 private:
  // Of one use, beyond the chunk that is kept for it.
  static constexpr int kMostExtra = 8;

  struct Share {
    ChunkRun kept;
    bool is_free = false;
    int extra = 0;  // on their way
  };

  struct Lent {
    StagedBuffer* buffer;
    const GroupState* group;
    int peer;
  };

  explicit WindowSpace(Engine* engine) : engine_(engine) {}
  bool KeepReserved(const ChunkRun& run) override;
  void OnReclaimed(const StagedBuffer& buffer) override;

  Engine* const engine_;
  Share shares_[kUses];
  std::vector<Lent> lent_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_WINDOW_SPACE_H_
