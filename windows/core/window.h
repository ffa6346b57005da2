// Window: memory that each member of a group exposes to the others, which work on it without a call
// of its owner. The C++ interface of one-sided communication; <brigade/window.h> is the C one.
//
// The parts: Epochs and EpochCounters (which epochs are open, and which events end them), Router
// (how each member's memory is reached), DirectAccess (load and store, copies by the kernel,
// mailboxes) and MessageAccess (messages that the member's engine carries out, in a call of its
// owner or by the progress thread).
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
#include <vector>

#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/fork_watch.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"
#include "windows/core/direct_access.h"
#include "windows/core/epoch_counters.h"
#include "windows/core/epochs.h"
#include "windows/core/message_access.h"
#include "windows/core/router.h"
#include "windows/core/window_options.h"
#include "windows/core/window_wait.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/exposed_memory.h"
#include "windows/memory/target_memory.h"
#include "windows/message/rma_frame.h"
#include "windows/message/rma_request.h"
#include "windows/message/served_window.h"
#include "windows/message/window_messages.h"
#include "windows/message/window_space.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/open_accesses.h"

namespace brigade {

// More than 25 public methods: about half are MPI's calls on a window; the others serve the shims
// and the products.
class Window final : private Engine::Listener {
 public:
  // Collective over the members of `bootstrap` alone. `space` must outlive it. After a failure,
  // which all members get, there is none. kInvalidArgument, kOutOfMemory, kUnavailable
  // (not in one piece), and the failures of Group::Create.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options,
                       std::unique_ptr<Window>* window);
  // Local. Unless it was freed, left, abandoned or is broken, it is aborted on all members.
  ~Window() override;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  // Collective: blocks until no rank works on this window. kInvalidArgument: an epoch is open, and
  // the window is not broken. Does nothing if the window is freed already.
  Status Free();
  // The same without a wait, for a window of which this rank has nothing under way: others still
  // reach its memory until HasEnded(). Nothing but that, Abandon and the destructor may follow.
  // kInvalidArgument: locks are held.
  Status Leave();
  // Unlocks all that this rank has locked. Before the Free of a window that the program does not
  // free: ranks that come later may still use the window.
  Status EndLocks();
  // Looks, and does not wait: whether all ranks have left the window, or it is broken.
  bool HasEnded();
  // At the end of a process, which must not wait: the destructor sends no message from here on.
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
  int64_t bytes_of(int rank) const { return static_cast<int64_t>(router_.member(rank).bytes); }
  int64_t unit_of(int rank) const { return router_.member(rank).unit; }
  // Of the transports that carry messages. Their name is that of all of them, such as "shm+mpi".
  const Capabilities& capabilities() const { return group_->capabilities(); }
  // Whether this rank reaches a member's memory without messages: the caller's memory is its own
  // again when a call returns, but for short gets between fences.
  bool reaches(int rank) const { return router_.direct(rank) != nullptr; }
  // Whether all ranks reach all memory so. The same on all.
  bool is_direct() const { return router_.is_direct(); }
  // Whether PointerTo finds all memory on all ranks, and whether a progress thread of each rank
  // carries out requests. The same on all.
  bool all_are_mapped() const { return router_.all_are_mapped(); }
  bool all_answer() const { return router_.all_answer(); }
  bool is_dynamic() const { return exposed_->attributes().kind == WindowMemory::kDynamic; }
  // Where this process sees a member's memory; null: it does not.
  std::byte* PointerTo(int rank) const;

  // --- dynamic windows ---
  // Makes memory reachable, at displacements that are its addresses. Local. kInvalidArgument, and
  // nothing happens: it is no dynamic window, or the memory overlaps what is attached. Memory of no
  // bytes is detached like any other.
  Status Attach(const std::byte* memory, size_t bytes);
  // REQUIRES: no operation works on it. kInvalidArgument: nothing that is attached begins there.
  Status Detach(const std::byte* memory);

  // --- operations ---
  // Each returns kInvalidArgument, and does nothing, if no epoch is open for the target, if the
  // bytes of both sides differ, or if the target's do not lie in its memory. An operation waits for
  // no other member, unless a target's engine is behind with this rank's requests, or a target has
  // not yet emptied its mailbox of a fence that this rank has left. Memory of the caller must stay
  // valid and, unless it is only read, untouched until the next call that completes the operation,
  // or until `*over` is set, which Progress does.

  // Returns kInvalidArgument if the window cannot carry the request out in any epoch, and finds its
  // `offset` and `element`. Memory that is reached by messages may not be attached to a dynamic
  // window all the same: the target finds that out, and breaks the window.
  Status Check(RmaRequest* request);
  // Begins an operation of any kind. One whose `end` is kNotification needs no epoch: the target
  // can wait for it.
  Status Run(RmaRequest* request);

  Status Put(const OriginData& origin, const TargetData& target, std::atomic<bool>* over = nullptr,
             bool fence_follows = false);
  Status Get(const OriginData& result, const TargetData& target, std::atomic<bool>* over = nullptr);
  // Both sides consist of one and the same element, for which `op` is defined.
  Status Accumulate(CombineOp op, const OriginData& origin, const TargetData& target,
                    std::atomic<bool>* over = nullptr);
  // `result` gets the old values. `origin` is not looked at if `op` is kNoOp.
  Status GetAccumulate(CombineOp op, const OriginData& origin, const OriginData& result,
                       const TargetData& target, std::atomic<bool>* over = nullptr);
  // Of one element. `value`, of kNoOp, may be null.
  Status FetchAndOp(CombineOp op, Element element, const void* value, void* result, int rank,
                    int64_t displacement, std::atomic<bool>* over = nullptr);
  // If the old value equals `expected`, bit by bit, `desired` replaces it. REQUIRES: an element of
  // at most eight bytes.
  Status CompareAndSwap(Element element, const void* expected, const void* desired, void* result,
                        int rank, int64_t displacement, std::atomic<bool>* over = nullptr);
  Status PutNotify(const OriginData& origin, const TargetData& target,
                   std::atomic<bool>* over = nullptr);

  // Returns the failure that broke the window, as far as this rank knows it.
  Status failure() const { return group_->failure(); }
  // Returns what `call()`, which uses the window, returns. If the process has no memory left
  // meanwhile, breaks the window: other ranks may wait for the rest of the call.
  template <typename Call>
  Status CatchOutOfMemory(const Call& call) {
    Status outcome;
    const Status thrown = brigade::CatchOutOfMemory([&] {
      outcome = call();
      return Status();
    });
    if (!thrown.ok()) return wait_->Break(thrown);
    return outcome;
  }

  // Moves what is under way.
  Status Progress();
  // Blocks until an operation's memory is the caller's again.
  Status WaitFor(const std::atomic<bool>& over);
  // Blocks until what another member writes to memory makes `over` true. `what` is waited for.
  Status WaitForMemory(const char* what, const std::function<bool()>& over);

  // Collective: `mine` of every rank, in rank order, in `all` (size() * bytes). `bytes` is equal on
  // all ranks, and a few hundred. Memory that a rank has written before it is seen by all behind
  // it; requests before it may be under way. `look`, if it is not empty, is called about once a
  // second while ranks are waited for, and may use the window. Its failure breaks the window.
  using Look = std::function<Status()>;
  Status AllGather(const void* mine, size_t bytes, void* all, const Look& look = Look());

  // --- synchronisation ---
  // Each completes what its epoch has begun. After kInvalidArgument, a call out of order, nothing
  // happened. After any other failure the window is broken, on all members.

  // Collective. All ranks see behind it what any rank has done before it.
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
  // The caller promises that meanwhile no rank holds, or requests, a lock that conflicts: they only
  // open the epoch, and do not wait.
  Status LockUnchecked(int target);
  Status LockAllUnchecked();
  Status UnlockAll();
  // All requests to a target are done there. Within a lock.
  Status Flush(int target);
  Status FlushAll();
  // The memory of the caller that takes part is its own again.
  Status FlushLocal(int target);
  Status FlushLocalAll();
  // Makes visible to each other what this process and others have written.
  Status Sync();

  // Takes `count` notifications of `source`, waiting for them.
  Status NotifyWait(int source, uint64_t count = 1);
  // Takes them if they are there.
  Status NotifyTest(int source, uint64_t count, bool* taken);

  // Layouts that were described to other ranks so far.
  uint64_t layouts_sent() const { return messages_->outbox().layouts_sent(); }
  // Requests to a member that are under way here.
  size_t under_way(int rank) const { return messages_->outbox().under_way(rank); }

 private:
  Window(std::unique_ptr<Group> group, OtherThreads* others);

  Engine* engine() const { return group_->engine(); }
  GroupState* state() const { return group_->state(); }
  // All collective.
  Status Expose(WindowSpace* space, Bootstrap* bootstrap, const WindowOptions& options,
                std::vector<MemberAttributes>* members);
  Status ExposePart(Bootstrap* bootstrap, const WindowOptions& options);
  Status OpenTargets(Bootstrap* bootstrap, WindowOptions options,
                     std::vector<MemberAttributes> members);
  // From here on a progress thread carries out requests to this rank.
  void Listen();
  // Makes what costs this rank something once others have wanted it: a progress thread, which takes
  // time from ranks that share its processor, and memory for mailboxes.
  void GiveWhatIsWanted();
  void OnProgressThread(bool answers) override;

  // `change`s what is attached.
  template <typename Change>
  Status ChangeAttached(const Change& change);
  // Carries out a request that was checked.
  Status RunDirectly(const RmaRequest& request);
  // The same on private memory, which alone has mailboxes and may take a message to the target.
  Status RunOnPrivate(const RmaRequest& request);

  // The checking mode, of operations of this rank on its own memory, which alone are direct then.
  Status CheckOwn(const RmaRequest& request);
  void EndOwn(FlushedPart part);

  Status EndFence(const FencePromise& promise, bool meets_by_flags);
  Status MeetByFlags();
  // Wakes a member that sleeps until a flag is set, behind which it is called.
  void WakeIfAsleep(int member);
  // Blocks until a member has set a flag here, or its control message has come. REQUIRES: the
  // caller has a ProgressGuard.
  template <typename Over>
  Status UntilSignalled(const char* what, const Over& over);

  // REQUIRE: the caller has a ProgressGuard.
  Status EndExposure();
  Status BeginLock(LockKind kind, int target);
  Status AwaitLock(int target);
  Status EndLock(int target, MessageAccess::Flush* flush);
  // Collective. Blocks until all requests of others are carried out, and those of this rank are
  // sent.
  Status AwaitAllRequests();
  Status SendFences();
  // The number of requests of all to this rank.
  Status SumRequests(uint64_t* of_me);
  // Whether that is done: the fences of all have come, or as many requests as were sent.
  bool IsDone(uint64_t asked) const;
  bool HasNotifications(int source, uint64_t count) const;
  bool TakeNotifications(int source, uint64_t count);
  // For calls that need not wait, but may be repeated until another rank has done something.
  Status LookNowAndThen();

  const ForkWatch fork_watch_;
  std::optional<WindowWait> wait_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<ExposedMemory> exposed_;
  ServedWindow served_;
  Router router_;
  Epochs epochs_;
  EpochCounters counters_;
  std::optional<DirectAccess> direct_access_;
  std::optional<MessageAccess> message_access_;
  std::unique_ptr<WindowMessages> messages_;
  std::vector<uint64_t> grants_used_;         // by target
  std::vector<uint64_t> notifications_used_;  // by source
  uint32_t calls_without_look_ = 0;
  bool may_leave_early_ = false;  // a fence, before others have left it; the same on all
  bool listens_ = false;
  bool is_freed_ = true;  // or not yet made
  bool is_abandoned_ = false;
  std::vector<const std::byte*> attached_without_bytes_;
  Memory* kept_ = nullptr;  // takes the memory when this is destroyed
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_CORE_WINDOW_H_
