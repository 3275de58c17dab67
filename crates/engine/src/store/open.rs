//! The creation and opening of a store.

use std::path::Path;
use std::sync::Arc;

use crate::disk::Disk;
use crate::store::acknowledged::AcknowledgedFile;
use crate::store::connection::{keep_log_on_close, main_file_status, open_writer};
use crate::store::continuity::{Continuity, Reached, StoreStatus, is_log_of_replaced_file};
use crate::store::create::create;
use crate::store::error::StoreError;
use crate::store::generations::Generations;
use crate::store::meta::{EPOCH, clock_of, new_identity, write_meta};
use crate::store::paths::{log_index_path, log_path, replaced_log_path};
use crate::store::reader::Reader;
use crate::store::writer::Store;

impl Store {
    /// Creates the store at `path`, with its directory, complete or not at all. `settings` is stored as it is.
    ///
    /// # Errors
    /// [`StoreError::Exists`], [`StoreError::DiskFull`], [`StoreError::Io`].
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        path: &Path,
        settings: &[u8],
    ) -> Result<Store, StoreError> {
        create(disk, path, settings)?;
        Store::open(disk, path)
    }

    /// Opens the store at `path` with every acknowledged commit.
    ///
    /// A store that turns out to be another one, or to have another state than when it was last open, can be read; see
    /// [`Store::restored`].
    ///
    /// # Errors
    /// [`StoreError::Lost`] and [`StoreError::SettingsLost`] when what was acknowledged is missing; [`StoreError::Foreign`], [`StoreError::Format`],
    /// [`StoreError::ReadOnly`], [`StoreError::Corrupt`], [`StoreError::Inconsistent`].
    pub(crate) fn open(disk: &Arc<dyn Disk>, path: &Path) -> Result<Store, StoreError> {
        let expected = AcknowledgedFile::read(&**disk, path)?;
        let main_file = main_file_status(path);
        let mut connection = open_writer(path).map_err(|error| match error {
            StoreError::Foreign { path } if expected.is_some() => StoreError::inconsistent(
                format!("{} is not a cosift database any more", path.display()),
            ),
            error => error,
        })?;
        let mut status = StoreStatus::of(&connection)?;
        if let (Some(expected), Some(main_file)) = (&expected, &main_file)
            && is_log_of_replaced_file(expected, main_file, &status)
        {
            // Closing the connection leaves the log as it is.
            drop(connection);
            set_log_aside(&**disk, path)?;
            connection = open_writer(path)?;
            status = StoreStatus::of(&connection)?;
        }
        let continuity = Continuity::of(expected.as_ref(), main_file.as_ref(), &status);
        let (acknowledged, restored) = match continuity {
            Continuity::Continued => {
                keep_log_on_close(&connection, false)?;
                let reached = main_file.map_or_else(Reached::default, |file| file.reached());
                let acknowledged = AcknowledgedFile::start(disk, path, status, reached)?;
                (Some(acknowledged), None)
            }
            Continuity::Restored(reason) => (None, Some(reason)),
            Continuity::SettingsLost => {
                return Err(StoreError::SettingsLost {
                    path: path.to_owned(),
                });
            }
            Continuity::Lost { acknowledged } => {
                return Err(StoreError::Lost {
                    path: path.to_owned(),
                    acknowledged,
                    found: status.state.version,
                });
            }
        };
        Ok(Store {
            disk: Arc::clone(disk),
            path: path.to_owned(),
            clock: clock_of(&connection)?,
            connection: Some(connection),
            reader: Reader::new(disk, path, status.store_id),
            status,
            acknowledged,
            restored,
            generation_begun: false,
            poisoned: false,
            // That of an earlier process.
            has_log: true,
            has_unnamed_files: false,
            log_drops_files: true,
        })
    }

    /// Why the store is treated as a restored backup: it is not the store, or does not have the state, that was last
    /// open here. `None` when it continues where it ended.
    ///
    /// The log of a restored backup may belong to another main file. So the store must be read completely, with
    /// [`Reader::load`], and then [`Store::start_new_epoch`] called, before anything is written. Until then closing it
    /// changes nothing.
    pub(crate) fn restored(&self) -> Option<&'static str> {
        self.restored
    }

    /// Makes a restored backup writable. Its change feed begins a new epoch, because the feed may lack changes that were
    /// already read.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn start_new_epoch(&mut self) -> Result<(), StoreError> {
        if self.restored.is_none() {
            return Ok(());
        }
        let epoch = new_identity();
        self.write(|transaction| {
            Generations::clear(transaction)?;
            write_meta(transaction, EPOCH, &epoch)
        })?;
        self.status.epoch = epoch;
        keep_log_on_close(self.connection()?, false)?;
        self.acknowledged = Some(AcknowledgedFile::start(
            &self.disk,
            &self.path,
            self.status,
            Reached::default(),
        )?);
        self.restored = None;
        // When the disk is full, the log stays.
        let _ = self.checkpoint();
        Ok(())
    }
}

/// Renames the log of the store at `path`, which is not read any more then.
fn set_log_aside(disk: &dyn Disk, path: &Path) -> Result<(), StoreError> {
    let log = log_path(path);
    let index = log_index_path(path);
    let set_aside = || {
        disk.rename(&log, &replaced_log_path(path))?;
        if disk.exists(&index)? {
            disk.remove_file(&index)?;
        }
        disk.sync_directory(path.parent().unwrap_or(Path::new(".")))
    };
    set_aside().map_err(|source| StoreError::io(&log, source))
}
