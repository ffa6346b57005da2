//! Definitions that the models in tests/ share.

pub use loom::sync::atomic::Ordering::{self, *};
pub use loom::sync::atomic::{AtomicU32, AtomicU64};
pub use loom::sync::mpsc::channel;
pub use std::sync::Arc; // those of loom panic again while a panic of its ends

/// The memory orders of a model: those of the C++, except for one that a mutant weakens.
#[derive(Clone, Copy)]
pub struct Model {
    mutant: &'static str,
    is_swapped: bool,
}

impl Model {
    pub fn is(self, mutant: &str) -> bool {
        self.mutant == mutant
    }
    /// Returns `order`, or Relaxed in the mutant `name`.
    pub fn order(self, name: &str, order: Ordering) -> Ordering {
        assert!(!name.is_empty());
        if self.is(name) {
            Relaxed
        } else {
            order
        }
    }
    /// Executes a fence, or none in the mutant `name`.
    pub fn fence(self, name: &str, order: Ordering) {
        assert!(!name.is_empty());
        if !self.is(name) {
            loom::sync::atomic::fence(order);
        }
    }
    /// Runs `a` and `b` in two threads, and returns their results. loom begins its search with the first thread. It may
    /// miss executions, so `explore` swaps the threads.
    pub fn both<T: 'static, A, B>(self, shared: T, a: A, b: B) -> (bool, bool)
    where
        A: FnOnce(&T) -> bool + 'static,
        B: FnOnce(&T) -> bool + 'static,
    {
        let shared = Arc::new(shared);
        let others = shared.clone();
        if self.is_swapped {
            let thread = loom::thread::spawn(move || a(&others));
            let result = b(&shared);
            (thread.join().unwrap(), result)
        } else {
            let thread = loom::thread::spawn(move || b(&others));
            let result = a(&shared);
            (result, thread.join().unwrap())
        }
    }
}

/// Memory that is not atomic. loom panics if two accesses to it race.
pub struct Plain(loom::cell::UnsafeCell<u64>);

unsafe impl Sync for Plain {}

impl Plain {
    pub fn new(value: u64) -> Plain {
        Plain(loom::cell::UnsafeCell::new(value))
    }
    pub fn read(&self) -> u64 {
        self.0.with(|value| unsafe { *value })
    }
    pub fn write(&self, value: u64) {
        self.0.with_mut(|place| unsafe { *place = value })
    }
}

/// Runs all executions of `model` that loom finds, with and without a bound on preemptions: the two searches differ.
pub fn explore(model: fn(Model), mutant: &'static str) {
    for (is_swapped, bound) in [(false, None), (true, None), (false, Some(3)), (true, Some(3))] {
        let mut search = loom::model::Builder::new();
        search.preemption_bound = bound;
        search.check(move || model(Model { mutant, is_swapped }));
    }
}

/// The tests of a model: `holds`, and for each mutant that an execution of it ends with a panic that contains `fault`.
#[macro_export]
macro_rules! litmus {
    ($model:ident, $fault:literal, $($mutant:ident)+) => {
        mod $model {
            #[test]
            fn holds() {
                litmus::explore(super::$model, "");
            }
            $(#[test]
            #[should_panic(expected = $fault)]
            fn $mutant() {
                litmus::explore(super::$model, stringify!($mutant));
            })+
        }
    };
}
