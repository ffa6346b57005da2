//! Data that the members of a window share besides its memory: windows/sync,
//! windows/memory/member_page.h.

use litmus::*;

// Window::PutNotify (windows/core/window_operations.cc) and Inbox::Notify (windows/message/inbox.cc) increment one
// counter, Window::TakeNotifications (windows/core/window_synchronisation.cc) reads it.
fn notification_counter(m: Model) {
    type Shared = (AtomicU64, [Plain; 2]);
    let notify = move |(notified, memory): &Shared, i: usize| {
        memory[i].write(1);
        notified.fetch_add(1, m.order("notify", Release));
        true
    };
    let member = move |(notified, memory): &Shared| {
        if notified.load(m.order("take_notices", Acquire)) == 2 {
            assert_eq!(memory[0].read() + memory[1].read(), 2);
        }
        true
    };
    let shared = Arc::new((AtomicU64::new(0), [Plain::new(0), Plain::new(0)]));
    let first = move |s: &Arc<Shared>| notify(s, 0);
    let others = move |s: &Arc<Shared>| m.both(s.clone(), move |s| notify(s, 1), move |s| member(s)).0;
    m.both(shared, first, others);
}
litmus!(notification_counter, "Causality violation", notify take_notices);

const WAITS: u32 = 1;
const HOLDS: u32 = 2;

// ProcessLock::TryLock and Unlock, LockQueue::Release, Grant, Enter and Holds (windows/sync): two holders release a
// shared lock. The second one grants it to a waiter for an exclusive lock, which sees what both have written.
fn lock_queue(m: Model) {
    struct Table {
        queueing: AtomicU32,
        holders: Plain,
        waiter: AtomicU32,
        memory: [Plain; 2],
    }
    let release = move |t: &Table, i: usize| {
        t.memory[i].write(1);
        while t.queueing.compare_exchange(0, i as u32 + 1, m.order("try_lock", Acquire), Relaxed).is_err() {
            loom::thread::yield_now();
        }
        t.holders.write(t.holders.read() - 1);
        if t.holders.read() == 0 {
            t.holders.write(1);
            t.waiter.store(HOLDS, m.order("enter", Release));
        }
        t.queueing.store(0, m.order("unlock", Release));
        true
    };
    let waiter = move |t: &Table| {
        if t.waiter.load(m.order("look", Acquire)) == HOLDS {
            assert_eq!(t.memory[0].read() + t.memory[1].read(), 2);
            t.memory[0].write(2);
        }
        true
    };
    let table = Arc::new(Table {
        queueing: AtomicU32::new(0),
        holders: Plain::new(2),
        waiter: AtomicU32::new(WAITS),
        memory: [Plain::new(0), Plain::new(0)],
    });
    let first = move |t: &Arc<Table>| release(t, 0);
    let others = move |t: &Arc<Table>| m.both(t.clone(), move |t| release(t, 1), move |t| waiter(t)).0;
    m.both(table, first, others);
}
litmus!(lock_queue, "Causality violation", try_lock enter unlock look);

const ANSWERS: u64 = 1 << 63;

// Answering::BeginRequests, EndRequests, End and is_asked (windows/sync/answering.h): a member ends answering, and
// reuses its memory if no origin sends requests. In the mutant `uncounted`, an origin does not look
// at what its increment returns.
fn answering(m: Model) {
    let origin = move |(word, memory): &(AtomicU64, Plain)| {
        let begins = word.fetch_add(1, AcqRel) & ANSWERS != 0;
        if begins || m.is("uncounted") {
            memory.read();
        }
        word.fetch_sub(1, m.order("end_ask", Release));
        begins
    };
    let member = move |(word, memory): &(AtomicU64, Plain)| {
        word.fetch_and(!ANSWERS, AcqRel);
        if word.load(m.order("is_asked", Acquire)) & !ANSWERS == 0 {
            memory.write(2);
        }
        true
    };
    m.both((AtomicU64::new(ANSWERS), Plain::new(1)), origin, member);
}
litmus!(answering, "Causality violation", uncounted end_ask is_asked);
