//! Reads and the writer do not wait for each other, and the log does not grow without bound.

use std::fs;
use std::ops::ControlFlow;

use crate::store::tests::support::{Record, create_store, scratch, vectors_of};
use crate::store::{PutKind, Store, Write};

fn commit_new(store: &mut Store, ids: std::ops::Range<u64>) {
    let records: Vec<Record> = ids.map(|id| Record::made(id, 1, 384)).collect();
    let writes: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&writes).expect("the commit succeeds");
}

#[test]
fn a_read_sees_one_commit_while_others_follow() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit_new(&mut store, 1..101);
    let reader = store.reader();
    let mut found = 0;
    reader
        .load(0, |record| {
            found += 1;
            assert_eq!(record.header.version, 1);
            if found % 10 == 0 {
                let id = 101 + found;
                commit_new(&mut store, id..id + 1);
                store
                    .commit(&[Write::Delete { id: found, at: 5 }])
                    .expect("the commit succeeds");
                store.checkpoint().expect("a running read is no error");
                assert_eq!(
                    reader.count().expect("they are counted"),
                    100,
                    "one more, one less"
                );
            }
            ControlFlow::Continue(())
        })
        .expect("they are read");
    assert_eq!(found, 100);
}

#[test]
fn breaking_ends_a_read() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit_new(&mut store, 1..101);
    let mut ids = Vec::new();
    let mut read = |version, stop| {
        ids.clear();
        let result = store.reader().load(version, |record| {
            ids.push(record.header.id);
            if record.header.id == stop {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        result.expect("they are read");
        ids.clone()
    };
    assert_eq!(read(0, 3), [1, 2, 3]);
    assert!(read(1, 3).is_empty());
}

#[test]
fn readers_on_many_threads_agree() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit_new(&mut store, 1..101);
    let reader = store.reader();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for id in 1..=100 {
                    let expected = Record::made(id, 1, 384);
                    assert_eq!(reader.data(id).expect("it is read"), Some(expected.data));
                    assert_eq!(
                        vectors_of(&reader, id),
                        Some((expected.vectors, expected.passages))
                    );
                }
            });
        }
        commit_new(&mut store, 101..1_000);
    });
}

#[test]
fn the_log_stays_small_and_a_checkpoint_empties_it() {
    let (_directory, path) = scratch();
    let log = path.with_extension("sqlite-wal");
    let log_bytes = || fs::metadata(&log).expect("the log is there").len();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let mut largest = 0;
    for batch in 0..60 {
        commit_new(&mut store, 1 + batch * 500..1 + (batch + 1) * 500);
        largest = largest.max(log_bytes());
    }
    assert!(
        largest > 0 && largest < 24 << 20,
        "{largest} bytes after commits of 1 MB and 60 MB in all"
    );
    store.checkpoint().expect("it succeeds");
    assert_eq!(log_bytes(), 0);
    assert!(store.file_bytes() > 60_000 << 10 >> 1);
}
