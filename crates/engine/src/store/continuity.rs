//! Whether a store that is opened continues where it ended, is a restored backup, or lost acknowledged commits.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, STORE_ID, identity_of, settings_changes_of};
use crate::store::state::{State, state_of};

/// Which store it is, which history its change feed has, and its state after the last commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreStatus {
    pub(crate) store_id: [u8; 16],
    pub(crate) epoch: [u8; 16],
    pub(crate) state: State,
    /// How often the settings were changed.
    pub(crate) settings_changes: u64,
}

/// What the file `acknowledged` says of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AcknowledgedStatus {
    pub(super) status: StoreStatus,
    /// What the main file had without its log.
    pub(super) main_file: Reached,
    /// Whether the store was closed after the last commit.
    pub(super) clean: bool,
}

/// What a main file had at least at some time. One that has less was replaced by an older one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reached {
    /// The number of a commit.
    pub(super) version: u64,
    pub(super) settings_changes: u64,
}

/// How a store that is opened relates to what it acknowledged before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Continuity {
    /// It continues where it ended.
    Continued,
    /// It is another store or has another state, such as a restored backup. The text says why.
    Restored(&'static str),
    /// Acknowledged commits are missing, although the main file was not replaced by an older one.
    Lost {
        /// The last commit that was acknowledged.
        acknowledged: u64,
    },
    /// Acknowledged changes of the settings are missing, as commits may be.
    SettingsLost,
}

impl StoreStatus {
    /// The status that `connection` sees.
    pub(super) fn of(connection: &Connection) -> Result<Self, StoreError> {
        Ok(Self {
            store_id: identity_of(connection, STORE_ID)?,
            epoch: identity_of(connection, EPOCH)?,
            state: state_of(connection)?,
            settings_changes: settings_changes_of(connection)?,
        })
    }

    pub(super) fn reached(&self) -> Reached {
        Reached {
            version: self.state.version,
            settings_changes: self.settings_changes,
        }
    }

    /// Whether a main file with this status is from before it had `reached` something.
    fn is_before(&self, reached: Reached) -> bool {
        self.state.version < reached.version || self.settings_changes < reached.settings_changes
    }
}

/// Whether the log belongs to the main file that `main_file` took the place of: alone, the main file is from before what
/// was `acknowledged`, and with its log it seems to be at exactly that state.
///
/// The epoch says nothing: a new epoch is in the log until the next checkpoint, so the right main file may lack it.
pub(super) fn is_log_of_replaced_file(
    acknowledged: &AcknowledgedStatus,
    main_file: &StoreStatus,
    found: &StoreStatus,
) -> bool {
    let expected = &acknowledged.status;
    let is_older =
        main_file.store_id != expected.store_id || main_file.is_before(acknowledged.main_file);
    is_older && found.state == expected.state && main_file.reached() != found.reached()
}

impl Continuity {
    /// Compares what was `acknowledged` with what is found: `main_file` in the main file alone, where that can be read,
    /// and `found` in the main file with its log.
    pub(super) fn of(
        acknowledged: Option<&AcknowledgedStatus>,
        main_file: Option<&StoreStatus>,
        found: &StoreStatus,
    ) -> Self {
        let Some(acknowledged) = acknowledged else {
            return Self::Restored("the file `acknowledged` is missing or damaged");
        };
        let expected = &acknowledged.status;
        if expected.store_id != found.store_id {
            return Self::Restored("it is another store");
        }
        if expected.epoch != found.epoch {
            return Self::Restored("it is from another epoch");
        }
        if main_file.is_some_and(|main_file| main_file.is_before(acknowledged.main_file)) {
            return Self::Restored("the main file is an older one");
        }
        let (changes, known_changes) = (found.settings_changes, expected.settings_changes);
        let (expected, found) = (&expected.state, &found.state);
        if found.version < expected.version {
            return Self::Lost {
                acknowledged: expected.version,
            };
        }
        if changes < known_changes {
            return Self::SettingsLost;
        }
        if found.version == expected.version && found != expected {
            return Self::Restored("it holds other records");
        }
        if acknowledged.clean && (found.version > expected.version || changes > known_changes) {
            return Self::Restored("it holds commits from after its last clean close");
        }
        Self::Continued
    }
}
