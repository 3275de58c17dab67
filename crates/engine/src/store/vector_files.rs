//! The files that have the vectors of blocks that are full, or were in memory when the database was closed: written once,
//! named by the table `vector_files`, in `vectors/` beside the main file.
//!
//! A file is synced before a transaction names it, and removed after a transaction has dropped its name and the log was moved
//! into the main file. So a file that no transaction names is left over from a process that ended, and is removed.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use crate::disk::{Disk, FileError, Owner, TEMPORARY, create_directories, write_parts_file};
use crate::store::vector_file::{VectorFile, layout_bytes};

/// The extension of the files.
const VECTORS: &str = "vectors";

/// The vector files of a store.
#[derive(Debug)]
pub(crate) struct VectorFiles {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    owner: OnceLock<Owner>,
    /// Those that a block or a read of the store has.
    files: Mutex<HashMap<u64, Weak<VectorFile>>>,
    /// Those that were written for the store to name them. Locked while files are removed.
    unnamed: Mutex<HashSet<u64>>,
    /// Held while a commit is read, whose files must stay.
    pin: Arc<()>,
}

/// The vector files while a commit is read. None is removed meanwhile.
#[derive(Debug)]
pub(crate) struct PinnedFiles {
    files: Arc<VectorFiles>,
    _pin: Arc<()>,
}

impl Deref for PinnedFiles {
    type Target = VectorFiles;

    fn deref(&self) -> &VectorFiles {
        &self.files
    }
}

impl VectorFiles {
    /// The files of the store `owner` whose main file is `path`. When a database is opened again, they are those of its readers
    /// of before, whose reads keep files.
    pub(super) fn of(disk: &Arc<dyn Disk>, path: &Path, owner: Owner) -> Arc<Self> {
        static KNOWN: Mutex<Vec<Weak<VectorFiles>>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock();
        known.retain(|files| files.strong_count() > 0);
        let found = known.iter().filter_map(Weak::upgrade).find(|files| {
            files.owner.get() == Some(&owner)
                && files.directory == directory_of(path)
                && Arc::ptr_eq(&files.disk, disk)
        });
        if let Some(files) = found {
            // Those of a writer that has ended.
            files.unnamed.lock().clear();
            return files;
        }
        let files = Self::beside(disk, path);
        files.belong_to(|| Some(owner));
        known.push(Arc::downgrade(&files));
        files
    }

    /// The files beside the main file `path`.
    pub(super) fn beside(disk: &Arc<dyn Disk>, path: &Path) -> Arc<Self> {
        Arc::new(Self {
            disk: Arc::clone(disk),
            directory: directory_of(path),
            owner: OnceLock::new(),
            files: Mutex::default(),
            unnamed: Mutex::default(),
            pin: Arc::default(),
        })
    }

    /// Sets the store that the files belong to, unless it is set. Call this before a file is read or written.
    pub(super) fn belong_to(&self, owner: impl FnOnce() -> Option<Owner>) {
        if self.owner.get().is_none()
            && let Some(owner) = owner()
        {
            let _ = self.owner.set(owner);
        }
    }

    /// The files, which all stay until this is dropped. Call it before the transaction that names them.
    pub(super) fn pinned(self: &Arc<Self>) -> PinnedFiles {
        PinnedFiles {
            files: Arc::clone(self),
            _pin: Arc::clone(&self.pin),
        }
    }

    /// The file with a number that is never used twice.
    pub(crate) fn file(&self, id: u64) -> Arc<VectorFile> {
        let mut files = self.files.lock();
        if let Some(file) = files.get(&id).and_then(Weak::upgrade) {
            return file;
        }
        let owner = self.owner.get().copied().unwrap_or_default();
        let file = Arc::new(VectorFile::at(&self.disk, (id, self.path(id)), owner));
        files.insert(id, Arc::downgrade(&file));
        file
    }

    /// Writes a file and syncs it. `rows` are vectors with their checksums, first those of the records; `later` has the
    /// first later row of each record and the end of the last, and is empty where each record has one vector.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub(crate) fn write(
        &self,
        id: u64,
        (dimensions, records): (usize, usize),
        later: &[u32],
        rows: &[u8],
    ) -> Result<Arc<VectorFile>, FileError> {
        create_directories(&*self.disk, &self.directory)
            .map_err(|source| FileError::io(&self.directory, source))?;
        let layout = layout_bytes(id, (dimensions, records), later);
        let owner = self.owner.get().copied().unwrap_or_default();
        // Before it exists, because another thread may be removing files.
        self.unnamed.lock().insert(id);
        write_parts_file(&*self.disk, &self.path(id), &owner, &[&layout, rows])
            .inspect_err(|_| self.settle(id))?;
        Ok(self.file(id))
    }

    /// Notes that a file was named, or is not needed any more.
    pub(super) fn settle(&self, id: u64) {
        self.unnamed.lock().remove(&id);
    }

    /// Whether a commit is read, whose files must stay.
    pub(super) fn is_pinned(&self) -> bool {
        Arc::strong_count(&self.pin) > 1
    }

    /// Removes the files that are neither `named` nor written to be named, unless a commit is read that may name one of them.
    /// Returns whether it did.
    pub(super) fn remove_all_but(&self, named: &HashSet<u64>) -> bool {
        let unnamed = self.unnamed.lock();
        if self.is_pinned() {
            return false;
        }
        for path in self.paths() {
            let name = path.file_name().and_then(|name| name.to_str());
            let Some((id, kind)) = name.and_then(|name| name.split_once('.')) else {
                continue;
            };
            let is_file = kind == VECTORS || path.extension().is_some_and(|kind| kind == TEMPORARY);
            match id.parse() {
                Ok(id) if is_file && !named.contains(&id) && !unnamed.contains(&id) => {
                    self.remove_path(id, &path);
                }
                _ => {}
            }
        }
        true
    }

    /// Removes files. Searches that have one go on reading it.
    pub(crate) fn remove(&self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            self.remove_path(id, &self.path(id));
            self.settle(id);
        }
    }

    fn remove_path(&self, id: u64, path: &Path) {
        let file = self.files.lock().remove(&id);
        if let Some(file) = file.and_then(|file| file.upgrade()) {
            file.keep_open();
        }
        // The next start tries again to remove a file that cannot be removed now.
        let _ = self.disk.remove_file(path);
    }

    /// Bytes of all files.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let paths = self.paths();
        let bytes = paths.iter().filter_map(|path| self.disk.length(path).ok());
        bytes.sum()
    }

    /// The paths in the directory; none when it cannot be read or does not exist.
    fn paths(&self) -> Vec<PathBuf> {
        self.disk.list(&self.directory).unwrap_or_default()
    }

    fn path(&self, id: u64) -> PathBuf {
        self.directory.join(format!("{id}.{VECTORS}"))
    }
}

fn directory_of(path: &Path) -> PathBuf {
    path.with_file_name("vectors")
}
