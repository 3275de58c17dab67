//! The index files of a database, in its directory `derived/`: written once, removed when nothing needs them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::Mutex;

use crate::disk::{
    Disk, FileError, Owner, PartsFile, TEMPORARY, create_directories, remove_if_exists,
    sync_parent, write_parts_file,
};
use crate::snapshot::file_names::{FileId, SNAPSHOT, index_file_path, next_index_path};
use crate::snapshot::vector_memory::VectorMemory;
use crate::store::Reader;

/// The id and the kind of a file.
pub(super) type FileName = (FileId, &'static str);

/// The index files of a database.
#[derive(Debug)]
pub(crate) struct IndexFiles {
    pub(super) disk: Arc<dyn Disk>,
    directory: PathBuf,
    pub(super) owner: Owner,
    pub(super) dimensions: usize,
    pub(super) store: Reader,
    /// Where searches keep exact vectors and low nibbles.
    pub(super) vectors: Arc<VectorMemory>,
    /// Files known to be complete.
    written: Mutex<HashSet<FileName>>,
    /// Whether a snapshot may be saved. Locked while the list is written.
    trusted: Mutex<bool>,
    /// Bytes of all files and of the vector files when they were last measured.
    bytes: AtomicU64,
}

impl IndexFiles {
    /// The files that were made from the store `owner`, which `store` reads.
    pub(crate) fn of(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        dimensions: usize,
        owner: Owner,
        store: Reader,
        vectors: &Arc<VectorMemory>,
    ) -> Self {
        Self {
            disk: Arc::clone(disk),
            directory: directory.to_owned(),
            owner,
            dimensions,
            store,
            vectors: Arc::clone(vectors),
            written: Mutex::default(),
            trusted: Mutex::new(true),
            bytes: AtomicU64::new(0),
        }
    }

    /// Marks the files as not trusted: the saved snapshot is removed and no other is saved, so that the next start reads
    /// all records from the store.
    pub(crate) fn mark_untrusted(&self) {
        let mut trusted = self.trusted.lock();
        *trusted = false;
        // When the list cannot be removed, the check after the next start finds the damage again.
        let _ = self.disk.remove_file(&self.directory.join(SNAPSHOT));
    }

    /// Removes all files, because they belong to another state of the database or are damaged.
    pub(crate) fn clear(&self) {
        self.written.lock().clear();
        // Files that stay are never read: the next list names other files, and no old list names a stamp of this store.
        let _ = self.disk.remove_directory(&self.directory);
    }

    /// The directory of the files of the next model.
    pub(super) fn next_directory(&self) -> PathBuf {
        next_index_path(self.directory.parent().unwrap_or(Path::new(".")))
    }

    /// Gives the files in the directory `other` the place of these, which are removed.
    pub(super) fn take_place_of(&self, other: &Path) {
        self.clear();
        // Files that stay there are adopted by the next start.
        let renamed = self.disk.rename(other, &self.directory);
        let _ = renamed.and_then(|()| sync_parent(&*self.disk, &self.directory));
    }

    /// Removes a directory, if it exists.
    pub(super) fn remove_directory(&self, directory: &Path) {
        // The next start tries again.
        let _ = remove_if_exists(&*self.disk, directory);
    }

    /// Bytes of all index files and vector files when they were last measured.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Measures the files. It reads the directory, so it runs after loading, after full blocks were written and after
    /// background jobs, but not with each commit.
    pub(crate) fn measure(&self) {
        let paths = self.paths();
        let bytes = paths.iter().filter_map(|path| self.disk.length(path).ok());
        let bytes = bytes.sum::<u64>() + self.store.vector_files().disk_bytes();
        self.bytes.store(bytes, Relaxed);
    }

    /// Removes the temporary files that an earlier process left, and returns their paths.
    pub(crate) fn remove_temporary_files(&self) -> Vec<String> {
        self.paths()
            .iter()
            .filter(|path| path.extension().is_some_and(|kind| kind == TEMPORARY))
            // The next start tries again to remove a file that cannot be removed now.
            .filter(|path| self.disk.remove_file(path).is_ok())
            .map(|path| path.display().to_string())
            .collect()
    }

    /// The paths in the directory; none when it cannot be read or does not exist.
    fn paths(&self) -> Vec<PathBuf> {
        self.disk.list(&self.directory).unwrap_or_default()
    }

    pub(super) fn path_of(&self, file_id: FileId, kind: &str) -> PathBuf {
        index_file_path(&self.directory, file_id, kind)
    }

    pub(super) fn open(&self, file_id: FileId, kind: &str) -> Result<PartsFile, FileError> {
        PartsFile::open(&*self.disk, &self.path_of(file_id, kind), &self.owner)
    }

    /// Notes files that are complete, so that they are not written again.
    pub(super) fn note_written(&self, files: impl IntoIterator<Item = FileName>) {
        self.written.lock().extend(files);
    }

    /// Whether the list of a saved snapshot exists.
    pub(crate) fn has_list(&self) -> bool {
        // A list that cannot be looked at may exist.
        self.disk
            .exists(&self.directory.join(SNAPSHOT))
            .unwrap_or(true)
    }

    /// Opens the list of the saved snapshot.
    pub(super) fn open_list(&self) -> Result<PartsFile, FileError> {
        self.open_list_in(&self.directory)
    }

    pub(super) fn open_list_in(&self, directory: &Path) -> Result<PartsFile, FileError> {
        PartsFile::open(&*self.disk, &directory.join(SNAPSHOT), &self.owner)
    }

    /// Writes the list of the saved snapshot, unless the files are marked as not trusted. Returns whether it was written.
    pub(super) fn write_list(&self, parts: &[&[u8]]) -> Result<bool, FileError> {
        let trusted = self.trusted.lock();
        if *trusted {
            // A database without records has written no file yet.
            self.create_directory()?;
            let path = self.directory.join(SNAPSHOT);
            write_parts_file(&*self.disk, &path, &self.owner, parts)?;
        }
        Ok(*trusted)
    }

    fn create_directory(&self) -> Result<(), FileError> {
        create_directories(&*self.disk, &self.directory)
            .map_err(|source| FileError::io(&self.directory, source))
    }

    /// Writes a file unless it is known to be complete.
    pub(super) fn write(
        &self,
        file_id: FileId,
        kind: &'static str,
        parts: impl FnOnce() -> Result<Vec<Vec<u8>>, FileError>,
    ) -> Result<(), FileError> {
        if self.written.lock().contains(&(file_id, kind)) {
            return Ok(());
        }
        self.create_directory()?;
        let parts = parts()?;
        let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let path = self.path_of(file_id, kind);
        write_parts_file(&*self.disk, &path, &self.owner, &slices)?;
        self.written.lock().insert((file_id, kind));
        Ok(())
    }

    /// Removes files with ids below `newest` that are not `needed`.
    pub(super) fn remove_all_but(&self, needed: &HashSet<FileName>, newest: FileId) {
        for path in self.paths() {
            let Some((file_id, kind)) = parse_name(&path) else {
                continue;
            };
            let is_needed = needed
                .iter()
                .any(|&(listed, of)| listed == file_id && of == kind);
            if file_id < newest && !is_needed {
                // The next save tries again to remove a file that cannot be removed now.
                let _ = self.disk.remove_file(&path);
                self.written.lock().retain(|(old, _)| *old != file_id);
            }
        }
    }
}

/// The id and the kind of an index file; `None` for other files.
fn parse_name(path: &Path) -> Option<(FileId, &str)> {
    let file_id = path.file_stem()?.to_str()?.parse().ok()?;
    let kind = path.extension().and_then(|kind| kind.to_str());
    Some((FileId(file_id), kind.unwrap_or_default()))
}
