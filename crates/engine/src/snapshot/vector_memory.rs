//! What searches have read from files, kept in memory within one budget: exact vectors, and low nibbles of codes.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Weak};

use hashbrown::HashMap;
use parking_lot::{MappedRwLockReadGuard, Mutex, RwLock, RwLockReadGuard};

use crate::runtime::{available_memory, now_ms};

/// The budget of all databases of an engine.
#[derive(Debug)]
pub(crate) struct VectorMemory {
    max_bytes: usize,
    used_bytes: AtomicUsize,
    /// What is in memory. The first is the next that may be dropped.
    kept: Mutex<VecDeque<Weak<dyn Kept>>>,
    /// When the memory of the machine was last looked at, milliseconds since 1970.
    looked_at: AtomicU64,
    /// Whether the machine was short of memory then.
    is_scarce: AtomicBool,
}

/// The machine is short of memory when less than this part of it is available.
const SCARCE_PART: u64 = 16;

/// Milliseconds between two looks at the memory of the machine.
const LOOK_EVERY: u64 = 1_000;

/// What is kept of a file.
pub(super) trait Kept: std::fmt::Debug + Send + Sync {
    /// Whether it was used since the last call.
    fn was_used(&self) -> bool;

    /// Takes it out of memory and of the budget. To drop what is returned may take a while.
    fn take(&self) -> Box<dyn Send>;
}

impl VectorMemory {
    /// A budget of `max_bytes` bytes; 0 keeps nothing.
    pub(crate) fn new(max_bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            max_bytes,
            used_bytes: AtomicUsize::new(0),
            kept: Mutex::default(),
            looked_at: AtomicU64::new(0),
            is_scarce: AtomicBool::new(false),
        })
    }

    /// Drops everything when the machine is short of memory. Looks at most once a second.
    pub(crate) fn give_back_if_scarce(&self) {
        let now = now_ms() as u64;
        let looked_at = self.looked_at.load(Relaxed);
        let is_due = now.abs_diff(looked_at) >= LOOK_EVERY
            && self
                .looked_at
                .compare_exchange(looked_at, now, Relaxed, Relaxed)
                .is_ok();
        if is_due {
            self.note_available(available_memory());
        }
    }

    /// `memory` is the available memory of the machine and all of it, bytes; `None` where they are not known.
    pub(super) fn note_available(&self, memory: Option<(u64, u64)>) {
        let is_scarce = memory.is_some_and(|(available, all)| available < all / SCARCE_PART);
        self.is_scarce.store(is_scarce, Relaxed);
        if is_scarce {
            let kept = std::mem::take(&mut *self.kept.lock());
            kept.iter().filter_map(Weak::upgrade).for_each(|kept| {
                kept.take();
            });
        }
    }

    /// Whether `bytes` more can be kept. Drops what was not used lately to make room for them.
    pub(super) fn make_room(&self, bytes: usize) -> bool {
        if bytes > self.max_bytes || self.is_scarce.load(Relaxed) {
            return false;
        }
        let has_room = || self.used_bytes.load(Relaxed) + bytes <= self.max_bytes;
        if has_room() {
            return true;
        }
        let mut kept = self.kept.lock();
        let mut dropped = Vec::new();
        // Each is passed over at most once, because that clears `used`.
        for _ in 0..2 * kept.len() {
            if has_room() {
                break;
            }
            let Some(first) = kept.pop_front().and_then(|first| first.upgrade()) else {
                continue;
            };
            if first.was_used() {
                kept.push_back(Arc::downgrade(&first));
            } else {
                dropped.push(first.take());
            }
        }
        // What is dropped is freed without the lock, because it may be thousands of vectors.
        drop(kept);
        has_room()
    }

    /// Adds something that is in memory now, and may be dropped.
    pub(super) fn add(&self, kept: &Arc<dyn Kept>) {
        let mut all = self.kept.lock();
        all.retain(|kept| kept.strong_count() > 0);
        all.push_back(Arc::downgrade(kept));
    }

    /// Notes that `bytes` more are in memory, for which there was room.
    pub(super) fn note_kept(&self, bytes: usize) {
        self.used_bytes.fetch_add(bytes, Relaxed);
    }

    /// Notes that `bytes` are no longer in memory.
    pub(super) fn note_dropped(&self, bytes: usize) {
        self.used_bytes.fetch_sub(bytes, Relaxed);
    }
}

/// The vectors of a file that are in memory, by their rows.
#[derive(Debug)]
pub(super) struct KeptVectors {
    memory: Arc<VectorMemory>,
    rows: RwLock<HashMap<usize, Box<[i32]>>>,
    /// Whether a vector was used since the file was last considered for dropping.
    used: AtomicBool,
}

impl KeptVectors {
    pub(super) fn new(memory: &Arc<VectorMemory>) -> Arc<Self> {
        Arc::new(Self {
            memory: Arc::clone(memory),
            rows: RwLock::default(),
            used: AtomicBool::new(false),
        })
    }

    /// Whether `bytes` more can be kept; see [`VectorMemory::make_room`].
    pub(super) fn make_room(&self, bytes: usize) -> bool {
        self.memory.make_room(bytes)
    }

    /// The vector of a row, if it is in memory. Hold the guard for a short time: others wait to keep vectors.
    pub(super) fn get(&self, row: usize) -> Option<MappedRwLockReadGuard<'_, [i32]>> {
        let rows = self.rows.read();
        let vector = RwLockReadGuard::try_map(rows, |rows| rows.get(&row).map(Box::as_ref)).ok()?;
        if !self.used.load(Relaxed) {
            self.used.store(true, Relaxed);
        }
        Some(vector)
    }

    /// Keeps vectors by their rows, for which there is room.
    pub(super) fn keep<'a>(self: &Arc<Self>, vectors: impl Iterator<Item = (usize, &'a [i32])>) {
        let mut rows = self.rows.write();
        let is_first = rows.is_empty();
        for (row, vector) in vectors {
            if rows.insert(row, vector.into()).is_none() {
                self.memory.note_kept(size_of_val(vector));
            }
        }
        drop(rows);
        if is_first {
            let kept: Arc<dyn Kept> = Arc::clone(self) as _;
            self.memory.add(&kept);
        }
    }

    /// The number of vectors in memory.
    pub(super) fn len(&self) -> usize {
        self.rows.read().len()
    }
}

impl Kept for KeptVectors {
    fn was_used(&self) -> bool {
        self.used.swap(false, Relaxed)
    }

    fn take(&self) -> Box<dyn Send> {
        let rows = std::mem::take(&mut *self.rows.write());
        let bytes = rows.values().map(|vector| size_of_val(&**vector)).sum();
        self.memory.note_dropped(bytes);
        Box::new(rows)
    }
}

impl Drop for KeptVectors {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VECTOR: [i32; 4] = [1, 2, 3, 4];

    fn keep(file: &Arc<KeptVectors>, row: usize) -> bool {
        let has_room = file.make_room(size_of_val(&VECTOR));
        if has_room {
            file.keep(std::iter::once((row, &VECTOR[..])));
        }
        has_room
    }

    #[test]
    fn vectors_of_files_that_are_not_used_make_room_for_others() {
        let memory = VectorMemory::new(3 * size_of_val(&VECTOR));
        let files = [(); 3].map(|()| KeptVectors::new(&memory));
        assert!(keep(&files[0], 7) && keep(&files[1], 0) && keep(&files[1], 1));
        assert_eq!(files[0].get(7).as_deref(), Some(&VECTOR[..]));
        assert!(files[0].get(8).is_none());
        assert!(keep(&files[2], 0));
        assert_eq!(files.each_ref().map(|file| file.len()), [1, 0, 1]);
        drop(files);
        assert_eq!(memory.used_bytes.load(Relaxed), 0);
    }

    #[test]
    fn nothing_is_kept_without_room_or_while_the_machine_is_short_of_memory() {
        let none = KeptVectors::new(&VectorMemory::new(0));
        assert!(!keep(&none, 0));
        let memory = VectorMemory::new(1 << 20);
        let file = KeptVectors::new(&memory);
        assert!(keep(&file, 0));
        memory.note_available(Some((99, 1_600)));
        assert_eq!((file.len(), keep(&file, 1)), (0, false));
        memory.note_available(Some((100, 1_600)));
        assert!(keep(&file, 1));
    }
}
