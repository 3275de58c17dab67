//! Opening a file of an earlier format upgrades it to the current format.

use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;

use crate::store::tests::support::{
    Record, create_store, downgrade_to_1, downgrade_to_2, downgrade_to_3, downgrade_to_4,
    open_store, scratch, vectors_of,
};
use crate::store::{PutKind, Store, StoreError, StoredRecord, Write};

fn write_without_keys(path: &Path) {
    let mut store = create_store(path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=50).map(|id| Record::made(id, 1, 8)).collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the commit succeeds");
    store
        .commit(&[
            Write::Delete { id: 50, at: 7 },
            Write::Touch { id: 3, synced: 9 },
        ])
        .expect("the commit succeeds");
}

fn write_format_1(path: &Path) {
    write_without_keys(path);
    downgrade_to_1(path);
}

fn count(store: &Store) -> Result<u64, StoreError> {
    let mut records = 0;
    let each = |_: StoredRecord<'_>| {
        records += 1;
        ControlFlow::Continue(())
    };
    store.reader().load(0, each).map(|()| records)
}

#[test]
fn a_file_of_format_1_is_upgraded_in_place() {
    let (_directory, path) = scratch();
    write_format_1(&path);
    let store = open_store(&path).expect("it opens");
    assert_eq!(
        (store.version(), store.last_position(), store.next_id()),
        (2, 51, 51)
    );
    let epoch = store.epoch();
    assert_eq!(count(&store).expect("count and checksum match"), 49);
    drop(store);
    let mut store = open_store(&path).expect("it opens again");
    assert_eq!(store.epoch(), epoch);
    store
        .commit(&[Record::made(1, 2, 8).put(PutKind::Changed)])
        .expect("the commit succeeds");
    assert_eq!(count(&store).expect("count and checksum match"), 49);
}

#[test]
fn a_file_of_format_2_is_upgraded_without_rewriting_its_rows() {
    is_upgraded_without_rewriting_its_rows(downgrade_to_2);
}

#[test]
fn a_file_of_format_3_is_upgraded_without_rewriting_its_rows() {
    is_upgraded_without_rewriting_its_rows(downgrade_to_3);
}

#[test]
fn a_file_of_format_4_is_upgraded_without_rewriting_its_rows() {
    is_upgraded_without_rewriting_its_rows(downgrade_to_4);
}

/// Upgrades a file that `downgrade` converted, then gives record 12 a key and passages.
fn is_upgraded_without_rewriting_its_rows(downgrade: fn(&Path)) {
    let (_directory, path) = scratch();
    write_without_keys(&path);
    downgrade(&path);
    let rows = |path: &Path| {
        let connection = Connection::open(path).expect("it opens");
        let mut statement = connection
            .prepare("SELECT id, data, vector, crc FROM contents ORDER BY id")
            .expect("prepared");
        let row = |row: &rusqlite::Row<'_>| {
            Ok((
                row.get::<_, i64>(0)?,
                row.get::<_, Vec<u8>>(1)?,
                row.get::<_, Vec<u8>>(2)?,
                row.get::<_, i64>(3)?,
            ))
        };
        let rows = statement.query_map([], row).expect("read");
        rows.collect::<Result<Vec<_>, _>>().expect("read")
    };
    let before = rows(&path);
    let mut store = open_store(&path).expect("it opens");
    assert!(store.restored().is_none(), "its history continues");
    assert_eq!((store.version(), store.last_position()), (2, 51));
    assert_eq!(count(&store).expect("count and checksum match"), 49);
    let changes = store.reader().changes(0, 100).expect("the feed is read");
    assert_eq!(changes.len(), 51);
    assert!(changes.iter().all(|change| change.key.is_none()));
    let keyed = Record::made(12, 2, 8);
    assert!(keyed.passages.is_some());
    store
        .commit(&[keyed.put(PutKind::Changed)])
        .expect("the commit succeeds");
    drop(store);
    let store = open_store(&path).expect("it opens again");
    let mut found = None;
    store
        .reader()
        .records(&[12], |record| found = record.key.map(str::to_owned))
        .expect("it is read");
    assert_eq!(found, keyed.key);
    let expected = Some((keyed.vector.clone(), keyed.passages.clone()));
    assert_eq!(vectors_of(&store.reader(), 12), expected);
    drop(store);
    let mut after = rows(&path);
    assert_ne!(before[11], after[11]);
    after[11] = before[11].clone();
    assert_eq!(before, after);
}

#[test]
fn a_record_that_cannot_be_read_stops_the_upgrade_and_leaves_the_file() {
    let (_directory, path) = scratch();
    write_format_1(&path);
    let other = Connection::open(&path).expect("it opens");
    other
        .execute("UPDATE records SET hash = x'00' WHERE id = 5", [])
        .expect("it is changed");
    drop(other);
    for _ in 0..2 {
        let error = open_store(&path).expect_err("it is refused");
        assert!(matches!(error, StoreError::Damaged { id: 5 }), "{error}");
    }
}
