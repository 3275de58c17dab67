//! The file `acknowledged` beside a store: what the store had acknowledged when it was last written.
//!
//! SQLite drops everything after a damaged frame of its log without an error, and does not notice that the log was
//! deleted. The file is the evidence. It is overwritten by one write after each durable commit and before the commit
//! is acknowledged. That write is not synced: it survives the end of the process, and after a power cut the file may
//! be behind the store, but is never ahead of it.
//!
//! All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `cosifta` and a zero byte |
//! | 4 | format, 1 |
//! | 4 | 1 after a clean close, else 0 |
//! | 16 | the store's id |
//! | 16 | the epoch |
//! | 52 | the state, see [`State::to_bytes`] |
//! | 8 | a version that the main file had reached at least, without its log |
//! | 4 | CRC-32 of everything before |

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::disk::{sync_directory, write_at};
use crate::store::state::{EPOCH, STATE_BYTES, STORE_ID, identity_of, state_of};
use crate::store::{State, StoreError};

const MAGIC: [u8; 8] = *b"cosifta\0";
const FORMAT: u32 = 1;
const BYTES: usize = 16 + 32 + STATE_BYTES + 8 + 4;

/// Which store it is, and how far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) store_id: [u8; 16],
    pub(super) epoch: [u8; 16],
    pub(super) state: State,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evidence {
    pub(super) standing: Standing,
    /// The main file had reached this version, without its log: a file that is behind was replaced by an older one.
    pub(super) file_version: u64,
    /// Whether the store was closed after the last commit.
    pub(super) clean: bool,
}

/// What a store turns out to be when it is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It continues where it ended.
    Continued,
    /// It is another state or another store, such as a backup that was put back. The text says why.
    PutBack(&'static str),
    /// Acknowledged commits are missing, although the main file was not replaced by an older one.
    Lost {
        /// The last commit that was acknowledged.
        acknowledged: u64,
    },
}

/// The open file.
#[derive(Debug)]
pub(super) struct Acknowledged {
    file: File,
    path: PathBuf,
    evidence: Evidence,
}

impl Standing {
    /// What `connection` sees.
    pub(super) fn of(connection: &Connection) -> Result<Self, StoreError> {
        Ok(Self {
            store_id: identity_of(connection, STORE_ID)?,
            epoch: identity_of(connection, EPOCH)?,
            state: state_of(connection)?,
        })
    }
}

impl Evidence {
    /// Compares the evidence with what is found: `at_rest` in the main file alone, where it can be read, and `found`
    /// in the main file with its log.
    pub(super) fn judge(
        evidence: Option<&Self>,
        at_rest: Option<&Standing>,
        found: &Standing,
    ) -> Verdict {
        let Some(evidence) = evidence else {
            return Verdict::PutBack("the file `acknowledged` is missing or damaged");
        };
        let told = &evidence.standing;
        if told.store_id != found.store_id {
            return Verdict::PutBack("it is another store");
        }
        if told.epoch != found.epoch {
            return Verdict::PutBack("it is from another epoch");
        }
        if at_rest.is_some_and(|at_rest| at_rest.state.version < evidence.file_version) {
            return Verdict::PutBack("the main file is an older one");
        }
        let (told, found) = (&told.state, &found.state);
        if found.version < told.version {
            return Verdict::Lost {
                acknowledged: told.version,
            };
        }
        if found.version == told.version && found != told {
            return Verdict::PutBack("it holds other records");
        }
        if found.version > told.version && evidence.clean {
            return Verdict::PutBack("it holds commits from after its last clean close");
        }
        Verdict::Continued
    }

    fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend(u32::from(self.clean).to_le_bytes());
        bytes.extend(self.standing.store_id);
        bytes.extend(self.standing.epoch);
        bytes.extend(self.standing.state.to_bytes());
        bytes.extend(self.file_version.to_le_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let mut whole = [0; BYTES];
        whole.copy_from_slice(&bytes);
        whole
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (body, crc) = bytes.split_at_checked(BYTES - 4)?;
        if crc != crc32fast::hash(body).to_le_bytes() {
            return None;
        }
        let (head, rest) = body.split_at(16);
        if head[..8] != MAGIC || head[8..12] != FORMAT.to_le_bytes() {
            return None;
        }
        let (store_id, rest) = rest.split_first_chunk()?;
        let (epoch, rest) = rest.split_first_chunk()?;
        let (state, file_version) = rest.split_at(STATE_BYTES);
        Some(Self {
            standing: Standing {
                store_id: *store_id,
                epoch: *epoch,
                state: State::from_bytes(state)?,
            },
            file_version: u64::from_le_bytes(file_version.try_into().ok()?),
            clean: head[12] == 1,
        })
    }
}

impl Acknowledged {
    /// The file that belongs to the store at `path`.
    pub(super) fn path(path: &Path) -> PathBuf {
        path.with_file_name("acknowledged")
    }

    /// What the file of the store at `path` says; `None` when it is missing or damaged.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn read(path: &Path) -> Result<Option<Evidence>, StoreError> {
        let path = Self::path(path);
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Evidence::from_bytes(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    /// Opens or creates the file of the store at `path` and writes `standing`, not yet closed; synced with its name.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub(super) fn start(
        path: &Path,
        standing: Standing,
        file_version: u64,
    ) -> Result<Self, StoreError> {
        let path = Self::path(path);
        let started = || {
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)?;
            let acknowledged = Self {
                file,
                path: path.clone(),
                evidence: Evidence {
                    standing,
                    file_version,
                    clean: false,
                },
            };
            acknowledged.write()?;
            acknowledged.file.set_len(BYTES as u64)?;
            acknowledged.file.sync_all()?;
            sync_directory(path.parent().unwrap_or(Path::new(".")))?;
            Ok(acknowledged)
        };
        started().map_err(|source| StoreError::io(&path, source))
    }

    /// Notes what is durable, before it is acknowledged.
    pub(super) fn note(&mut self, standing: Standing) {
        self.evidence.standing = standing;
        // The commit is durable. Without this write the evidence is behind, as after a power cut.
        let _ = self.write();
    }

    /// Notes that the main file has everything that is committed.
    pub(super) fn note_checkpoint(&mut self) {
        let version = self.evidence.standing.state.version;
        if self.evidence.file_version != version {
            self.evidence.file_version = version;
            // Without this write the evidence is behind.
            let _ = self.write();
        }
    }

    /// Notes a clean close.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub(super) fn note_close(&mut self) -> Result<(), StoreError> {
        self.evidence.clean = true;
        self.write()
            .and_then(|()| self.file.sync_all())
            .map_err(|source| StoreError::io(&self.path, source))
    }

    fn write(&self) -> io::Result<()> {
        write_at(&self.file, &self.evidence.to_bytes(), 0)
    }
}
