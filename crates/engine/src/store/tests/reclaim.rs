//! The disk space of deleted records is returned.

use crate::store::tests::support::{Record, create_store, scratch};
use crate::store::{PutKind, Store, Write};

const RECORDS: u64 = 4_000;

fn filled(path: &std::path::Path) -> Store {
    let mut store = create_store(path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=RECORDS).map(|id| Record::made(id, 1, 384)).collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the records are written");
    store.checkpoint().expect("the log is moved");
    store
}

fn delete_all(store: &mut Store) {
    let deletions: Vec<Write<'_>> = (1..=RECORDS)
        .map(|id| Write::Delete { id, at: 5 })
        .collect();
    store.commit(&deletions).expect("the records are deleted");
    store.checkpoint().expect("the log is moved");
}

/// Runs every step. Returns the number of steps.
fn reclaim(store: &mut Store) -> usize {
    assert!(store.has_space_to_reclaim().expect("it is readable"));
    let mut steps = 1;
    while store.reclaim().expect("a step") {
        steps += 1;
    }
    store.checkpoint().expect("the log is moved");
    steps
}

#[test]
fn a_file_becomes_shorter_step_by_step() {
    let (_directory, path) = scratch();
    let mut store = filled(&path);
    let full = store.file_bytes();
    assert!(!store.has_space_to_reclaim().expect("it is readable"));
    delete_all(&mut store);
    assert!(store.file_bytes() >= full, "a deletion alone frees nothing");
    let steps = reclaim(&mut store);
    assert!(steps > 1, "{full} bytes were returned in one step");
    // The change feed keeps the data of deleted records.
    assert!(
        store.file_bytes() < full / 2,
        "{} of {full}",
        store.file_bytes()
    );
    assert!(!store.has_space_to_reclaim().expect("it is readable"));
}
