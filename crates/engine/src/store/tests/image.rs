//! A store with commits in its log, and images of the files that a killed process leaves.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::store::tests::support::{Record, open_store};
use crate::store::{PutKind, Store, StoreError, Write};

pub(super) const DIMENSIONS: usize = 16;
pub(super) const PER_COMMIT: u64 = 5;

pub(super) fn commit(store: &mut Store) {
    let first = store.next_id();
    let records: Vec<Record> = (first..first + PER_COMMIT)
        .map(|id| Record::made(id, 1, DIMENSIONS))
        .collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the commit succeeds");
}

/// The ids of all records, each checked.
pub(super) fn read(store: &Store) -> Result<BTreeSet<u64>, StoreError> {
    let mut ids = BTreeSet::new();
    store.reader().load(0, |stored| {
        let record = Record::made(stored.header.id, 1, DIMENSIONS);
        assert_eq!(stored.data, record.data);
        ids.insert(stored.header.id);
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

/// Opens a store that must be taken for a restored one of `commits` commits, writes to it in an epoch other than `old`,
/// and opens it again.
pub(super) fn accept_restored(path: &Path, commits: u64, old: [u8; 16]) -> Store {
    let mut store = open_store(path).expect("it opens");
    assert!(store.restored().is_some());
    let records = read(&store).expect("it is complete").len() as u64;
    assert_eq!(records, commits * PER_COMMIT);
    store.start_new_epoch().expect("accepted");
    assert_ne!(store.epoch(), old);
    commit(&mut store);
    drop(store);
    let store = open_store(path).expect("it opens");
    assert_eq!(store.restored(), None);
    store
}

pub(super) fn wal(path: &Path) -> PathBuf {
    path.with_extension("sqlite-wal")
}

pub(super) fn acknowledged(path: &Path) -> PathBuf {
    path.with_file_name("acknowledged")
}

/// The files of a store as `kill -9` leaves them, without the -shm file, which SQLite creates again.
pub(super) struct Image {
    pub(super) main: Vec<u8>,
    pub(super) log: Vec<u8>,
    pub(super) acknowledged: Vec<u8>,
}

impl Image {
    pub(super) fn take(path: &Path) -> Self {
        Self {
            main: fs::read(path).expect("read"),
            log: fs::read(wal(path)).unwrap_or_default(),
            acknowledged: fs::read(acknowledged(path)).expect("read"),
        }
    }

    pub(super) fn put(&self, path: &Path) {
        let directory = path.parent().expect("it has one");
        // The file is missing before the first image is written.
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory).expect("made");
        fs::write(path, &self.main).expect("written");
        fs::write(wal(path), &self.log).expect("written");
        fs::write(acknowledged(path), &self.acknowledged).expect("written");
    }
}
