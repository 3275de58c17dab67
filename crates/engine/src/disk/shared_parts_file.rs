//! A parts file that is read at any time, and is open only while few other files were opened more recently.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use crate::disk::file_error::FileError;
use crate::disk::interface::Disk;
use crate::disk::parts_file::PartsFile;
use crate::disk::parts_writer::Owner;
use crate::runtime::{RecentlyUsed, max_open_files};

/// The open files. The limit is one of the process, so that all engines share it.
static OPEN: LazyLock<RecentlyUsed<State>> =
    LazyLock::new(|| RecentlyUsed::new((max_open_files() / 8).clamp(MIN_OPEN, MAX_OPEN)));

/// An eighth of the files that the process may have open, within these bounds: 128 where the limit is 1,024. The larger one
/// is enough for the blocks of 16 million records.
const MIN_OPEN: usize = 64;
const MAX_OPEN: usize = 4_096;

/// A parts file, opened when it is read.
#[derive(Debug)]
pub(crate) struct SharedPartsFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    owner: Owner,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    file: Mutex<Option<Arc<PartsFile>>>,
    /// Whether the file must stay open, because its path is or will be that of another file or of none.
    kept: AtomicBool,
}

impl SharedPartsFile {
    /// The file at `path` on `disk`, made from `owner`.
    pub(crate) fn at(disk: &Arc<dyn Disk>, path: PathBuf, owner: Owner) -> Self {
        Self {
            disk: Arc::clone(disk),
            path,
            owner,
            state: Arc::default(),
        }
    }

    /// Bytes of the file; 0 where it is missing.
    pub(crate) fn length(&self) -> u64 {
        self.disk.length(&self.path).unwrap_or(0)
    }

    /// The open file.
    ///
    /// # Errors
    /// As [`PartsFile::open`].
    pub(crate) fn get(&self) -> Result<Arc<PartsFile>, FileError> {
        let mut file = self.state.file.lock();
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        let opened = Arc::new(PartsFile::open(&*self.disk, &self.path, &self.owner)?);
        *file = Some(Arc::clone(&opened));
        drop(file);
        note_open(&OPEN, &self.state);
        Ok(opened)
    }

    /// Keeps the file open until it is dropped. Call this before the file is removed or renamed. A file that cannot be
    /// opened stays closed: later reads fail.
    pub(crate) fn keep_open(&self) {
        self.state.kept.store(true, Relaxed);
        let _ = self.get();
    }

    /// The error of a part whose content does not match.
    pub(crate) fn damaged(&self, what: &'static str) -> FileError {
        FileError::damaged(&self.path, what)
    }
}

/// Notes a file that was opened, and closes the one that was opened longest ago if too many are open.
fn note_open(open: &RecentlyUsed<State>, state: &Arc<State>) {
    if let Some(oldest) = open.note(state) {
        let mut file = oldest.file.lock();
        if !oldest.kept.load(Relaxed) {
            *file = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::disk::{RealDisk, write_parts_file};

    const OWNER: Owner = [7; 16];

    /// Files with their number as their only part.
    fn files(directory: &Path, count: u8) -> Vec<SharedPartsFile> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let make = |number| {
            let path = directory.join(format!("{number}"));
            write_parts_file(&*disk, &path, &OWNER, &[&[number]]).expect("written");
            let file = SharedPartsFile::at(&disk, path, OWNER);
            file.get().expect("opened");
            file
        };
        (0..count).map(make).collect()
    }

    fn is_open(file: &SharedPartsFile) -> bool {
        file.state.file.lock().is_some()
    }

    fn part_of(file: &SharedPartsFile) -> Vec<u8> {
        file.get().expect("opened").read_part(0).expect("read")
    }

    #[test]
    fn files_that_were_opened_last_stay_open_and_the_others_open_again() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = files(directory.path(), 5);
        let open = RecentlyUsed::new(2);
        for file in &files[..4] {
            note_open(&open, &file.state);
        }
        assert_eq!(
            files[..4].iter().map(is_open).collect::<Vec<_>>(),
            [false, false, true, true]
        );
        for (number, file) in files.iter().enumerate() {
            assert_eq!(part_of(file), [number as u8]);
        }
    }

    #[test]
    fn a_file_that_is_kept_is_read_after_its_removal() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = files(directory.path(), 3);
        let open = RecentlyUsed::new(1);
        files[0].keep_open();
        for file in &files {
            std::fs::remove_file(&file.path).expect("removed");
            note_open(&open, &file.state);
        }
        assert_eq!(part_of(&files[0]), [0]);
        assert!(files[1].get().is_err(), "it was closed");
    }

    #[test]
    fn a_file_of_another_owner_at_the_path_is_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = files(directory.path(), 1);
        *files[0].state.file.lock() = None;
        write_parts_file(&RealDisk, &files[0].path, &[8; 16], &[&[0]]).expect("written");
        assert!(matches!(files[0].get(), Err(FileError::Damaged { .. })));
    }
}
