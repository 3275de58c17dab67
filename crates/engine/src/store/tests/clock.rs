//! Each commit has a later time than those before it.

use crate::runtime::now_ms;
use crate::store::tests::support::{Record, create_store, open_store, scratch};
use crate::store::{PutKind, Store};

const HOUR: i64 = 3_600_000;

fn put(store: &mut Store, id: u64) {
    let record = Record::made(id, 1, 4);
    store
        .commit(&[record.put(PutKind::Created)])
        .expect("stored");
}

#[test]
fn a_clock_that_went_back_is_waited_for_also_after_a_restart() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let ahead = now_ms() + HOUR;
    // As if the machine's clock had been ahead.
    store.clock = ahead;
    put(&mut store, 1);
    assert_eq!(store.now(), ahead + 1);
    put(&mut store, 4);
    drop(store);
    let mut store = open_store(&path).expect("it opens");
    assert_eq!(store.last_commit_at(), ahead + 1);
    assert_eq!(store.now(), ahead + 2);
    put(&mut store, 2);
    // Times that callers give do not move the clock.
    let mut record = Record::made(3, 1, 4);
    record.changed = ahead + HOUR;
    record.synced = ahead + HOUR;
    store
        .commit(&[record.put(PutKind::Created)])
        .expect("stored");
    assert_eq!(store.now(), ahead + 3);
}

#[test]
fn commits_that_follow_each_other_at_once_have_different_times() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let times: Vec<i64> = (0..100).map(|_| store.now()).collect();
    assert!(times.is_sorted_by(|a, b| a < b), "{times:?}");
    // None of them is ahead of the machine.
    assert!(times[99] <= now_ms());
}
