//! Old changes are removed from the feed in small steps, also after changes of the clock.

use std::time::Duration;

use crate::store::paths::log_path;
use crate::store::tests::support::{Record, create_store, scratch};
use crate::store::{PutKind, Store};

const DAY: i64 = 24 * 3600 * 1000;
const KEEP: Duration = Duration::from_secs(30 * 24 * 3600);

/// Runs all steps that are due at `now`. Returns the position of the last removed change.
fn removed(store: &mut Store, now: i64) -> u64 {
    while store
        .retain_changes(now, KEEP, u64::MAX >> 1)
        .expect("a step")
    {}
    let feed = store.reader().feed(0, 0, None);
    feed.expect("it is read").removed
}

#[test]
fn a_step_overwrites_a_limited_number_of_bytes() {
    const RECORDS: u64 = 40;
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    for id in 1..=RECORDS {
        let mut record = Record::made(id, 1, 4);
        record.data = format!(r#"{{"text":"{}"}}"#, "x".repeat(1 << 20)).into_bytes();
        store
            .commit(&[record.put(PutKind::Created)])
            .expect("stored");
        let record = Record::made(id, 2, 4);
        store
            .commit(&[record.put(PutKind::Changed)])
            .expect("stored");
    }
    let now = 20_000 * DAY;
    assert!(
        !store
            .retain_changes(now, KEEP, u64::MAX >> 1)
            .expect("marked")
    );
    store.checkpoint().expect("the log is moved");
    let later = now + 30 * DAY;
    let mut steps = 0;
    loop {
        let more = store
            .retain_changes(later, KEEP, u64::MAX >> 1)
            .expect("a step");
        let log = std::fs::metadata(log_path(&path)).map_or(0, |log| log.len());
        assert!(log < 12 << 20, "a step wrote {log} bytes");
        store.checkpoint().expect("the log is moved");
        steps += 1;
        if !more {
            break;
        }
    }
    assert!((9..=20).contains(&steps), "{steps} steps");
    assert_eq!(removed(&mut store, later), 2 * RECORDS - 1);
    let left = store.reader().changes(0, 1_000).expect("it is read");
    assert_eq!(left.len(), 1);
    assert_eq!((left[0].position, &left[0].data), (2 * RECORDS, &None));
}

#[test]
fn a_clock_that_was_ahead_for_a_while_keeps_nothing_longer() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let put = |store: &mut Store, id| {
        let record = Record::made(id, 1, 4);
        store
            .commit(&[record.put(PutKind::Created)])
            .expect("stored");
    };
    let now = 20_000 * DAY;
    put(&mut store, 1);
    assert_eq!(removed(&mut store, now + 40_000 * DAY), 0);
    put(&mut store, 2);
    put(&mut store, 3);
    assert_eq!(removed(&mut store, now), 0);
    assert_eq!(removed(&mut store, now + 29 * DAY), 0);
    assert_eq!(removed(&mut store, now + 30 * DAY), 2);
}
