//! Opening a file of format 1 upgrades it to the current format.

use std::ops::ControlFlow;

use rusqlite::Connection;

use crate::store::tests::support::{Record, create_store, downgrade, open_store, scratch};
use crate::store::{PutKind, Store, StoreError, Write};

fn write_format_1(path: &std::path::Path) {
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
    drop(store);
    downgrade(path);
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
    let count = |store: &Store| {
        let mut records = 0;
        store
            .reader()
            .load(0, |_| {
                records += 1;
                ControlFlow::Continue(())
            })
            .map(|()| records)
    };
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
