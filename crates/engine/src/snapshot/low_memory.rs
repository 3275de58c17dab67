//! The low nibbles of the codes of a block, in memory or in their file.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};

use cosift_kernels::{Layout, LowNibbles};
use parking_lot::RwLock;

use crate::disk::{Disk, FileError, Owner, PartsFile};
use crate::snapshot::vector_memory::{Kept, VectorMemory};

/// The low nibbles of the codes of a block: those of its records, then those of its later rows.
///
/// They are in memory until their file is written. They are read again once many candidates of searches had to do without
/// them, and stay in memory as long as the budget of [`VectorMemory`] allows it. Without them, bounds are wider, and pages the
/// same.
#[derive(Default)]
pub(super) struct LowMemory {
    low: RwLock<Option<Arc<[LowNibbles]>>>,
    /// Once it is set, low nibbles in memory are within the budget.
    file: OnceLock<LowFile>,
    /// Whether a search used them since [`Kept::was_used`] was last asked.
    used: AtomicBool,
    /// Candidates of searches that had to do without them since they were last read.
    missed: AtomicUsize,
    /// Set while they are read, and for good when the file is damaged.
    is_reading: AtomicBool,
}

/// The file of the codes of a block.
#[derive(Debug)]
pub(super) struct LowFile {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) owner: Owner,
    pub(super) layout: Layout,
    /// The records and the later rows of each of the codes.
    pub(super) rows: Vec<usize>,
    pub(super) memory: Arc<VectorMemory>,
}

/// Candidates that miss the low nibbles of 4,096 records before these are read. Each takes about 0.4 µs longer, because some
/// more exact vectors are compared; to read the low nibbles takes about 1 ms.
const CANDIDATES_OF_READ: usize = 2_048;

impl LowMemory {
    /// Low nibbles that are in no file.
    pub(super) fn new(low: Vec<LowNibbles>) -> Self {
        let memory = Self::default();
        *memory.low.write() = Some(low.into());
        memory
    }

    /// Low nibbles in a file.
    pub(super) fn in_file(file: LowFile) -> Arc<Self> {
        if file.layout.row_bytes() == 0 {
            let none = |&rows| LowNibbles::from_bytes(file.layout, rows, &[]);
            let none = file.rows.iter().map(none).collect::<Option<_>>();
            return Arc::new(Self::new(none.expect("there are no low nibbles")));
        }
        let memory = Self::default();
        // It has no file yet.
        let _ = memory.file.set(file);
        Arc::new(memory)
    }

    /// Lets the low nibbles be dropped from memory, because `file` has them. They stay if they are in use and there is room.
    pub(super) fn set_file(self: &Arc<Self>, file: LowFile) {
        let (memory, bytes) = (Arc::clone(&file.memory), file.bytes());
        let stay = self.used.load(Relaxed) && memory.make_room(bytes);
        let mut low = self.low.write();
        if self.file.set(file).is_err() {
            return;
        }
        if stay {
            memory.note_kept(bytes);
            drop(low);
            memory.add(&self.as_kept());
        } else {
            *low = None;
        }
    }

    pub(super) fn has_file(&self) -> bool {
        self.file.get().is_some()
    }

    /// The low nibbles, from memory or from their file.
    ///
    /// # Errors
    /// When the file cannot be read or is damaged.
    pub(super) fn get(&self) -> Result<Arc<[LowNibbles]>, FileError> {
        if let Some(low) = &*self.low.read() {
            return Ok(Arc::clone(low));
        }
        let file = self.file.get().expect("what is not in memory is in a file");
        file.read(&file.open()?)
    }

    /// Passes the low nibbles to a search that has this many candidates left, if they are in memory, or worth being read now.
    pub(super) fn pass_to(self: &Arc<Self>, candidates: usize, search: impl FnOnce(&[LowNibbles])) {
        // The lock is held while they are used, because that takes microseconds.
        if let Some(low) = &*self.low.read() {
            if !self.used.load(Relaxed) {
                self.used.store(true, Relaxed);
            }
            return search(low);
        }
        if let Some(low) = self.missed_by(candidates) {
            search(&low);
        }
    }

    /// Counts candidates that miss the low nibbles, and reads these when many do.
    #[cold]
    fn missed_by(self: &Arc<Self>, candidates: usize) -> Option<Arc<[LowNibbles]>> {
        let file = self.file.get()?;
        let missed = self.missed.fetch_add(candidates, Relaxed) + candidates;
        let is_due = missed >= CANDIDATES_OF_READ * file.rows.len();
        if !is_due || self.is_reading.swap(true, Relaxed) {
            return None;
        }
        let low = self.read(file);
        self.missed.store(0, Relaxed);
        // A damaged file is not read again: others would lose their room for nothing.
        let is_damaged = matches!(low, Err(FileError::Damaged { .. }));
        self.is_reading.store(is_damaged, Relaxed);
        low.ok()?
    }

    /// Reads the low nibbles and keeps them; `None` without room.
    fn read(self: &Arc<Self>, file: &LowFile) -> Result<Option<Arc<[LowNibbles]>>, FileError> {
        // Another thread may have read them just before.
        if let Some(low) = &*self.low.read() {
            return Ok(Some(Arc::clone(low)));
        }
        let opened = file.open()?;
        let (memory, bytes) = (&file.memory, file.bytes());
        if !memory.make_room(bytes) {
            return Ok(None);
        }
        memory.note_kept(bytes);
        let read = file.read(&opened);
        let low = read.inspect_err(|_| memory.note_dropped(bytes))?;
        *self.low.write() = Some(Arc::clone(&low));
        memory.add(&self.as_kept());
        Ok(Some(low))
    }

    fn as_kept(self: &Arc<Self>) -> Arc<dyn Kept> {
        Arc::clone(self) as _
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        let low = self.low.read();
        low.iter()
            .flat_map(|low| low.iter())
            .map(LowNibbles::memory_bytes)
            .sum()
    }
}

impl std::fmt::Debug for LowMemory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LowMemory").finish_non_exhaustive()
    }
}

impl Kept for LowMemory {
    fn was_used(&self) -> bool {
        self.used.swap(false, Relaxed)
    }

    fn take(&self) -> Box<dyn Send> {
        let mut held = self.low.write();
        let low = held.take();
        if let (Some(_), Some(file)) = (&low, self.file.get()) {
            file.memory.note_dropped(file.bytes());
        }
        Box::new(low)
    }
}

impl Drop for LowMemory {
    fn drop(&mut self) {
        self.take();
    }
}

impl LowFile {
    /// Bytes in memory once they are read.
    fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().sum();
        rows * self.layout.low_bytes()
    }

    fn open(&self) -> Result<PartsFile, FileError> {
        PartsFile::open(&*self.disk, &self.path, &self.owner)
    }

    fn read(&self, file: &PartsFile) -> Result<Arc<[LowNibbles]>, FileError> {
        let unfit = || file.damaged("codes of another length");
        if file.part_count() != 2 * self.rows.len() {
            return Err(unfit());
        }
        let parts = self.rows.iter().zip((1..).step_by(2));
        parts
            .map(|(&rows, part)| {
                let rest = file.read_part(part)?;
                LowNibbles::from_bytes(self.layout, rows, &rest).ok_or_else(unfit)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cosift_kernels::{Codec, FullCodes, Steps};

    use super::*;
    use crate::disk::{RealDisk, write_parts_file};

    const OWNER: Owner = [7; 16];
    const RECORDS: usize = 40;

    /// The number of records whose low nibbles a search gets.
    fn passed(low: &Arc<LowMemory>, candidates: usize) -> Option<usize> {
        let mut records = None;
        low.pass_to(candidates, |low| records = Some(low[0].records()));
        records
    }

    /// Full codes of a block, and the low nibbles in a file at `path`.
    fn written(path: &Path, memory: &Arc<VectorMemory>, are_used: bool) -> Arc<LowMemory> {
        let layout = Layout::new(64, 16, 16).expect("valid bands");
        let mut vector = vec![0.0; 64];
        vector[..4].fill(0.5);
        let codec = Codec::new(layout, Steps::train(&layout, &vector));
        let mut full = FullCodes::new(layout, RECORDS);
        (0..RECORDS).for_each(|slot| codec.encode(&vector, slot, &mut full));
        let rest = full.low.rest_bytes(&full.codes);
        write_parts_file(&RealDisk, path, &OWNER, &[b"head", &rest]).expect("written");
        let low = Arc::new(LowMemory::new(vec![full.low]));
        assert!(low.memory_bytes() > 0);
        if are_used {
            assert!(passed(&low, 1).is_some());
        }
        low.set_file(LowFile {
            disk: Arc::new(RealDisk),
            path: path.to_owned(),
            owner: OWNER,
            layout,
            rows: vec![RECORDS],
            memory: Arc::clone(memory),
        });
        low
    }

    #[test]
    fn they_are_read_once_searches_have_missed_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let memory = VectorMemory::new(1 << 20);
        let low = written(&directory.path().join("1.codes"), &memory, false);
        assert_eq!(low.memory_bytes(), 0);
        assert!(passed(&low, CANDIDATES_OF_READ / 2).is_none());
        assert!(passed(&low, CANDIDATES_OF_READ / 2 - 1).is_none());
        assert_eq!(passed(&low, 1), Some(RECORDS), "they are read");
        assert!(passed(&low, 1).is_some() && low.memory_bytes() > 0);
        memory.note_available(Some((1, 1_600)));
        assert_eq!(low.memory_bytes(), 0);
        assert!(low.get().is_ok(), "the file has them");
        assert!(passed(&low, CANDIDATES_OF_READ).is_none());
        memory.note_available(None);
        assert!(passed(&low, CANDIDATES_OF_READ).is_some());
        drop(low);
        assert!(
            memory.make_room(1 << 20),
            "a block that is gone takes no memory"
        );
    }

    #[test]
    fn searches_do_without_them_where_there_is_no_room_or_the_file_is_damaged() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("1.codes");
        let none = written(&path, &VectorMemory::new(0), true);
        assert_eq!(none.memory_bytes(), 0);
        assert!(passed(&none, CANDIDATES_OF_READ).is_none());
        let damaged = written(&path, &VectorMemory::new(1 << 20), false);
        let mut bytes = std::fs::read(&path).expect("read");
        *bytes.last_mut().expect("not empty") ^= 1;
        std::fs::write(&path, bytes).expect("written");
        assert!(passed(&damaged, CANDIDATES_OF_READ).is_none());
        assert!(damaged.get().is_err());
    }

    #[test]
    fn those_in_use_stay_when_their_file_is_written_and_threads_read_them_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let memory = VectorMemory::new(1 << 20);
        let low = written(&directory.path().join("1.codes"), &memory, true);
        assert!(low.memory_bytes() > 0);
        for _ in 0..50 {
            drop(low.take());
            assert!(memory.make_room(1 << 20), "nothing is in memory");
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        (0..8).for_each(|_| {
                            passed(&low, CANDIDATES_OF_READ / 2);
                        })
                    });
                }
            });
            assert!(low.memory_bytes() > 0);
        }
    }
}
