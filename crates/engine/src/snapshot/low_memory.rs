//! The low nibbles of the codes of a block, which are in memory while searches need them.

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
/// They are in memory until their file is written. Then they are read from it when searches have compared many exact vectors
/// for the lack of them, and stay in memory as long as the budget of [`VectorMemory`] allows it. Without them, bounds are
/// wider, and pages the same.
#[derive(Default)]
pub(super) struct LowMemory {
    low: RwLock<Option<Arc<[LowNibbles]>>>,
    /// Once it is set, low nibbles in memory are within the budget.
    file: OnceLock<LowFile>,
    /// Whether they were used since they were last considered for dropping.
    used: AtomicBool,
    /// Candidates that were left without low nibbles since they were last looked for.
    candidates: AtomicUsize,
    is_loading: AtomicBool,
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

/// To compare the exact vectors of so many candidates takes as long as to read the low nibbles of a block.
const CANDIDATES_OF_READ: usize = 2_048;

impl LowMemory {
    /// Low nibbles that are in no file.
    pub(super) fn new(low: Vec<LowNibbles>) -> Self {
        let memory = Self::default();
        *memory.low.write() = Some(low.into());
        memory
    }

    /// Low nibbles in a file.
    pub(super) fn in_file(file: LowFile) -> Self {
        if !file.has_any() {
            let none = |&rows| LowNibbles::from_bytes(file.layout, rows, &[]);
            return Self::new(file.rows.iter().filter_map(none).collect());
        }
        let memory = Self::default();
        memory.set_file(file);
        memory
    }

    /// Drops the low nibbles from memory, because `file` has them.
    pub(super) fn set_file(&self, file: LowFile) {
        let mut low = self.low.write();
        if file.has_any() && self.file.set(file).is_ok() {
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
        file.read()
    }

    /// The low nibbles for a search that has this many candidates left, if they are in memory or worth being read now.
    pub(super) fn for_candidates(self: &Arc<Self>, candidates: usize) -> Option<Arc<[LowNibbles]>> {
        if let Some(low) = &*self.low.read() {
            if !self.used.load(Relaxed) {
                self.used.store(true, Relaxed);
            }
            return Some(Arc::clone(low));
        }
        let before = self.candidates.fetch_add(candidates, Relaxed);
        if before + candidates < CANDIDATES_OF_READ || self.is_loading.swap(true, Relaxed) {
            return None;
        }
        self.candidates.store(0, Relaxed);
        let low = self.load();
        self.is_loading.store(false, Relaxed);
        low
    }

    /// Reads the low nibbles and keeps them, if there is room. Where the file cannot be read, searches do without them.
    fn load(self: &Arc<Self>) -> Option<Arc<[LowNibbles]>> {
        let file = self.file.get()?;
        if !file.memory.make_room(file.bytes()) {
            return None;
        }
        let low = file.read().ok()?;
        let mut held = self.low.write();
        *held = Some(Arc::clone(&low));
        file.memory.note_kept(file.bytes());
        drop(held);
        let kept: Arc<dyn Kept> = Arc::clone(self) as _;
        file.memory.add(&kept);
        Some(low)
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
    /// Whether the codes have low nibbles.
    fn has_any(&self) -> bool {
        self.layout.row_bytes() > 0
    }

    /// Bytes in memory once they are read.
    fn bytes(&self) -> usize {
        let rows: usize = self.rows.iter().sum();
        rows * self.layout.low_bytes()
    }

    fn read(&self) -> Result<Arc<[LowNibbles]>, FileError> {
        let file = PartsFile::open(&*self.disk, &self.path, &self.owner)?;
        let parts = self.rows.iter().zip((1..).step_by(2));
        parts
            .map(|(&rows, part)| {
                let rest = file.read_part(part)?;
                LowNibbles::from_bytes(self.layout, rows, &rest)
                    .ok_or_else(|| file.damaged("codes of another length"))
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

    /// Full codes of a block, and the low nibbles in a file at `path`.
    fn written(path: &Path, memory: &Arc<VectorMemory>) -> Arc<LowMemory> {
        let layout = Layout::new(64, 16, 16).expect("valid bands");
        let mut vector = vec![0.0; 64];
        vector[..4].fill(0.5);
        let codec = Codec::new(layout, Steps::train(&layout, &vector));
        let mut full = FullCodes::new(layout, RECORDS);
        (0..RECORDS).for_each(|slot| codec.encode(&vector, slot, &mut full));
        let rest = full.low.rest_bytes(&full.codes);
        write_parts_file(&RealDisk, path, &OWNER, &[b"head", &rest]).expect("written");
        let low = Arc::new(LowMemory::new(vec![full.low]));
        assert!(low.for_candidates(1).is_some() && low.memory_bytes() > 0);
        low.set_file(LowFile {
            disk: Arc::new(RealDisk),
            path: path.to_owned(),
            owner: OWNER,
            layout,
            rows: vec![RECORDS],
            memory: Arc::clone(memory),
        });
        assert_eq!(low.memory_bytes(), 0);
        low
    }

    #[test]
    fn they_are_read_once_searches_have_missed_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let memory = VectorMemory::new(1 << 20);
        let low = written(&directory.path().join("1.codes"), &memory);
        assert!(low.for_candidates(CANDIDATES_OF_READ / 2).is_none());
        assert!(low.for_candidates(CANDIDATES_OF_READ / 2 - 1).is_none());
        let read = low.for_candidates(1).expect("they are read");
        assert_eq!(read[0].records(), RECORDS);
        assert!(low.for_candidates(1).is_some() && low.memory_bytes() > 0);
        memory.note_available(Some((1, 1_600)));
        assert_eq!(low.memory_bytes(), 0);
        assert!(low.get().is_ok(), "the file has them");
        assert!(low.for_candidates(CANDIDATES_OF_READ).is_none());
        memory.note_available(None);
        assert!(low.for_candidates(CANDIDATES_OF_READ).is_some());
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
        let none = written(&path, &VectorMemory::new(0));
        assert!(none.for_candidates(CANDIDATES_OF_READ).is_none());
        let damaged = written(&path, &VectorMemory::new(1 << 20));
        let mut bytes = std::fs::read(&path).expect("read");
        *bytes.last_mut().expect("not empty") ^= 1;
        std::fs::write(&path, bytes).expect("written");
        assert!(damaged.for_candidates(CANDIDATES_OF_READ).is_none());
        assert!(damaged.get().is_err());
    }
}
