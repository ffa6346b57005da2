// Window: memory that each member of a group exposes to the others, who work on it without a call
// of its owner. The C++ face of one-sided communication; <brigade/window.h> is the C one.
//
// What it does to a member's memory goes one of three ways: straight to memory that this process
// maps, by the kernel to private memory of the same host, or by messages, which the member's engine
// carries out, be it driven by its owner or by the helper thread. Short puts into such private
// memory are letters, which the member reads where the epoch ends. What the kernel does block by
// block a member that answers is asked for instead, and the call waits until it is done.
//
// A window is used by one thread at a time; while its call waits another may be let in
// (WindowOptions::others). Its calls are made within epochs, as MPI has them:
// between fences, between start and complete, or while a lock is held. Accumulates, also fetching
// ones and swaps, are atomic per element against each other, and those of one origin to one target
// take place in order; puts and gets are neither. Sums of several origins are in the order of their
// arrival.
//
// Sources: MPI-3.1, chapter 11; MPI/SX, sections 2 and 3.

#ifndef BRIGADE_WINDOWS_CORE_WINDOW_H_
#define BRIGADE_WINDOWS_CORE_WINDOW_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"
#include "windows/core/epochs.h"
#include "windows/core/other_threads.h"
#include "windows/core/window_wait.h"
#include "windows/elements/accumulate.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/exposed_memory.h"
#include "windows/memory/letters.h"
#include "windows/memory/member.h"
#include "windows/memory/member_page.h"
#include "windows/memory/target_memory.h"
#include "windows/message/note.h"
#include "windows/message/outgoing.h"
#include "windows/message/served_window.h"
#include "windows/message/window_messages.h"
#include "windows/message/window_space.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

struct WindowOptions {
  // Of kProcess an epoch is open from the beginning on, as behind a fence.
  WindowMemory kind = WindowMemory::kPrivate;
  // kPrivate: what is exposed; if it lies in one of SharedAllocations, others reach it as they do
  // shared memory. kShared: it is made.
  std::byte* memory = nullptr;
  size_t bytes = 0;  // may differ by rank; kProcess, kDynamic: ignored
  int64_t unit = 1;  // of displacements, in bytes; may differ by rank
  // Of shared memory: what members have lies in a row, in the order of their ranks, which must be
  // of one host. Equal on all ranks.
  bool in_one_piece = false;
  // Whether memory that can be reached without messages is.
  bool goes_directly = true;
  // kPrivate: whether operations may be short, or have many short blocks. On one host short puts
  // are letters then, where the kernel would take longer, and a helper of the owner does what has
  // many blocks. Equal on all ranks.
  bool has_short_blocks = true;
  // Whether operations that must not meet break the window if they do, with kMismatch, which names
  // them. One rank that says so suffices. All goes by messages then, but for what others map by
  // PointerTo, and FlushLocal waits for targets.
  bool is_checked = false;
  // Must outlive the window. Null: the process has one thread that uses windows.
  OtherThreads* others = nullptr;
};

// Values in a member's memory.
struct TargetData {
  int rank = 0;
  int64_t displacement = 0;  // in the target's units
  TypedLayout layout;
  int64_t count = 0;
};

// What a caller promises of a fence, as in MPI. Wrong promises have undefined results.
struct FencePromise {
  bool nothing_precedes = false;  // no epoch ends here; equal on all ranks
  bool nothing_succeeds = false;  // no epoch begins here; equal on all ranks
};

class Window final : private Engine::Listener {
 public:
  // Collective over the members of `bootstrap` and nobody else. `space` must outlive it. After a
  // failure, which all members get, there is none. kInvalidArgument, kOutOfMemory, kUnavailable
  // (not in one piece), and what Group::Create says.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options,
                       std::unique_ptr<Window>* window);
  // Local. Unless it was freed, left, abandoned or is broken, it is aborted on all members.
  ~Window() override;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  // Collective: returns when nobody works on this window any more. kInvalidArgument: an epoch is
  // open.
  Status Free();
  // The same without a wait, for a window of which this rank has nothing under way: others still
  // reach its memory until HasEnded(). Nothing but that, Abandon and the destructor may follow.
  // kInvalidArgument: locks are held.
  Status Leave();
  // Looks, and does not wait: whether all ranks have left the window, or it is broken.
  bool HasEnded();
  // At the end of a process, which waits for nobody: the destructor sends no message from here on.
  void Abandon() { is_abandoned_ = true; }
  // The destructor, but for the memory of all members, which stays where this process sees it until
  // the result is destroyed.
  struct Memory {
    std::unique_ptr<ExposedMemory> exposed;
    std::vector<std::unique_ptr<TargetMemory>> targets;
  };
  static Memory End(std::unique_ptr<Window> window);

  int rank() const { return group_->rank(); }
  int size() const { return group_->cols(); }
  std::byte* base() const { return exposed_->base(); }
  // Of a member.
  int64_t bytes_of(int rank) const { return static_cast<int64_t>(member(rank).bytes); }
  int64_t unit_of(int rank) const { return member(rank).unit; }
  // The names of the transports that carry messages, to all and to one other member.
  const char* transport() const { return group_->transport(); }
  const char* transport_to(int rank) const;
  // Whether this rank reaches a member's memory by itself, and not by messages: what a call wants
  // of the caller's memory is done when the call returns, but for short gets between fences.
  bool reaches(int rank) const { return direct(rank) != nullptr; }
  // Whether all ranks reach all memory so. The same on all.
  bool is_direct() const { return is_direct_; }
  // Whether a fence takes one round of messages. The same on all.
  bool has_short_fences() const { return all_tell() && may_leave_early_; }
  bool is_dynamic() const { return exposed_->attributes().kind == WindowMemory::kDynamic; }
  // Where this process sees a member's memory; null: it does not.
  std::byte* PointerTo(int rank) const;

  // --- dynamic windows ---
  // What is attached can be reached, at displacements that are its addresses. Local.
  // kInvalidArgument, and nothing happens: it is no dynamic window, or the memory overlaps what is
  // attached.
  Status Attach(const std::byte* memory, size_t bytes);
  // REQUIRES: nobody works on it. kInvalidArgument: nothing that is attached begins there.
  Status Detach(const std::byte* memory);

  // Whether an operation of so many bytes may have this target, and where it begins in the memory.
  // kInvalidArgument. What is not attached to a dynamic window that is reached by messages is only
  // found there, and breaks the window.
  Status Check(const TargetData& target, int64_t origin_bytes, int64_t* offset);

  // --- operations ---
  // Each returns kInvalidArgument, and does nothing, if no epoch is open for the target, if the
  // bytes of both sides differ, or if the target's do not lie in its memory. No other member is
  // waited for, but where a target's engine is behind with what this rank has asked of it, or where
  // a target still reads letters of a fence that this rank has left. Memory
  // of the caller must stay valid and, unless it is only read, untouched until the next call that
  // completes it, or until `*over` is set, which Progress does.

  // `fence_follows`: the caller's next fence comes soon. Short data may go along with what that
  // sends, where a helper sends them if it is late.
  Status Put(const OriginData& origin, const TargetData& target, std::atomic<bool>* over = nullptr,
             bool fence_follows = false);
  Status Get(const OriginData& result, const TargetData& target, std::atomic<bool>* over = nullptr);
  // Both sides consist of one and the same element, for which `op` is defined.
  Status Accumulate(AccumulateOp op, const OriginData& origin, const TargetData& target,
                    std::atomic<bool>* over = nullptr);
  // `result` gets what was there before. `origin` is not looked at if `op` is kNoOp.
  Status GetAccumulate(AccumulateOp op, const OriginData& origin, const OriginData& result,
                       const TargetData& target, std::atomic<bool>* over = nullptr);
  // Of one element. `value`, of kNoOp, may be null.
  Status FetchAndOp(AccumulateOp op, Element element, const void* value, void* result, int rank,
                    int64_t displacement, std::atomic<bool>* over = nullptr);
  // If what is there equals `expected`, bit by bit, `desired` replaces it. REQUIRES: an element of
  // at most eight bytes.
  Status CompareAndSwap(Element element, const void* expected, const void* desired, void* result,
                        int rank, int64_t displacement, std::atomic<bool>* over = nullptr);
  // A put, and behind it a notification that the target can wait for. Needs no epoch of the target.
  Status PutNotify(const OriginData& origin, const TargetData& target,
                   std::atomic<bool>* over = nullptr);

  // What has broken it, as far as this rank has heard.
  Status failure() const { return group_->failure(); }

  // Moves what is under way.
  Status Progress();
  // Until an operation's memory is the caller's again.
  Status WaitFor(const std::atomic<bool>& over);
  // Until what another member writes to memory makes `over` say yes. `what` is waited for.
  Status WaitForMemory(const char* what, const std::function<bool()>& over);

  // Collective: `mine` of every rank, in rank order, in `all` (size() * bytes). `bytes` is equal on
  // all ranks, and a few hundred. For those who agree on what they do to memory: what a rank has
  // written before it is seen by all behind it, but what it has asked for need not be done.
  // `look`, if it is not empty, is called about once a second while ranks are waited for, and may
  // use the window. Its failure breaks the window.
  using Look = std::function<Status()>;
  Status AllGather(const void* mine, size_t bytes, void* all, const Look& look = Look());

  // --- synchronisation ---
  // Each completes what its epoch has begun. After kInvalidArgument, a call out of order, nothing
  // happened. After any other failure the window is broken, on all members.

  // Collective. What was done before it, by anybody, is seen by all behind it.
  Status Fence(const FencePromise& promise = FencePromise());

  Status Start(const std::vector<int>& targets);
  Status Complete();
  Status Post(const std::vector<int>& origins);
  Status Wait();
  Status Test(bool* over);

  Status Lock(LockKind kind, int target);
  Status Unlock(int target);
  // A shared lock of all.
  Status LockAll();
  // The caller promises that meanwhile nobody holds, or asks for, a lock that conflicts: they only
  // open the epoch, and wait for nobody.
  Status LockUnchecked(int target);
  Status LockAllUnchecked();
  Status UnlockAll();
  // All that was asked of a target is done there. Within a lock.
  Status Flush(int target);
  Status FlushAll();
  // The memory of the caller that takes part is its own again.
  Status FlushLocal(int target);
  Status FlushLocalAll();
  // What this process and others have written becomes visible to each other.
  Status Sync();

  // Takes `count` notifications of `source`, waiting for them.
  Status NotifyWait(int source, uint64_t count = 1);
  // Takes them if they are there.
  Status NotifyTest(int source, uint64_t count, bool* taken);

  // Layouts that were described to other ranks so far.
  uint64_t layouts_told() const { return messages_->outbox().layouts_told(); }
  // Requests to a member that are under way here. An operation that would make it more than
  // kMostUnderWay waits.
  size_t under_way(int rank) const { return messages_->outbox().under_way(rank); }
  static constexpr size_t kMostUnderWay = 256;
  // Requests behind which an operation waits until their target has done them.
  static constexpr size_t kMostUnflushed = 8192;

 private:
  Window(std::unique_ptr<Group> group, OtherThreads* others);

  Engine* engine() const { return group_->engine(); }
  GroupState* state() const { return group_->state(); }
  const MemberAttributes& member(int rank) const { return members_[static_cast<size_t>(rank)]; }
  // How this rank reaches a member by itself; null: by messages.
  const TargetMemory* direct(int rank) const { return direct_[static_cast<size_t>(rank)]; }
  // Likewise, whether or not it may work on the memory by itself.
  const TargetMemory* opened(int rank) const { return targets_[static_cast<size_t>(rank)].get(); }
  // Whether the kernel reaches it on behalf of this rank, and all of it is memory.
  bool IsPrivate(int rank) const {
    return direct(rank) != nullptr && direct(rank)->mapped() == nullptr &&
           member(rank).kind == WindowMemory::kPrivate;
  }
  // All collective.
  Status Expose(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options);
  Status ExposePart(Bootstrap* bootstrap, const WindowOptions& options);
  Status OpenTargets(Bootstrap* bootstrap, const WindowOptions& options);
  // From here on a helper does what this rank is asked for.
  void Listen();
  // What costs this rank it has where others have wanted it, and not before: a helper, which those
  // pay for who share its processor, and memory for letters.
  void GiveWhatIsWanted();
  void OnHelper(bool answers) override;

  Status CheckAttached(const TargetData& target, int64_t offset);
  // `change`s what is attached.
  template <typename Change>
  Status ChangeAttached(const Change& change);
  Status CheckRank(int rank) const;
  Status Ask(NoteKind kind, AccumulateOp op, Element element, const OriginData& send,
             const OriginData& receive, const TargetData& target, int64_t offset, AccessEnd end,
             std::atomic<bool>* over, bool fence_follows = false);
  // The same, of the driver.
  Status AskInTurn(NoteKind kind, AccumulateOp op, Element element, const OriginData& send,
                   const OriginData& receive, const TargetData& target, int64_t offset,
                   AccessEnd end, std::atomic<bool>* over, bool fence_follows);
  // A short while, for where a put is to land that goes straight.
  void LookForPlaces(int target);
  // Whether what is held is sent although this rank makes no call.
  bool IsSentLater() const;
  // Of memory that this rank reaches: whether the kernel would do it block by block, and long, and
  // a helper of its owner is to be asked.
  bool IsScattered(NoteKind kind, const TargetData& target) const;
  // What is scattered so is asked for, if the target answers, and done when this returns: *is_done.
  // Otherwise nothing happens.
  Status AskIfScattered(NoteKind kind, AccumulateOp op, Element element, const OriginData& send,
                        const OriginData& receive, const TargetData& target, int64_t offset,
                        bool* is_done);
  Status Combine(AccumulateOp op, const OriginData& origin, const OriginData* result,
                 const TargetData& target, std::atomic<bool>* over);
  Status CombineDirectly(AccumulateOp op, Element element, const OriginData& origin,
                         const OriginData* result, const TargetData& target, int64_t offset);
  // Writes what is short to memory that this rank does not see, in an epoch without locks, as a
  // letter. Otherwise nothing happens.
  bool PutByLetter(const OriginData& origin, const TargetData& target, int64_t offset);
  // Asks for what is short in memory that this rank does not see, between fences, by letter, where
  // ranks are few and share no processor: the fence takes a second round then. Otherwise nothing
  // happens.
  bool GetByLetter(const OriginData& result, const TargetData& target, int64_t offset);
  // What has gone to a member by letter goes there by itself, and what was asked for comes.
  Status DeliverLetters(int target);
  // Until a member's memory is as past fences have left it.
  Status AwaitLettersRead(int target);
  Status PutAt(const OriginData& origin, const TargetData& target, int64_t offset, AccessEnd end,
               std::atomic<bool>* over, bool fence_follows);
  Status AddNote(int target, NoteKind kind, uint32_t token = 0, uint8_t op = 0);

  // The checking mode, of what this rank does to its own memory: nothing else is direct then.
  bool is_checked() const { return served_.checked.has_value(); }
  Status CheckOwn(Access::Kind kind, AccumulateOp op, Element element, const TargetData& target,
                  int64_t offset, AccessEnd end);
  void EndOwn(FlushedPart part);

  // The outcome of work on memory that is reached directly: a failure breaks the window.
  Status Reached(int target, const Status& outcome);
  Status Broken(const Status& status);

  // Members that all see each other's pages say there, by a store in each, and not by notes,
  // that they have come to a fence, posted, or completed.
  Status EndFence(const FencePromise& promise, bool meets_in_pages);
  Status MeetInPages();
  // `counts`: how often it was said to each.
  void SayInPages(std::atomic<uint64_t> MemberPage::Told::*what, const std::vector<int>& members,
                  std::vector<uint64_t>* counts);
  // Behind what this rank has said.
  void WakeIfAsleep(int member);
  // Of the driver, in a turn: until a member has said something here, or has told it by a note.
  template <typename Over>
  Status UntilSaid(const char* what, const Over& over);
  bool HasPosted(int target) const;
  bool HasCompleted(int origin) const;

  // Of the driver.
  Status EndExposure();
  Status AwaitRoom(int target);
  Status TakeLock(ProcessLock* lock);  // of anybody
  Status AwaitProcessLock(ProcessLock* lock);
  Status BeginLock(LockKind kind, int target);
  Status AwaitLock(int target);
  // What is to be awaited by AwaitFlush. Another thread may ask for more meanwhile.
  struct Asked {
    uint32_t token = 0;     // 0: nothing
    uint32_t before = 0;    // the last that had come when it was asked
    uint64_t requests = 0;  // that are done then
  };
  Asked AsksAs(int target, uint32_t token) const;
  Status EndLock(int target, Asked* asked);
  Status AskFlush(int target, FlushedPart part, Asked* asked);
  Status AwaitFlush(int target, const Asked& asked);
  bool IsFlushed(int target, const Asked& asked) const;
  Status AwaitLocally(int target);
  // Collective, in no turn. All that anybody has asked of this rank is done, and all that it has
  // asked is sent.
  Status AwaitAllAsked();
  // Collective, in no turn, with a look as AllGather has it.
  Status RunWithLooks(const PatternCall& call, const Look& look);
  // Whether each tells each other that it is in a fence; otherwise all add up what they have asked.
  bool all_tell() const;
  // Tells all others that this rank is in a fence, behind what it has asked of them.
  Status TellOfFence();
  // How much all have asked of this rank.
  Status AddUpAsked(uint64_t* of_me);
  // Whether that is done: what all have told of, or as much as they have asked.
  bool IsDone(uint64_t asked) const;
  uint32_t NextToken();
  bool TakeNotices(int source, uint64_t count);

  std::optional<WindowWait> wait_;
  std::unique_ptr<Group> group_;
  std::vector<MemberAttributes> members_;
  std::unique_ptr<ExposedMemory> exposed_;
  std::vector<std::unique_ptr<TargetMemory>> targets_;
  std::vector<const TargetMemory*> direct_;
  bool is_direct_ = true;         // every rank reaches every other by itself; the same on all
  bool some_are_direct_ = false;  // some rank reaches another so; the same on all
  bool speaks_in_pages_ = false;  // as all do: whoever waits looks there
  bool may_leave_early_ = false;  // a fence, before others have left it; the same on all
  bool has_short_blocks_ = true;  // as the options say
  bool may_be_asked_ = false;     // for what the kernel could do here
  bool listens_ = false;
  bool is_helped_ = false;          // while this rank makes no call
  std::optional<Letters> letters_;  // none: there are none; the same on all
  ServedWindow served_;
  std::unique_ptr<WindowMessages> messages_;
  Epochs epochs_;

  // What this rank has said in pages.
  uint64_t fences_ = 0;
  std::vector<uint64_t> posts_;             // by origin
  std::vector<uint64_t> completes_;         // by target
  std::vector<uint64_t> posts_taken_;       // by target: starts
  std::vector<uint64_t> completes_taken_;   // by origin: waits
  std::vector<uint64_t> grants_taken_;      // by target
  std::vector<uint64_t> notices_taken_;     // by source
  std::vector<uint64_t> requests_flushed_;  // by target
  uint32_t last_token_ = 0;
  bool is_freed_ = true;  // or not yet made
  bool is_abandoned_ = false;
  Memory* kept_ = nullptr;  // takes the memory when this is destroyed
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_H_
