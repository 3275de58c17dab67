//! Counts of the strings of a column.

use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::columns::{ColumnId, Mask, Scalars, Strings, Texts};
use crate::runtime::{StopCheck, Stopped};
use crate::snapshot::Body;

/// Bytes that a counted string counts for in the stop check: looking at it takes about as long as testing them.
pub(super) const TEXT_BYTES: usize = 128;

/// How many records hold each string. The strings are not copied from their blocks.
#[derive(Debug)]
pub(crate) struct TextCounts {
    column: ColumnId,
    hasher: DefaultHashBuilder,
    /// Places in `entries`.
    table: HashTable<u32>,
    /// In the order of their first record, so that a walk over them visits the blocks in order.
    entries: Entries,
    bodies: Vec<Arc<Body>>,
    /// Counts by code: a buffer that is reused.
    codes: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    /// Place in `bodies` of the body that holds the string.
    body: u32,
    /// Place of the part of the column of that body that holds the string.
    part: u16,
    /// Place of the string in that part.
    string: u16,
    count: u32,
}

impl Entry {
    /// The hash for a table, which needs bits at both ends.
    fn table_hash(&self) -> u64 {
        u64::from(self.hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

/// Entries in chunks: a vector that doubles would take up to three times their bytes while it grows.
#[derive(Debug, Default)]
struct Entries {
    chunks: Vec<Vec<Entry>>,
}

impl Entries {
    const PER_CHUNK: usize = 4096;

    fn push(&mut self, entry: Entry) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < Self::PER_CHUNK => chunk.push(entry),
            Some(_) => {
                let mut chunk = Vec::with_capacity(Self::PER_CHUNK);
                chunk.push(entry);
                self.chunks.push(chunk);
            }
            None => self.chunks.push(vec![entry]),
        }
    }

    fn len(&self) -> usize {
        let full = self.chunks.len().saturating_sub(1) * Self::PER_CHUNK;
        full + self.chunks.last().map_or(0, Vec::len)
    }

    fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.chunks.iter().flatten()
    }

    fn memory_bytes(&self) -> usize {
        let entries: usize = self.chunks.iter().map(Vec::capacity).sum();
        entries * size_of::<Entry>() + self.chunks.capacity() * size_of::<Vec<Entry>>()
    }
}

impl Index<u32> for Entries {
    type Output = Entry;

    fn index(&self, at: u32) -> &Entry {
        let at = at as usize;
        &self.chunks[at / Self::PER_CHUNK][at % Self::PER_CHUNK]
    }
}

impl IndexMut<u32> for Entries {
    fn index_mut(&mut self, at: u32) -> &mut Entry {
        let at = at as usize;
        &mut self.chunks[at / Self::PER_CHUNK][at % Self::PER_CHUNK]
    }
}

impl TextCounts {
    /// Counts that are merged must share their hasher.
    pub(crate) fn new(column: ColumnId, hasher: DefaultHashBuilder) -> Self {
        Self {
            column,
            hasher,
            table: HashTable::new(),
            entries: Entries::default(),
            bodies: Vec::new(),
            codes: Vec::new(),
        }
    }

    /// Counts the strings in the rows of `within`, which are rows of a part of the column in `body`.
    pub(crate) fn count(&mut self, body: &Arc<Body>, part: usize, texts: &Texts, within: &Mask) {
        if within.is_empty() {
            return;
        }
        if part == 0
            || self
                .bodies
                .last()
                .is_none_or(|last| !Arc::ptr_eq(last, body))
        {
            self.bodies.push(Arc::clone(body));
        }
        let part = part as u16;
        let strings = texts.strings();
        match texts {
            Texts::Plain(_) => within
                .iter()
                .for_each(|row| self.add_here(part, strings, row, 1)),
            Texts::Coded { codes, .. } => {
                let mut counts = std::mem::take(&mut self.codes);
                counts.clear();
                counts.resize(strings.len(), 0);
                codes.each_delta(within, |code| counts[code as usize] += 1);
                for (code, &count) in counts.iter().enumerate() {
                    if count > 0 {
                        self.add_here(part, strings, code, count);
                    }
                }
                self.codes = counts;
            }
        }
    }

    /// Adds the counts of another for the same column.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn merge(&mut self, other: Self, stop_check: &StopCheck<'_>) -> Result<(), Stopped> {
        let offset = self.bodies.len() as u32;
        self.bodies.extend(other.bodies);
        for entry in other.entries.chunks.into_iter().flatten() {
            stop_check.before_testing(TEXT_BYTES)?;
            let entry = Entry {
                body: entry.body + offset,
                ..entry
            };
            let body = Arc::clone(&self.bodies[entry.body as usize]);
            self.add(
                entry,
                strings_of(&body, self.column, entry.part).bytes(entry.string.into()),
            );
        }
        Ok(())
    }

    /// Counts everything so far `factor` times.
    pub(crate) fn multiply(&mut self, factor: u32) {
        let entries = self.entries.chunks.iter_mut().flatten();
        entries.for_each(|entry| entry.count *= factor);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.table.allocation_size()
            + self.entries.memory_bytes()
            + self.bodies.capacity() * size_of::<Arc<Body>>()
            + self.codes.capacity() * size_of::<u32>()
    }

    /// Each string once, with its count.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (TextAt<'_>, u64)> {
        self.entries.iter().map(|entry| {
            (
                TextAt {
                    counts: self,
                    entry,
                },
                u64::from(entry.count),
            )
        })
    }

    fn add_here(&mut self, part: u16, strings: &Strings, string: usize, count: u32) {
        let text = strings.bytes(string);
        let body = self.bodies.len() as u32 - 1;
        self.add(
            Entry {
                hash: (self.hasher.hash_one(text) >> 32) as u32,
                body,
                part,
                string: string as u16,
                count,
            },
            text,
        );
    }

    #[inline]
    fn add(&mut self, new: Entry, text: &[u8]) {
        let Self {
            column,
            table,
            entries,
            bodies,
            ..
        } = self;
        let same = |&at: &u32| {
            let entry = &entries[at];
            let body = &bodies[entry.body as usize];
            let strings = || strings_of(body, *column, entry.part);
            entry.hash == new.hash && strings().bytes(entry.string.into()) == text
        };
        if let Some(&at) = table.find(new.table_hash(), same) {
            entries[at].count += new.count;
        } else {
            let at = entries.len() as u32;
            entries.push(new);
            table.insert_unique(new.table_hash(), at, |&at| entries[at].table_hash());
        }
    }
}

/// A string that was counted. Reading it costs a memory access to its block.
pub(crate) struct TextAt<'a> {
    counts: &'a TextCounts,
    entry: &'a Entry,
}

impl<'a> TextAt<'a> {
    pub(crate) fn get(&self) -> &'a str {
        let body = &self.counts.bodies[self.entry.body as usize];
        let strings = strings_of(body, self.counts.column, self.entry.part);
        strings.get(self.entry.string.into())
    }
}

fn strings_of(body: &Body, column: ColumnId, part: u16) -> &Strings {
    let column = body.columns.column(column);
    let part = column.and_then(|column| column.part(part.into()));
    let texts = part.and_then(Scalars::text);
    texts
        .expect("a block whose strings were counted has some")
        .strings()
}
