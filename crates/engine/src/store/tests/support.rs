//! Records and random numbers for the store's tests.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::disk::{Disk, RealDisk};
use crate::record::{Passage, Passages, content_hash};
use crate::store::{Change, Header, PutKind, Reader, Store, StoreError, StoredRecord, Write};

impl Reader {
    /// The data of a record, as JSON; `None` where there is no such record.
    pub(super) fn data(&self, id: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let mut data = None;
        self.records(&[id], |record| data = Some(record.data.to_vec()))?;
        Ok(data)
    }

    /// Number of records.
    pub(super) fn count(&self) -> Result<u64, StoreError> {
        self.read(|transaction| {
            let count: i64 =
                transaction.query_row("SELECT count(*) FROM records", [], |row| row.get(0))?;
            Ok(count.cast_unsigned())
        })
    }

    /// As [`Moment::load`](crate::store::Moment::load), of the last commit.
    pub(crate) fn load(
        &self,
        version: u64,
        each: impl FnMut(StoredRecord<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.at_one_commit(|moment| moment.load(version, each))
    }

    /// Up to `limit` entries of the change feed after `position`, in order, with their data.
    pub(super) fn changes(&self, position: u64, limit: usize) -> Result<Vec<Change>, StoreError> {
        let feed = self.feed(position, limit, Some(usize::MAX))?;
        Ok(feed.changes)
    }
}

/// SplitMix64. A seed gives the same numbers on every platform.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// An owned record; a [`Write::Put`] borrows its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) id: u64,
    pub(super) uuid: [u8; 16],
    pub(super) key: Option<String>,
    pub(super) data: Vec<u8>,
    pub(super) vectors: Vec<i32>,
    pub(super) passages: Option<Vec<u8>>,
    pub(super) hash: [u8; 16],
    pub(super) created: i64,
    pub(super) changed: i64,
    pub(super) synced: i64,
}

impl Record {
    /// All members depend on `id` and `revision`, so that a partially written record is detected. From its second revision
    /// on, every third record has a key and every fourth has passages.
    pub(super) fn made(id: u64, revision: u64, dimensions: usize) -> Record {
        let mut random = Random(id << 32 | revision);
        let text = "lorem ".repeat(random.below(200) as usize);
        let data = format!(r#"{{"id":{id},"revision":{revision},"text":"{text}"}}"#).into_bytes();
        let mut vectors: Vec<i32> = (0..dimensions).map(|_| random.next() as i32 >> 1).collect();
        let place = |at: usize| Passage {
            column: "text".into(),
            start: at as u32,
            end: at as u32 + 9,
        };
        let several = (id.is_multiple_of(4) && revision > 1).then(|| Passages {
            places: (0..3).map(place).collect(),
            vectors: (0..2 * dimensions)
                .map(|_| random.next() as i32 >> 1)
                .collect(),
        });
        let passages = several.map(|passages| {
            vectors.extend(&passages.vectors);
            passages.places_to_bytes()
        });
        let now = 1_700_000_000_000 + revision.cast_signed();
        Record {
            id,
            uuid: (u128::from(id) << 80 | 7 << 76 | 2 << 62).to_be_bytes(),
            key: (id.is_multiple_of(3) && revision > 1).then(|| format!("key\u{0} {id}")),
            hash: content_hash(&[&data]),
            data,
            vectors,
            passages,
            created: 1_700_000_000_000,
            changed: now,
            synced: now,
        }
    }

    /// The header of the record before a commit.
    pub(super) fn header(&self) -> Header {
        Header {
            id: self.id,
            uuid: self.uuid,
            hash: self.hash,
            created: self.created,
            changed: self.changed,
            synced: self.synced,
            version: 0,
        }
    }

    pub(super) fn put(&self, kind: PutKind) -> Write<'_> {
        let record = StoredRecord {
            header: self.header(),
            key: self.key.as_deref(),
            data: &self.data,
            vectors: &self.vectors,
            passages: self.passages.as_deref(),
        };
        Write::Put { record, kind }
    }
}

/// Creates a store on the real disk.
pub(super) fn create_store(path: &Path, settings: &[u8]) -> Result<Store, StoreError> {
    Store::create(&real_disk(), path, settings)
}

/// Opens a store on the real disk.
pub(super) fn open_store(path: &Path) -> Result<Store, StoreError> {
    Store::open(&real_disk(), path)
}

pub(super) fn real_disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

/// The vectors of a record and the bytes of the places of its passages; `None` where there is no such record.
pub(super) fn vectors_of(reader: &Reader, id: u64) -> Option<(Vec<i32>, Option<Vec<u8>>)> {
    let vectors = reader.vectors(id).expect("it is read")?;
    let all = vectors.joined();
    let passages = vectors.passages.map(|passages| passages.places_to_bytes());
    Some((all, passages))
}

/// The path of a database file in a temporary directory, which is deleted when the first value is dropped.
pub(super) fn scratch() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("databases/facts/records.sqlite");
    (directory, path)
}

/// A command that runs only the ignored `test`, a path in the crate, of this binary. [`task`] returns `directory`
/// there.
pub(super) fn child(test: &str, directory: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its binary"));
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env(TASK, directory);
    command
}

/// The directory given by [`child`].
pub(super) fn task() -> PathBuf {
    std::env::var_os(TASK)
        .expect("a process made by `child`")
        .into()
}

const TASK: &str = "COSIFT_STORE_TEST_DIRECTORY";
