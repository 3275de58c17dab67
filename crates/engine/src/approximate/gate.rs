//! Turns between those who read something and the one who changes it.

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Readers pass together, a change passes alone.
///
/// Nobody starves: readers who came during a change go before the next one, and a change that waits goes before
/// readers who come later. A standard read-write lock would let a thread that changes things all the time barge in
/// before the readers it woke.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    turns: Mutex<Turns>,
    moved: Condvar,
}

#[derive(Debug, Default)]
struct Turns {
    reading: usize,
    /// Readers who wait for a change to end.
    held_up: usize,
    /// A change is under way or next.
    changing: bool,
}

impl Gate {
    /// Runs `read` beside other readers and no change.
    pub(crate) fn read<T>(&self, read: impl FnOnce() -> T) -> T {
        let mut turns = self.lock();
        if turns.changing {
            turns.held_up += 1;
            turns = self.wait_while(turns, |turns| turns.changing);
            turns.held_up -= 1;
            if turns.held_up == 0 {
                self.moved.notify_all();
            }
        }
        turns.reading += 1;
        drop(turns);
        let _left = Left(|| {
            self.lock().reading -= 1;
            self.moved.notify_all();
        });
        read()
    }

    /// Runs `change` beside nobody. One thread changes things.
    pub(crate) fn change<T>(&self, change: impl FnOnce() -> T) -> T {
        let mut turns = self.wait_while(self.lock(), |turns| turns.held_up > 0);
        turns.changing = true;
        drop(self.wait_while(turns, |turns| turns.reading > 0));
        let _left = Left(|| {
            self.lock().changing = false;
            self.moved.notify_all();
        });
        change()
    }

    fn lock(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock()
    }

    fn wait_while<'a>(
        &self,
        mut turns: MutexGuard<'a, Turns>,
        busy: impl Fn(&Turns) -> bool,
    ) -> MutexGuard<'a, Turns> {
        self.moved.wait_while(&mut turns, |turns| busy(turns));
        turns
    }
}

/// Gives the place free, after a panic too.
struct Left<F: Fn()>(F);

impl<F: Fn()> Drop for Left<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::SeqCst;
    use std::sync::atomic::{AtomicBool, AtomicUsize};

    use super::*;

    #[test]
    fn a_change_is_alone() {
        let gate = Gate::default();
        let (readers, changing) = (AtomicUsize::new(0), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..2_000 {
                        gate.read(|| {
                            readers.fetch_add(1, SeqCst);
                            assert!(!changing.load(SeqCst), "beside a change");
                            readers.fetch_sub(1, SeqCst);
                        });
                    }
                });
            }
            for _ in 0..2_000 {
                gate.change(|| {
                    assert!(!changing.swap(true, SeqCst), "beside another change");
                    assert_eq!(readers.load(SeqCst), 0, "beside a reader");
                    changing.store(false, SeqCst);
                });
            }
        });
    }

    #[test]
    fn a_panic_gives_the_place_free() {
        let gate = Gate::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            gate.read(|| panic!("on purpose"))
        }));
        assert!(panicked.is_err());
        gate.change(|| ());
        gate.read(|| ());
    }
}
