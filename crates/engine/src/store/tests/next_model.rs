//! What the next model made of a record is of its present content, and goes where it is not needed.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::record::Vectors;
use crate::store::tests::support::{Record, create_store, open_store, scratch, vectors_of};
use crate::store::{NextReached, NextRecord, PutKind, Store, Write};

/// Those of the records of the support module.
const DIMENSIONS: usize = 8;

/// Those of the next model.
const NEXT_DIMENSIONS: usize = 4;

fn create(path: &Path, ids: std::ops::RangeInclusive<u64>) -> Store {
    let mut store = create_store(path, b"{}").expect("created");
    let records: Vec<Record> = ids.map(|id| Record::made(id, 2, DIMENSIONS)).collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("committed");
    store.begin_next(br#"{"next":true}"#, 17).expect("begun");
    store
}

fn vector_of(id: u64) -> Vec<i32> {
    vec![id as i32, -1, 2, 3]
}

/// Reads up to `limit` records that lack vectors of the next model.
fn read(store: &Store, limit: usize) -> ((NextReached, NextReached), Vec<NextRecord>, bool) {
    let before = store.reader().next_model().expect("read").expect("begun");
    let mut records = Vec::new();
    let (after, is_last) = store
        .reader()
        .without_next(before.reached, |record| {
            records.push(NextRecord {
                id: record.header.id,
                version: record.header.version,
                hash: record.header.hash,
                vectors: Vectors::one(vector_of(record.header.id)),
            });
            if records.len() == limit {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })
        .expect("read");
    ((before.reached, after), records, is_last)
}

fn put(store: &mut Store, limit: usize) -> Option<u64> {
    let (reached, records, _) = read(store, limit);
    store.put_next(reached, &records).expect("stored")
}

/// Hands over all vectors of the next model that are in the table.
fn hand_over(store: &mut Store, file: u64) {
    let reader = store.reader();
    let reached = reader.next_model().expect("read").expect("begun").reached;
    let next = reader.next_rows(NEXT_DIMENSIONS, 1).expect("read");
    let next = next.expect("there are some");
    let sizes = (NEXT_DIMENSIONS, next.ids.len());
    let files = reader.vector_files();
    files
        .write(file, sizes, &next.later, &next.rows)
        .expect("written");
    let slots = next.ids.iter().enumerate();
    let handed_over = store.hand_over_next(reached, file, slots.map(|(slot, id)| (*id, slot)));
    assert!(handed_over.expect("handed over"));
}

fn done(store: &Store) -> u64 {
    let next = store.reader().next_model().expect("read");
    next.expect("begun").done
}

fn switch(store: &mut Store, settings: &[u8]) -> bool {
    let next = store.reader().next_model().expect("read");
    let reached = next.expect("begun").reached;
    store.switch(reached, settings).expect("answered")
}

fn write(store: &mut Store, write: Write<'_>) {
    store.commit(&[write]).expect("committed");
}

#[test]
fn a_record_that_changes_or_goes_loses_its_row_and_one_that_is_touched_keeps_it() {
    let (_directory, path) = scratch();
    let mut store = create(&path, 1..=10);
    assert_eq!(put(&mut store, 6), Some(6));
    // One of the six, one that has none yet, and all others later.
    hand_over(&mut store, 5);
    let changed = [2, 8].map(|id| Record::made(id, 3, DIMENSIONS));
    for record in &changed {
        write(&mut store, record.put(PutKind::Changed));
    }
    write(&mut store, Write::Touch { id: 3, synced: 99 });
    let mut with_times = Record::made(5, 2, DIMENSIONS);
    with_times.changed += 1;
    write(&mut store, with_times.put(PutKind::Changed));
    write(&mut store, Write::Delete { id: 4, at: 99 });
    assert_eq!(done(&store), 4, "1, 3, 5 and 6");
    let (_, records, is_last) = read(&store, 100);
    let ids: Vec<u64> = records.iter().map(|record| record.id).collect();
    assert_eq!((ids, is_last), (vec![7, 9, 10, 2, 8], true));
    assert!(!switch(&mut store, b"{}"), "records lack vectors");
    assert_eq!(put(&mut store, 100), Some(9));
    let version = store.version();
    assert!(switch(&mut store, br#"{"switched":true}"#));
    assert_eq!(store.version(), version + 1);
    drop(store);
    for _ in 0..2 {
        let store = open_store(&path).expect("opened");
        assert!(store.restored().is_none());
        let (reader, mut ids) = (store.reader(), Vec::new());
        reader
            .load(0, |record| {
                assert_eq!(record.vectors, vector_of(record.header.id));
                ids.push(record.header.id);
                ControlFlow::Continue(())
            })
            .expect("all records and their checksums");
        assert_eq!(ids, [1, 2, 3, 5, 6, 7, 8, 9, 10]);
        assert!(reader.next_model().expect("read").is_none());
    }
}

#[test]
fn what_was_read_before_a_later_write_or_batch_is_not_stored() {
    let (_directory, path) = scratch();
    let mut store = create(&path, 1..=4);
    let (reached, records, _) = read(&store, 2);
    write(
        &mut store,
        Record::made(1, 3, DIMENSIONS).put(PutKind::Changed),
    );
    let again = read(&store, 2);
    assert_eq!(store.put_next(reached, &records).expect("stored"), Some(1));
    let late = store.put_next(again.0, &again.1).expect("refused");
    assert_eq!(late, None, "another batch was stored since");
    assert_eq!(put(&mut store, 9), Some(4));
    store.begin_next(b"{}", 18).expect("begun again");
    let late = store.put_next(reached, &records).expect("refused");
    assert_eq!(late, None, "another re-embedding was begun since");
    assert!(store.stamp_next(reached.1).expect("refused").is_none());
    assert!(!store.switch(reached.1, b"{}").expect("refused"));
    assert_eq!(done(&store), 0);
}

#[test]
fn a_reader_of_the_former_vectors_knows_of_the_switch() {
    let (_directory, path) = scratch();
    let mut store = create(&path, 1..=3);
    put(&mut store, 9);
    let former = store.reader();
    assert!(!former.was_switched().expect("read"));
    assert!(switch(&mut store, b"{}"));
    assert!(former.was_switched().expect("read"));
    drop(store);
    let store = open_store(&path).expect("opened");
    assert_eq!(vectors_of(&store.reader(), 1), Some((vector_of(1), None)));
}

#[test]
fn a_cancelled_re_embedding_leaves_nothing() {
    let (_directory, path) = scratch();
    let mut store = create(&path, 1..=20);
    put(&mut store, 9);
    hand_over(&mut store, 5);
    put(&mut store, 9);
    let file = path.with_file_name("vectors/5.vectors");
    assert!(file.exists());
    store.cancel_next().expect("cancelled");
    assert!(!file.exists());
    assert!(store.reader().next_model().expect("read").is_none());
    drop(store);
    let connection = rusqlite::Connection::open(&path).expect("opened");
    for table in ["next_records", "next_vectors", "vector_files"] {
        let count = format!("SELECT count(*) FROM {table}");
        let count: i64 = connection
            .query_row(&count, [], |row| row.get(0))
            .expect("counted");
        assert_eq!(count, 0, "{table}");
    }
    let keys = "SELECT count(*) FROM meta WHERE key LIKE 'next%'";
    let keys: i64 = connection
        .query_row(keys, [], |row| row.get(0))
        .expect("counted");
    assert_eq!(keys, 0);
    assert_eq!(
        fs::read_dir(path.with_file_name("vectors"))
            .expect("read")
            .count(),
        0
    );
}
