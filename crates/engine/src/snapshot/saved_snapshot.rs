//! A snapshot on disk, so that the next start need not rebuild it from the store.
//!
//! `derived/` holds parts files, which are never changed; losing any of them costs time, never a record.
//!
//! | file | parts |
//! |---|---|
//! | `N.rows` | a block: ids, UUIDs, created, changed, columns, records without a vector, keys, passages and equal vectors if there are any |
//! | `N.codes` | the codes of a block: head, rest; then those of its later rows, 4,096 at a time |
//! | `N.basis` | a basis |
//! | `snapshot` | list of all of these with the commit and the stamp it belongs to (JSON); living records and *synced* times |
//!
//! Every file names the store that it was made from, and the list a [`Stamp`] that the store must know.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::columns::{BLOCK_RECORDS, ColumnNames};
use crate::disk::FileError;
use crate::record::RecordRow;
use crate::snapshot::basis::Basis;
use crate::snapshot::block::Block;
use crate::snapshot::block_files::BlockEntry;
use crate::snapshot::file_names::{BASIS, FileId};
use crate::snapshot::index_files::IndexFiles;
use crate::snapshot::unusable::Unusable;
use crate::snapshot::view::Snapshot;
use crate::store::Stamp;

/// The format of the codes, raised with each change of it.
const KERNELS: u64 = 6;

/// What a saved snapshot is loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// No file is written.
    Reading,
    Writing,
}

const LIST: Unusable = Unusable::Content("the list of the files cannot be read");

/// A snapshot that was read from its files.
pub(crate) struct SavedSnapshot {
    pub(crate) snapshot: Snapshot,
    /// The basis of its newest block.
    pub(crate) basis: Option<Arc<Basis>>,
    /// As [`Snapshot::newest_file`] when it was saved: blocks whose vectors are in no file have other ids now.
    pub(crate) newest_file: Option<FileId>,
    pub(crate) stamp: Stamp,
}

impl IndexFiles {
    /// Saves a snapshot that the store has recorded `stamp` for, then removes the files that are no longer needed.
    ///
    /// Ends early, with the former snapshot still saved, when `stop` returns true.
    ///
    /// # Errors
    /// [`FileError::Io`]. The former snapshot is still saved, unless syncing the directory was what failed.
    pub(crate) fn save(
        &self,
        snapshot: &Snapshot,
        stamp: Stamp,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), FileError> {
        let mut blocks = Vec::new();
        let mut changing = Vec::new();
        let mut needed = HashSet::new();
        for block in &snapshot.blocks {
            if stop() {
                return Ok(());
            }
            let files = self.write_block(block)?;
            needed.extend(files);
            let [(rows, _), (codes, _), (basis, _)] = files;
            let start = changing.len();
            changing.extend_from_slice(&block.alive.to_bytes());
            block.synced.write(&mut changing);
            blocks.push(json!({
                "records": block.len(), "bytes": changing.len() - start,
                "rows": rows.0, "codes": codes.0, "basis": basis.0,
            }));
        }
        let names: Vec<&str> = snapshot.names.iter().map(|(_, name)| name).collect();
        let list = json!({
            "version": snapshot.version, "stamp": stamp.name(), "kernels": KERNELS,
            "dimensions": self.dimensions, "names": names, "blocks": blocks,
        });
        if self.write_list(&[list.to_string().as_bytes(), &changing])? {
            // Newer files belong to blocks that were filled or coded since.
            if let Some(newest) = snapshot.newest_file() {
                self.remove_all_but(&needed, newest);
            }
        }
        Ok(())
    }

    /// Reads the saved snapshot, if it belongs to the history of the store.
    ///
    /// A block whose vectors are in the table of the store has them in memory, except a full one that is loaded for
    /// [`Use::Writing`]: its vectors are written to a file, which the writer hands them over to.
    pub(crate) fn load(&self, to: Use) -> Result<SavedSnapshot, Unusable> {
        let file = self.open_list()?;
        let list: Value = serde_json::from_slice(&file.read_part(0)?).map_err(|_| LIST)?;
        let changing = file.read_part(1)?;
        let stamp = self.store.find_stamp(list["stamp"].as_str().ok_or(LIST)?)?;
        let stamp = stamp.ok_or(Unusable::Content(
            "the files are from another state of the database",
        ))?;
        if list["kernels"] != KERNELS || list["dimensions"] != self.dimensions {
            return Err(Unusable::Content(
                "the files are of another version or other dimensions",
            ));
        }
        let version = list["version"].as_u64().ok_or(LIST)?;
        let named = self.store.named_files()?;
        let mut names = ColumnNames::default();
        for name in list["names"].as_array().ok_or(LIST)? {
            names.insert(name.as_str().ok_or(LIST)?);
        }
        let mut entries = Vec::new();
        let mut bases: Vec<Arc<Basis>> = Vec::new();
        let mut rest = changing.as_slice();
        // Rows are numbered from 0 again, so that the gaps of dropped blocks never use up the numbers.
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
                    let bytes = self.open(of_basis, BASIS)?.read_part(0)?;
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
            entries.push(BlockEntry {
                first,
                records,
                rows: file_id("rows")?,
                version,
                is_named: named.contains_key(&number("rows")?),
                codes: file_id("codes")?,
                basis,
                changing: own,
            });
        }
        let basis = entries.last().map(|entry| Arc::clone(&entry.basis));
        let file_ids = entries.iter().flat_map(|entry| [entry.rows, entry.codes]);
        let newest_file = file_ids.max();
        let blocks = self.load_blocks(&entries, to)?;
        Ok(SavedSnapshot {
            snapshot: Snapshot {
                version,
                names: Arc::new(names),
                blocks,
                ..Snapshot::empty()
            },
            basis,
            newest_file,
            stamp,
        })
    }

    /// Gives the files of the next model the place of these, if a switch has made it the current one: then the store knows the
    /// stamp of their list. Files of a re-embedding that ended otherwise are removed. When any of this fails, the next start
    /// tries it again, and the index files are made again from the store.
    pub(crate) fn adopt_next(&self) {
        let next = self.next_directory();
        let known = || {
            let list = self.open_list_in(&next).ok()?.read_part(0).ok()?;
            let list: Value = serde_json::from_slice(&list).ok()?;
            self.store.find_stamp(list["stamp"].as_str()?).ok()?
        };
        if known().is_some() {
            self.take_place_of(&next);
        } else if matches!(self.store.next_model(), Ok(None)) {
            self.remove_directory(&next);
        }
    }

    /// The basis of the newest block of the saved snapshot, whatever commit that is of. Codes of any basis are right, so
    /// the files may change while they are read.
    pub(crate) fn saved_basis(&self) -> Option<Arc<Basis>> {
        let file = self.open_list().ok()?;
        let list: Value = serde_json::from_slice(&file.read_part(0).ok()?).ok()?;
        if list["kernels"] != KERNELS || list["dimensions"] != self.dimensions {
            return None;
        }
        let id = list["blocks"].as_array()?.last()?["basis"].as_u64()?;
        let id = FileId(id).seen();
        let bytes = self.open(id, BASIS).ok()?.read_part(0).ok()?;
        Some(Arc::new(Basis::from_bytes(id, &bytes)?))
    }

    /// Reads blocks on all cores, because copying and checking take most of the time.
    fn load_blocks(&self, entries: &[BlockEntry<'_>], to: Use) -> Result<Vec<Block>, Unusable> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = entries.len().div_ceil(threads).max(1);
        let load_one = |entry: &BlockEntry<'_>| {
            let mut block = self.load_block(entry)?;
            if to == Use::Writing && block.len() == BLOCK_RECORDS {
                // When the file cannot be written, the maintenance of blocks tries it again, and reports it.
                let _ = self.write_vectors(&mut block);
            }
            Ok(block)
        };
        let loaded: Vec<Result<Vec<Block>, Unusable>> = std::thread::scope(|scope| {
            let load = |part: &[BlockEntry<'_>]| part.iter().map(load_one).collect();
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
}
