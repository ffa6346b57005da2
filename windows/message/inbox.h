// Inbox: the requests that other ranks send to one rank's window. Requests of one rank are carried
// out in order; requests of several ranks, in the order in which they can be.

#ifndef BRIGADE_WINDOWS_MESSAGE_INBOX_H_
#define BRIGADE_WINDOWS_MESSAGE_INBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/staged_buffer.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/layout_names.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/message_context.h"
#include "windows/message/rma_frame.h"
#include "windows/message/served_window.h"
#include "windows/message/unstaged_data.h"

namespace brigade {

class Inbox {
 public:
  // Both must outlive it.
  Inbox(MessageContext* context, ServedWindow* window);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // A frame with a request has come.
  Status Take(int from, const RmaFrame& message);
  Status Advance(bool* any);
  bool has_work() const { return !busy_.empty(); }

  // Requests done so far, of one origin.
  uint64_t done_for(int origin) const { return origins_[static_cast<size_t>(origin)].done; }
  // The group is closed: gives everything back.
  void Drop();

 private:
  struct Entry {
    RmaFrame message;
    // Of a segment: where it lands.
    bool in_place = false;
    bool is_answered = false;  // old values go back
    int64_t place = 0;
    bool posted = false;
    ReceiveSlot slot;
    StagedBuffer* reply = nullptr;
  };
  // The request that segments belong to.
  struct Request {
    RmaHeader header;
    std::optional<TypedLayout> layout;
    std::optional<LayoutCursor> at;
    std::optional<UnstagedData> unstaged;  // a reply that goes so
    std::vector<std::byte> serial;         // of kLayout
  };
  struct Origin {
    std::deque<Entry> entries;
    RmaHeader announced;          // the last request that has come
    int64_t announced_bytes = 0;  // of its segments that have
    Request request;              // that is being done
    bool is_begun = false;        // it is one that takes more than one step
    uint64_t done = 0;
  };
  // The outcome of a step. kHasMoved: a part is done, and the rest must wait.
  enum class Step { kDone, kHasMoved, kMustWait };

  Origin& OriginOf(int rank) { return origins_[static_cast<size_t>(rank)]; }
  Status CheckSegment(int from, Origin* origin, Entry* entry);
  Status PostReceiveBuffers(int from, Origin* origin, bool* any);
  // Whether it is a request from behind a fence in which this rank still is.
  bool IsEarly(const RmaHeader& header) const;
  // Whether other segments are arriving on the place of this one.
  bool IsTaken(const Entry& entry) const;
  // Whether a segment can land elsewhere first.
  bool FitsIntoBuffer(const Entry& entry) const;
  Status DoFirst(int from, Origin* origin, Step* step);
  Status BeginRequest(int from, Origin* origin, const RmaFrame& message, Step* step);
  Status DoSegment(int from, Origin* origin, Entry* entry, Step* step);
  // Combines what has come with the window; what was there goes to `old`, if that is not null.
  void Combine(Request* request, const std::byte* data, int64_t bytes, std::byte* old);
  // The checking mode: whether other accesses are open to what a request reads or writes.
  Status CheckConflicts(int from, const Request& request, int64_t count);
  // The request of an origin that is being done is done.
  void EndRequest(int from, Origin* origin);
  void Notify(int from);
  Status Swap(int from, const RmaFrame& message);
  Status EndLayout(int from, Request* request);
  Status Lock(int from, const RmaHeader& header);
  Status Unlock(int from, const RmaHeader& header);
  // Of an answer to the first request of an origin: whether another leaves at once behind it.
  Urgency UrgencyBehind(const Origin& origin) const;
  // Sends an answer, behind which its receiver may wait for the next.
  Status SendAnswer(int origin, const RmaFrame& message, Urgency urgency);
  Status Answer(int to, RmaKind kind, uint32_t token);
  Status AnswerInline(int to, uint32_t token, const std::byte* data, int64_t bytes);
  // Sends the rest of the values that a request reads, as far as it can go now.
  Status Reply(int from, Request* request, Step* step);
  Status ReplyUnstaged(Request* request, Step* step);
  Status ReplyThroughStaging(int from, Request* request, Step* step);

  MessageContext* const context_;
  ServedWindow* const window_;
  KnownLayouts layouts_;
  StridedLayout memory_;  // all of the window
  std::vector<Origin> origins_;
  std::vector<int> busy_;  // origins of whom something is to be done
  // The place of each segment that is arriving in the window: offset and bytes.
  std::vector<std::pair<int64_t, int64_t>> arriving_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MESSAGE_INBOX_H_
