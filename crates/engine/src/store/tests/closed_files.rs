//! The files of a store can be closed between two commits.

use std::fs;

use crate::store::tests::support::{Record, create_store, open_store, scratch};
use crate::store::{PutKind, Store, StoreError};

fn commit(store: &mut Store, id: u64) -> Result<u64, StoreError> {
    let record = Record::made(id, 1, 8);
    store.commit(&[record.put(PutKind::Created)])?;
    Ok(store.version())
}

#[test]
fn the_next_commit_opens_them_again() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    for id in 1..4 {
        assert_eq!(commit(&mut store, id).expect("it succeeds"), id);
        store.close_files();
        assert!(!store.is_open());
        assert!(
            !path.with_extension("sqlite-wal").exists(),
            "the log is in the file"
        );
        assert_eq!(store.reader().count().expect("reads open the file"), id);
    }
    drop(store);
    assert!(
        !path.with_extension("sqlite-wal").exists(),
        "a reader left it"
    );
    let store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.version()), (None, 3));
}

#[test]
fn a_process_that_ends_while_they_are_closed_loses_nothing() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store, 1).expect("it succeeds");
    store.close_files();
    // As after a kill: nothing is written at the end.
    std::mem::forget(store);
    let mut store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.version()), (None, 1));
    assert_eq!(commit(&mut store, 2).expect("it succeeds"), 2);
}

#[test]
fn files_that_were_replaced_meanwhile_take_no_commit() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store, 1).expect("it succeeds");
    store.close_files();
    let backup = fs::read(&path).expect("read");
    commit(&mut store, 2).expect("it succeeds");
    store.close_files();
    fs::write(&path, backup).expect("replaced");
    assert!(matches!(
        commit(&mut store, 2),
        Err(StoreError::Inconsistent { .. })
    ));
    assert!(store.is_poisoned());
}

#[test]
fn a_running_read_keeps_its_commit_while_the_files_of_the_writer_are_closed() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    for id in 1..11 {
        commit(&mut store, id).expect("it succeeds");
    }
    let mut read = 0;
    let reader = store.reader();
    reader
        .load(0, |record| {
            read += 1;
            assert_eq!(record.header.id, read);
            store.close_files();
            commit(&mut store, 10 + read).expect("it succeeds");
            std::ops::ControlFlow::Continue(())
        })
        .expect("they are read");
    assert_eq!(read, 10, "not the records of later commits");
    assert_eq!(store.records(), 20);
    drop(store);
    assert_eq!(open_store(&path).expect("it opens").version(), 20);
}
