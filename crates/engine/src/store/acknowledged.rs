//! The file `acknowledged` of a store: what the store had acknowledged when the file was last written.
//!
//! SQLite drops everything after a damaged frame of its log without an error, and does not notice that the log was
//! deleted. This file makes such a loss detectable. It is overwritten by one write after each durable commit and before
//! the commit is acknowledged. That write is not synced: it survives the end of the process, and after a power cut the
//! file may be behind the store, but is never ahead of it.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `cosifta` and a zero byte |
//! | 4 | format, 2 |
//! | 4 | 1 after a clean close, else 0 |
//! | 16 | the store's id |
//! | 16 | the epoch |
//! | 52 | the state, see [`State::to_bytes`] |
//! | 8 | a version that the main file had reached at least, without its log |
//! | 8 | how often the settings were changed |
//! | 8 | how many of these changes the main file had at least, without its log |
//! | 4 | CRC-32 of everything before |

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, OpenFile};
use crate::store::continuity::{AcknowledgedStatus, Reached, StoreStatus};
use crate::store::error::StoreError;
use crate::store::paths::acknowledged_path;
use crate::store::state::{STATE_BYTES, State};

const MAGIC: [u8; 8] = *b"cosifta\0";
const FORMAT: u32 = 2;
const BYTES: usize = 16 + 32 + STATE_BYTES + 8 + 8 + 8 + 4;

/// The file, and what it says.
#[derive(Debug)]
pub(super) struct AcknowledgedFile {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// `None` while it is closed.
    file: Option<OpenFile>,
    content: AcknowledgedStatus,
}

impl AcknowledgedFile {
    /// What the file of the store at `path` says; `None` when it is missing or damaged.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn read(
        disk: &dyn Disk,
        path: &Path,
    ) -> Result<Option<AcknowledgedStatus>, StoreError> {
        let path = acknowledged_path(path);
        match disk.open(&path).and_then(|file| file.read_to_end()) {
            Ok(bytes) => Ok(from_bytes(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    /// Opens or creates the file of the store at `path` and writes `status` as that of a store that is open. The content
    /// and the name are synced.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub(super) fn start(
        disk: &Arc<dyn Disk>,
        path: &Path,
        status: StoreStatus,
        main_file: Reached,
    ) -> Result<Self, StoreError> {
        let path = acknowledged_path(path);
        let start = || {
            let mut started = Self {
                disk: Arc::clone(disk),
                path: path.clone(),
                file: None,
                content: AcknowledgedStatus {
                    status,
                    main_file,
                    clean: false,
                },
            };
            let file = started.write()?;
            disk.set_length(file, BYTES as u64)?;
            disk.sync(file)?;
            disk.sync_directory(path.parent().unwrap_or(Path::new(".")))?;
            Ok(started)
        };
        start().map_err(|source| StoreError::io(&path, source))
    }

    /// Notes a durable commit or change of the settings, before it is acknowledged.
    pub(super) fn note_commit(&mut self, status: StoreStatus) {
        self.content.status = status;
        // The commit is durable. When this write fails, the file is behind the store, as after a power cut.
        let _ = self.write();
    }

    /// Notes that the main file has every commit and change of the settings.
    pub(super) fn note_checkpoint(&mut self) {
        let reached = self.content.status.reached();
        if self.content.main_file != reached {
            self.content.main_file = reached;
            // When this write fails, the file is behind the store.
            let _ = self.write();
        }
    }

    /// Notes a clean close.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn note_close(&mut self) -> Result<(), StoreError> {
        self.content.clean = true;
        let disk = Arc::clone(&self.disk);
        self.write()
            .and_then(|file| disk.sync(file))
            .map_err(|source| StoreError::io(&self.path, source))
    }

    /// Closes the file until the next commit.
    pub(super) fn close_file(&mut self) {
        self.file = None;
    }

    fn write(&mut self) -> io::Result<&OpenFile> {
        let file = match self.file.take() {
            Some(file) => file,
            None => self.disk.open_for_writing(&self.path)?,
        };
        let file = self.file.insert(file);
        self.disk.write_at(file, &to_bytes(&self.content), 0)?;
        Ok(file)
    }
}

fn to_bytes(content: &AcknowledgedStatus) -> [u8; BYTES] {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend(u32::from(content.clean).to_le_bytes());
    bytes.extend(content.status.store_id);
    bytes.extend(content.status.epoch);
    bytes.extend(content.status.state.to_bytes());
    bytes.extend(content.main_file.version.to_le_bytes());
    bytes.extend(content.status.settings_changes.to_le_bytes());
    bytes.extend(content.main_file.settings_changes.to_le_bytes());
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    let mut whole = [0; BYTES];
    whole.copy_from_slice(&bytes);
    whole
}

fn from_bytes(bytes: &[u8]) -> Option<AcknowledgedStatus> {
    let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
    let (body, crc) = bytes.split_at(BYTES - 4);
    let (head, rest) = body.split_at(16);
    if crc != crc32fast::hash(body).to_le_bytes()
        || head[..8] != MAGIC
        || head[8..12] != FORMAT.to_le_bytes()
    {
        return None;
    }
    let (store_id, rest) = rest.split_first_chunk()?;
    let (epoch, rest) = rest.split_first_chunk()?;
    let (state, rest) = rest.split_at(STATE_BYTES);
    let mut numbers = rest.chunks_exact(8);
    let mut number = || Some(u64::from_le_bytes(numbers.next()?.try_into().ok()?));
    let version = number()?;
    Some(AcknowledgedStatus {
        status: StoreStatus {
            store_id: *store_id,
            epoch: *epoch,
            state: State::from_bytes(state)?,
            settings_changes: number()?,
        },
        main_file: Reached {
            version,
            settings_changes: number()?,
        },
        clean: head[12] == 1,
    })
}
