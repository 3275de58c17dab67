//! Stamps: the random bytes by which a store recognises saved index files of its own history.
//!
//! Before a snapshot is saved, the store records a stamp, random bytes, as of the snapshot's commit. The list
//! of the saved files names the stamp. A store that knows the stamp has that commit in its history, so the files hold
//! what the store held then, and the commits after it bring them up to date. A store that does not know the stamp is
//! from an earlier time or from another history, whatever its number of commits is.

use crate::record::hexadecimal;
use crate::store::error::StoreError;
use crate::store::meta::{new_identity, write_meta};
use crate::store::reader::Reader;
use crate::store::writer::Store;

/// Key of the stamps in the table `meta`: those of the last saved snapshot and of the one being saved.
pub(super) const STAMPS: &str = "stamps";

/// Random bytes for one saved snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(pub(super) [u8; 16]);

impl Stamp {
    pub(super) fn new() -> Self {
        Self(new_identity())
    }

    /// The stamp as the list of the files names it.
    pub(crate) fn name(self) -> String {
        hexadecimal(self.0)
    }
}

impl Reader {
    /// The stamp named `name`, if the store knows it.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn find_stamp(&self, name: &str) -> Result<Option<Stamp>, StoreError> {
        let stamps = self.meta(STAMPS)?.unwrap_or_default();
        let mut stamps = stamps.as_chunks().0.iter().map(|bytes| Stamp(*bytes));
        Ok(stamps.find(|stamp| stamp.name() == name))
    }
}

impl Store {
    /// Records a stamp for a snapshot of the last commit; it is durable when it returns. Of earlier stamps, that of the
    /// `saved` snapshot stays valid.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub(crate) fn stamp(&mut self, saved: Option<Stamp>) -> Result<Stamp, StoreError> {
        let stamp = Stamp::new();
        let stamps: Vec<u8> = saved
            .into_iter()
            .chain([stamp])
            .flat_map(|stamp| stamp.0)
            .collect();
        self.write(|transaction| write_meta(transaction, STAMPS, &stamps))?;
        Ok(stamp)
    }
}
