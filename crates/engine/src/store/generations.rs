//! The generations of a change feed: which opening of the store wrote which changes.
//!
//! A copy of a data directory may be put back at any time, and has the epoch of the original. Each opening of a store
//! begins a generation with its first commit, under random bytes. So two stores that continue from copies of one state
//! agree on the generations before the copy, and on none after it. A reader of the feed that names the generation of its
//! position is refused by a store whose history has another change at that position.

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, identity_of, new_identity, read_meta, removed_of, write_meta};

/// Key of the generations in the table `meta`: each a position, 8 bytes little-endian, and 16 random bytes, in order.
const GENERATIONS: &str = "feed_generations";

/// The generations of the changes that are kept.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    /// Identifies the first generation, which all positions before those of `later` belong to.
    first: [u8; 16],
    later: Vec<Generation>,
}

#[derive(Debug, Clone, Copy)]
struct Generation {
    /// The position of the last change before the generation.
    after: u64,
    id: [u8; 16],
}

impl Generations {
    pub(super) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let bytes = read_meta(connection, GENERATIONS)?.unwrap_or_default();
        let (rows, _) = bytes.as_chunks::<24>();
        let generation = |row: &[u8; 24]| {
            let (after, id) = row.split_first_chunk::<8>()?;
            Some(Generation {
                after: u64::from_le_bytes(*after),
                id: id.try_into().ok()?,
            })
        };
        Ok(Self {
            first: identity_of(connection, EPOCH)?,
            later: rows.iter().filter_map(generation).collect(),
        })
    }

    /// Adds a generation of the changes after `position`, and forgets those whose changes are no longer kept.
    pub(super) fn begin(connection: &Connection, position: u64) -> Result<(), StoreError> {
        let removed = removed_of(connection)?;
        let mut later = Self::read(connection)?.later;
        // A generation without a change was named to no reader.
        later.retain(|generation| generation.after < position);
        later.push(Generation {
            after: position,
            id: new_identity(),
        });
        let gone = later
            .windows(2)
            .take_while(|pair| pair[1].after < removed)
            .count();
        later.drain(..gone);
        Self::write(connection, &later)
    }

    /// Forgets all generations but the first, because a new epoch begins.
    pub(super) fn clear(connection: &Connection) -> Result<(), StoreError> {
        Self::write(connection, &[])
    }

    fn write(connection: &Connection, later: &[Generation]) -> Result<(), StoreError> {
        let bytes: Vec<u8> = later
            .iter()
            .flat_map(|generation| {
                let after = generation.after.to_le_bytes();
                after.into_iter().chain(generation.id)
            })
            .collect();
        write_meta(connection, GENERATIONS, &bytes)
    }

    /// All generations, each with the position of the last change before it.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u64, [u8; 16])> {
        let later = self.later.iter();
        let later = later.map(|generation| (generation.after, generation.id));
        [(0, self.first)].into_iter().chain(later)
    }

    /// Identifies the generation that wrote the change at `position`.
    pub(crate) fn at(&self, position: u64) -> [u8; 16] {
        let later = self.later.iter().rev();
        later
            .skip_while(|generation| generation.after >= position)
            .map(|generation| generation.id)
            .next()
            .unwrap_or(self.first)
    }

    /// Whether a reader that read up to `position`, and has read no later generation than `id`, has read the changes of
    /// this store.
    pub(crate) fn contain(&self, id: [u8; 16], position: u64) -> bool {
        let next = if id == self.first {
            Some(0)
        } else {
            let mut later = self.later.iter();
            later
                .position(|generation| generation.id == id)
                .map(|index| index + 1)
        };
        next.is_some_and(|next| {
            self.later
                .get(next)
                .is_none_or(|next| position <= next.after)
        })
    }
}
