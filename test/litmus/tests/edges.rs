//! Messages between two ranks of a host: transport/edge, and the status words of zero-copy reads (patterns/protocol).

use litmus::*;

// OutRing::IsFree and Publish, InRing::Peek and GiveBack (transport/edge/inline_ring.h): two inline messages in a ring of
// one slot.
fn inline_ring(m: Model) {
    let sender = move |(full, empty, payload): &(AtomicU32, AtomicU32, Plain)| {
        for stamp in 1..=2 {
            if empty.load(m.order("is_free", Acquire)) != stamp - 1 {
                return false;
            }
            payload.write(stamp.into());
            full.store(stamp, m.order("publish", Release));
        }
        true
    };
    let receiver = move |(full, empty, payload): &(AtomicU32, AtomicU32, Plain)| {
        for stamp in 1..=2 {
            if full.load(m.order("peek", Acquire)) != stamp {
                return false;
            }
            assert_eq!(payload.read(), u64::from(stamp));
            empty.store(stamp, m.order("give_back", Release));
        }
        true
    };
    m.both((AtomicU32::new(0), AtomicU32::new(0), Plain::new(0)), sender, receiver);
}
litmus!(inline_ring, "Causality violation", is_free publish peek give_back);

// InEdge::GiveBack of a segment, OutEdge::Receipt::given, Sends::FinishStream (transport/shm/sends.cc): a sender that
// sees `released` sees the `empty` stored before it, and reuses the chunk.
fn released_segments(m: Model) {
    let sender = move |(empty, released, chunk): &(AtomicU32, AtomicU64, Plain)| {
        if released.load(m.order("released", Acquire)) == 1 {
            assert_eq!(empty.load(Acquire), 1, "lost: the sender does not look at this receipt again");
            chunk.write(2);
        }
        true
    };
    let receiver = move |(empty, released, chunk): &(AtomicU32, AtomicU64, Plain)| {
        assert_eq!(chunk.read(), 1);
        empty.store(1, Release);
        released.store(1, m.order("give_back", Release));
        true
    };
    m.both((AtomicU32::new(0), AtomicU64::new(0), Plain::new(1)), sender, receiver);
}
litmus!(released_segments, "lost", released give_back);

// PostedBuffer: `state` of message `number`, as by StateOf; `memory` holds an address, here which of `places`.
const POSTED: u64 = 0;
const CLAIMED: u64 = 1;
fn state_of(number: u64, state: u64) -> u64 {
    (number + 1) << 1 | state
}
struct PostedBuffer {
    state: AtomicU64,
    memory: Plain,
    places: [Plain; 2],
    full: AtomicU32,
}
impl PostedBuffer {
    fn new() -> PostedBuffer {
        let places = [Plain::new(0), Plain::new(0)];
        PostedBuffer { state: AtomicU64::new(0), memory: Plain::new(0), places, full: AtomicU32::new(0) }
    }
    fn place(&self) -> &Plain {
        &self.places[self.memory.read() as usize]
    }
    fn set(&self, number: u64, state: u64, order: Ordering) {
        self.state.store(state_of(number, state), order);
    }
    // The relaxed loads before the exchanges in C++ only save exchanges, and are left out here.
    fn swap(&self, number: u64, from: u64, to: u64, order: Ordering) -> bool {
        self.state.compare_exchange(state_of(number, from), state_of(number, to), order, Relaxed).is_ok()
    }
    fn post(&self, m: Model, number: u64, place: u64) {
        self.memory.write(place);
        self.set(number, POSTED, m.order("post", Release));
    }
    // The acquire load before the exchange is left out.
    fn withdraw(&self, m: Model) -> bool {
        self.state.compare_exchange(state_of(0, POSTED), 0, m.order("withdraw", AcqRel), Relaxed).is_ok()
    }
}

// PostedBuffer::Post, Withdraw, Claim and Unclaim, OutEdge::SendToPostedBuffer (transport/edge): two messages into
// posted buffers. The receiver posts a second buffer after the first message, or withdraws the first and writes
// it.
fn posted_buffer(m: Model) {
    let sender = move |l: &PostedBuffer| {
        for number in 0..2 {
            if !l.swap(number, POSTED, CLAIMED, m.order("claim", AcqRel)) {
                return false;
            }
            l.place().write(10 + number);
            l.full.store(number as u32 + 1, m.order("publish", Release));
        }
        true
    };
    let receiver = move |l: &PostedBuffer| {
        l.post(m, 0, 0);
        if l.full.load(m.order("peek", Acquire)) == 1 {
            assert_eq!(l.places[0].read(), 10);
            l.post(m, 1, 1);
            if l.full.load(m.order("peek", Acquire)) == 2 {
                assert_eq!(l.places[1].read(), 11);
            }
        } else if l.withdraw(m) {
            l.places[0].write(99);
        }
        true
    };
    m.both(PostedBuffer::new(), sender, receiver);
}
litmus!(posted_buffer, "Causality violation", post claim publish peek);

// The same if the sender's copy fails: PostedBuffer::Unclaim posts the buffer again, with part of the message in it.
fn failed_copy(m: Model) {
    let sender = move |l: &PostedBuffer| {
        if l.swap(0, POSTED, CLAIMED, m.order("claim", AcqRel)) {
            l.place().write(10);
            l.set(0, POSTED, m.order("give_back", Release));
        }
        true
    };
    let receiver = move |l: &PostedBuffer| {
        l.post(m, 0, 0);
        if l.withdraw(m) {
            l.places[0].write(99);
            l.post(m, 1, 1);
        }
        true
    };
    m.both(PostedBuffer::new(), sender, receiver);
}
litmus!(failed_copy, "Causality violation", post claim give_back withdraw);

// Doorbell::Signal, Arm, Sleep and Wake (transport/edge/doorbell.h, doorbell.cc) if both sides fence, as ThreadFence does without
// membarrier (transport/host/thread_fence.h). `full` is the message.
fn doorbell_with_fences(m: Model) {
    let sender = move |(full, asleep): &(AtomicU32, AtomicU32)| {
        full.store(1, Release);
        m.fence("ring", SeqCst);
        asleep.load(Relaxed) != 0 && asleep.swap(0, AcqRel) != 0
    };
    let receiver = move |(full, asleep): &(AtomicU32, AtomicU32)| {
        asleep.store(1, SeqCst);
        m.fence("arm", SeqCst);
        full.load(Acquire) == 0
    };
    let (wakes, sleeps) = m.both((AtomicU32::new(0), AtomicU32::new(0)), sender, receiver);
    assert!(wakes || !sleeps, "lost: the receiver sleeps, and has a message");
}
litmus!(doorbell_with_fences, "lost", ring arm);

// The same with membarrier: the sender's code has no fence. The receiver's system call interrupts the sender at one of
// three points, and returns when the interrupt handler has executed its fence.
fn doorbell_with_membarrier(m: Model) {
    for point in 0..3 {
        let (interrupt, interrupts) = channel();
        let (acknowledge, acknowledged) = channel();
        let is_registered = !m.is("no_membarrier");
        let sender = move |(full, asleep): &(AtomicU32, AtomicU32)| {
            let at = |here| {
                if here == point && is_registered {
                    interrupts.recv().unwrap();
                    loom::sync::atomic::fence(SeqCst);
                    acknowledge.send(()).unwrap();
                }
            };
            at(0);
            full.store(1, Release);
            at(1);
            let wakes = asleep.load(Relaxed) != 0 && asleep.swap(0, AcqRel) != 0;
            at(2);
            wakes
        };
        let receiver = move |(full, asleep): &(AtomicU32, AtomicU32)| {
            if !m.is("armed_late") {
                asleep.store(1, SeqCst);
            }
            if is_registered {
                interrupt.send(()).unwrap();
                acknowledged.recv().unwrap();
            }
            if m.is("armed_late") {
                asleep.store(1, SeqCst);
            }
            full.load(Acquire) == 0
        };
        let (wakes, sleeps) = m.both((AtomicU32::new(0), AtomicU32::new(0)), sender, receiver);
        assert!(wakes || !sleeps, "lost: the receiver sleeps, and has a message");
    }
}
litmus!(doorbell_with_membarrier, "lost", no_membarrier armed_late);

// ZeroCopyAgreement::Step.
const LEFT: u64 = 1;
const OFFERS: u64 = 2;
fn word_of(call: u64, step: u64) -> u64 {
    call << 3 | step
}

// ZeroCopyAgreement::Withdraw and Await: after a failed call, the caller of the owner writes its memory while other ranks
// may read it. A rank that has read a new value sees that the owner has left. The race is intended, so the memory is
// atomic.
fn withdrawn_memory(m: Model) {
    let owner = move |(word, memory): &(AtomicU64, AtomicU64)| {
        word.store(word_of(1, LEFT), Release);
        m.fence("withdraw", Release);
        memory.store(2, Relaxed);
        true
    };
    let reader = move |(word, memory): &(AtomicU64, AtomicU64)| {
        let value = memory.load(Relaxed);
        m.fence("read", Acquire);
        let counts = word.load(Acquire) == word_of(1, OFFERS);
        assert!(value == 1 || !counts, "lost: a value counts that was written after the call");
        counts
    };
    m.both((AtomicU64::new(word_of(1, OFFERS)), AtomicU64::new(1)), owner, reader);
}
litmus!(withdrawn_memory, "lost", withdraw read);
