//! IndexFiles files: a snapshot on disk, so that the next start need not rebuild it from the store.
//!
//! `derived/` holds write-once files; losing any of them costs time, never a record.
//!
//! | file | parts |
//! |---|---|
//! | `N.rows` | a block: ids, UUIDs, created, changed, columns, exact vectors (rows of components and CRC-32), records without a vector |
//! | `N.codes` | the codes of a block: head, rest |
//! | `N.basis` | a basis |
//! | `snapshot` | list of all of these with the commit and the stamp it belongs to (JSON), living records and times of last sight |
//!
//! Every file names the store that it was made from, and the list a [`Stamp`] that the store must know.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::{fs, io};

use parking_lot::Mutex;

use cosift_kernels::Codes;
use serde_json::{Value, json};

use crate::columns::{ColumnNames, Columns, Integers, Mask};
use crate::disk::{FileError, Owner, PartsFile, TEMPORARY, create_directories, write_once};
use crate::record::{RecordRow, RecordUuid};
use crate::snapshot::basis::Basis;
use crate::snapshot::block::Block;
use crate::snapshot::body::Body;
use crate::snapshot::coded::Coded;
use crate::snapshot::exact_vectors::{ExactVectors, VectorFile};
use crate::snapshot::file_id::FileId;
use crate::snapshot::view::Snapshot;
use crate::store::{Reader, Stamp, Store, StoreError};

/// How codes are to be read, counted up with each change of it.
const KERNELS: u64 = 2;

/// Name of the list of all files.
const SNAPSHOT: &str = "snapshot";

/// Name of the list of the graphs of an approximate index, which is in the same directory.
pub(crate) const GRAPH_LIST: &str = "approximate";

/// Kind of the files with a graph.
pub(crate) const GRAPH: &str = "graph";

/// Part of a `.rows` file that holds the exact vectors.
const VECTORS: usize = 5;

/// Part of a `.rows` file that holds the records without a vector: a bit each, or nothing.
const WITHOUT_VECTOR: usize = 6;

/// The index files of a database.
#[derive(Debug)]
pub(crate) struct IndexFiles {
    directory: PathBuf,
    owner: Owner,
    dimensions: usize,
    truth: Reader,
    /// Files known to be complete.
    written: Mutex<HashSet<(FileId, &'static str)>>,
    /// Whether a snapshot may be saved. Held while the list is written.
    trusted: Mutex<bool>,
    /// Bytes of all files when they were last measured.
    bytes: AtomicU64,
}

/// A snapshot as it was saved.
pub(crate) struct SavedSnapshot {
    pub(crate) snapshot: Snapshot,
    /// The basis that its newest block is in.
    pub(crate) basis: Option<Arc<Basis>>,
    pub(crate) stamp: Stamp,
}

/// Why the files can't be used: they are made again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// A file is missing, cannot be read or written, or does not match its checksums.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The columns of a block.
    #[error(transparent)]
    Columns(#[from] crate::columns::Damaged),
    /// The graph of the approximate index.
    #[error("the graph failed: {0}")]
    Graph(String),
    /// The content, although its checksums match.
    #[error("{0}")]
    Content(&'static str),
}

const LIST: Unusable = Unusable::Content("the list of the files cannot be read");
const BLOCK: Unusable = Unusable::Content("the files of a block do not fit each other");

impl Unusable {
    /// Whether the reason is that nothing was saved yet.
    pub(crate) fn is_nothing_saved(&self) -> bool {
        matches!(self, Self::File(FileError::Io { path, source })
            if source.kind() == io::ErrorKind::NotFound && (path.ends_with(SNAPSHOT) || path.ends_with(GRAPH_LIST)))
    }
}

impl IndexFiles {
    pub(crate) fn new(directory: &Path, dimensions: usize, store: &Store) -> Self {
        Self {
            directory: directory.to_owned(),
            owner: store.id(),
            dimensions,
            truth: store.reader(),
            written: Mutex::default(),
            trusted: Mutex::new(true),
            bytes: AtomicU64::new(0),
        }
    }

    /// Writes a full block's rows and gives its vectors as they are read from there.
    pub(crate) fn write_rows(&self, block: &Block) -> Result<VectorFile, Unusable> {
        let file_id = block.body.file_id;
        self.write(file_id, "rows", || rows_parts(block))?;
        let file = Arc::new(self.open(file_id, "rows")?);
        self.vectors(file, &block.body)
    }

    fn vectors(&self, file: Arc<PartsFile>, body: &Arc<Body>) -> Result<VectorFile, Unusable> {
        VectorFile::new(
            file,
            VECTORS,
            self.dimensions,
            Arc::clone(body),
            self.truth.clone(),
        )
        .ok_or(Unusable::Content("a block has another number of vectors"))
    }

    /// Saves a snapshot that the store has recorded `stamp` for, then removes the files it no longer needs.
    ///
    /// Stops early, with what was saved before still in force, when `stop` says so.
    pub(crate) fn save(
        &self,
        snapshot: &Snapshot,
        stamp: Stamp,
        stop: &dyn Fn() -> bool,
    ) -> io::Result<()> {
        let mut blocks = Vec::new();
        let mut moving = Vec::new();
        let mut needed = HashSet::new();
        for block in &snapshot.blocks {
            if stop() {
                return Ok(());
            }
            let (rows, codes, basis) = (
                block.body.file_id,
                block.coded.file_id,
                block.coded.basis.file_id,
            );
            self.write(rows, "rows", || rows_parts(block))?;
            let parts = &block.coded.codes;
            self.write(codes, "codes", || {
                vec![parts.head_bytes().to_vec(), parts.rest_bytes().to_vec()]
            })?;
            self.write(basis, "basis", || vec![block.coded.basis.to_bytes()])?;
            needed.extend([(rows, "rows"), (codes, "codes"), (basis, "basis")]);
            let start = moving.len();
            moving.extend_from_slice(&block.alive.to_bytes());
            block.synced.write(&mut moving);
            blocks.push(json!({
                "records": block.len(), "bytes": moving.len() - start,
                "rows": rows.0, "codes": codes.0, "basis": basis.0,
            }));
        }
        let names: Vec<&str> = snapshot.names.iter().map(|(_, name)| name).collect();
        let list = json!({
            "version": snapshot.version, "stamp": stamp.name(), "kernels": KERNELS, "dimensions": self.dimensions, "names": names, "blocks": blocks,
        });
        let trusted = self.trusted.lock();
        if !*trusted {
            return Ok(());
        }
        write_once(
            &self.directory.join(SNAPSHOT),
            &self.owner,
            &[list.to_string().as_bytes(), &moving],
        )?;
        self.remove_all_but(&needed, snapshot);
        Ok(())
    }

    /// Reads the saved snapshot, if it belongs to the history of `store`.
    pub(crate) fn load(&self, store: &Store) -> Result<SavedSnapshot, Unusable> {
        let file = PartsFile::open(&self.directory.join(SNAPSHOT), &self.owner)?;
        let list: Value = serde_json::from_slice(&file.read_part(0)?).map_err(|_| LIST)?;
        let moving = file.read_part(1)?;
        let stamp = store.find_stamp(list["stamp"].as_str().ok_or(LIST)?)?;
        let stamp = stamp.ok_or(Unusable::Content(
            "the files are from another state of the database",
        ))?;
        if list["kernels"] != KERNELS || list["dimensions"] != self.dimensions {
            return Err(Unusable::Content(
                "the files are of another version or other dimensions",
            ));
        }
        let mut names = ColumnNames::default();
        for name in list["names"].as_array().ok_or(LIST)? {
            names.insert(name.as_str().ok_or(LIST)?);
        }
        let mut entries = Vec::new();
        let mut bases: Vec<Arc<Basis>> = Vec::new();
        let mut rest = moving.as_slice();
        // Rows are numbered anew, so that the gaps of dropped blocks never use the numbers up.
        let mut next_row = 0_u32;
        for entry in list["blocks"].as_array().ok_or(LIST)? {
            let number = |name: &str| entry[name].as_u64().ok_or(LIST);
            let file_id = |name: &str| number(name).map(|file_id| FileId(file_id).seen());
            let (own, later) = rest
                .split_at_checked(number("bytes")? as usize)
                .ok_or(LIST)?;
            rest = later;
            let of_basis = file_id("basis")?;
            let basis = match bases.iter().find(|basis| basis.file_id == of_basis) {
                Some(basis) => Arc::clone(basis),
                None => {
                    let bytes = self.open(of_basis, "basis")?.read_part(0)?;
                    bases.push(Arc::new(Basis::from_bytes(of_basis, &bytes).ok_or(LIST)?));
                    Arc::clone(&bases[bases.len() - 1])
                }
            };
            let records = number("records")? as usize;
            let first = RecordRow(next_row);
            next_row = u32::try_from(records)
                .ok()
                .and_then(|records| next_row.checked_add(records))
                .ok_or(LIST)?;
            entries.push(Entry {
                first,
                records,
                rows: file_id("rows")?,
                codes: file_id("codes")?,
                basis,
                moving: own,
            });
        }
        let newest = entries.last().map(|entry| Arc::clone(&entry.basis));
        let blocks = self.load_blocks(&entries)?;
        let version = list["version"].as_u64().ok_or(LIST)?;
        Ok(SavedSnapshot {
            snapshot: Snapshot {
                version,
                names: Arc::new(names),
                numbering: 0,
                blocks,
            },
            basis: newest,
            stamp,
        })
    }

    /// Reads blocks on all cores: the time goes into copying and checking.
    fn load_blocks(&self, entries: &[Entry<'_>]) -> Result<Vec<Block>, Unusable> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = entries.len().div_ceil(threads).max(1);
        let loaded: Vec<Result<Vec<Block>, Unusable>> = std::thread::scope(|scope| {
            let load =
                |part: &[Entry<'_>]| part.iter().map(|entry| self.load_block(entry)).collect();
            let workers: Vec<_> = entries
                .chunks(share)
                .map(|part| scope.spawn(move || load(part)))
                .collect();
            workers
                .into_iter()
                .map(|worker| {
                    worker
                        .join()
                        .unwrap_or(Err(Unusable::Content("reading a block panicked")))
                })
                .collect()
        });
        let blocks: Vec<Block> = loaded
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .flatten()
            .collect();
        Ok(blocks)
    }

    fn load_block(&self, entry: &Entry<'_>) -> Result<Block, Unusable> {
        let records = entry.records;
        let rows = Arc::new(self.open(entry.rows, "rows")?);
        if rows.part_count() != WITHOUT_VECTOR + 1 {
            return Err(BLOCK);
        }
        let uuids = rows.read_part(1)?;
        let body = Body {
            file_id: entry.rows,
            ids: Integers::read(&rows.read_part(0)?, records)?,
            uuids: uuids
                .as_chunks::<16>()
                .0
                .iter()
                .map(|&bytes| RecordUuid(bytes))
                .collect(),
            created: Integers::read(&rows.read_part(2)?, records)?,
            changed: Integers::read(&rows.read_part(3)?, records)?,
            columns: Columns::read(&rows.read_part(4)?)?,
            without_vector: match rows.read_part(WITHOUT_VECTOR)?.as_slice() {
                [] => None,
                bytes => Some(Box::new(Mask::from_bytes(bytes).ok_or(BLOCK)?)),
            },
        };
        let codes = self.open(entry.codes, "codes")?;
        if codes.part_count() != 2 || body.uuids.len() != records || body.columns.len() != records {
            return Err(BLOCK);
        }
        let codes = Codes::from_bytes(
            entry.basis.layout(),
            records,
            &codes.read_part(0)?,
            &codes.read_part(1)?,
        )
        .ok_or(BLOCK)?;
        let (alive, synced) = entry
            .moving
            .split_at_checked(size_of::<Mask>())
            .ok_or(BLOCK)?;
        let mut mask = Mask::from_bytes(alive).ok_or(BLOCK)?;
        mask.and(&Mask::full(records));
        let body = Arc::new(body);
        let exact = self.vectors(rows, &body)?;
        let mut written = self.written.lock();
        written.extend([
            (entry.rows, "rows"),
            (entry.codes, "codes"),
            (entry.basis.file_id, "basis"),
        ]);
        Ok(Block {
            first: entry.first,
            living: mask.count(),
            body,
            coded: Arc::new(Coded {
                file_id: entry.codes,
                basis: Arc::clone(&entry.basis),
                codes,
            }),
            exact: Arc::new(ExactVectors::File(exact)),
            synced: Arc::new(Integers::read(synced, records)?),
            alive: Arc::new(mask),
        })
    }

    /// Has the next start read everything from the store: the saved snapshot is removed, and none is saved any more.
    pub(crate) fn distrust(&self) {
        let mut trusted = self.trusted.lock();
        *trusted = false;
        // One that cannot be removed is found out again.
        let _ = fs::remove_file(self.directory.join(SNAPSHOT));
    }

    /// Removes all files, which belong to another state of the database or are damaged.
    pub(crate) fn clear(&self) {
        self.written.lock().clear();
        // What stays is never read: the list names other files, and no list names a stamp of this store.
        let _ = fs::remove_dir_all(&self.directory);
    }

    /// Bytes of all index files when they were last measured.
    pub(crate) fn disk_bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Measures the files. It reads the directory, so no write waits for it: it is done after loading, after full
    /// blocks were written and after background jobs.
    pub(crate) fn measure(&self) {
        let bytes = self.entries().filter_map(|entry| entry.metadata().ok());
        self.bytes
            .store(bytes.map(|metadata| metadata.len()).sum(), Relaxed);
    }

    /// Removes the temporary files that an earlier process left, and returns their names.
    pub(crate) fn remove_temporary_files(&self) -> Vec<String> {
        self.entries()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|kind| kind == TEMPORARY))
            // A file that cannot be removed now is tried again at the next start.
            .filter(|path| fs::remove_file(path).is_ok())
            .map(|path| path.display().to_string())
            .collect()
    }

    /// What is in the directory; nothing when it cannot be read, or is not there yet.
    fn entries(&self) -> impl Iterator<Item = fs::DirEntry> {
        fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten()
    }

    fn open(&self, file_id: FileId, kind: &str) -> Result<PartsFile, FileError> {
        PartsFile::open(&self.path(file_id, kind), &self.owner)
    }

    fn path(&self, file_id: FileId, kind: &str) -> PathBuf {
        self.directory.join(format!("{}.{kind}", file_id.0))
    }

    /// Writes a file unless it is there.
    fn write(
        &self,
        file_id: FileId,
        kind: &'static str,
        parts: impl FnOnce() -> Vec<Vec<u8>>,
    ) -> io::Result<()> {
        let written = || self.written.lock();
        if written().contains(&(file_id, kind)) {
            return Ok(());
        }
        create_directories(&self.directory)?;
        let parts = parts();
        let slices: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        write_once(&self.path(file_id, kind), &self.owner, &slices)?;
        written().insert((file_id, kind));
        Ok(())
    }

    /// Removes files older than the saved snapshot that it does not list.
    fn remove_all_but(&self, needed: &HashSet<(FileId, &'static str)>, snapshot: &Snapshot) {
        // Newer files belong to blocks that were filled or coded since.
        let file_ids = snapshot
            .blocks
            .iter()
            .flat_map(|block| [block.body.file_id, block.coded.file_id]);
        let Some(newest) = file_ids.max() else { return };
        for path in self.entries().map(|entry| entry.path()) {
            let file_id = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .and_then(|stem| stem.parse().ok())
                .map(FileId);
            let kind = path
                .extension()
                .and_then(|kind| kind.to_str())
                .unwrap_or_default();
            let Some(file_id) = file_id else { continue };
            // Of graphs, the approximate index keeps the one that it needs.
            if file_id < newest
                && kind != GRAPH
                && !needed
                    .iter()
                    .any(|&(listed, of)| listed == file_id && of == kind)
            {
                // A file that can't be removed now is tried again after the next save.
                let _ = fs::remove_file(&path);
                self.written.lock().retain(|(old, _)| *old != file_id);
            }
        }
    }
}

/// A block as the saved snapshot lists it.
struct Entry<'a> {
    first: RecordRow,
    records: usize,
    rows: FileId,
    codes: FileId,
    basis: Arc<Basis>,
    /// Living records and times of last sight.
    moving: &'a [u8],
}

fn rows_parts(block: &Block) -> Vec<Vec<u8>> {
    let body = &block.body;
    let integers = |of: &Integers| {
        let mut out = Vec::new();
        of.write(&mut out);
        out
    };
    let mut columns = Vec::new();
    body.columns.write(&mut columns);
    let uuids: Vec<u8> = body.uuids.iter().flat_map(|uuid| uuid.0).collect();
    let vectors = match &*block.exact {
        ExactVectors::Memory(rows) => rows.to_bytes(),
        // The vectors of a block are in memory until its file is written, and it is written once.
        ExactVectors::File(_) => Vec::new(),
    };
    vec![
        integers(&body.ids),
        uuids,
        integers(&body.created),
        integers(&body.changed),
        columns,
        vectors,
        body.without_vector
            .as_ref()
            .map_or_else(Vec::new, |mask| mask.to_bytes()),
    ]
}
