//! A store that follows another copies a commit range completely or not at all, and continues from its last position.

use std::ops::ControlFlow;

use crate::record::Vectors;
use crate::store::tests::support::{Record, create_store, open_store, scratch};
use crate::store::{
    Change, CommitRange, CopiedRecord, FeedData, PutKind, Store, StoreError, Write,
};

type CopiedCommits = (CommitRange, Vec<(CopiedRecord, Option<Vectors>)>);

/// The next commit range of `source`, with unchanged vectors.
fn next(source: &Store, follower: &Store) -> CopiedCommits {
    let mut records = Vec::new();
    let (version, position) = (follower.version(), follower.last_position());
    let range = source
        .reader()
        .commit_range(version, position, 100, |record| {
            let copied = CopiedRecord {
                header: record.header,
                key: record.key.map(str::to_owned),
                data: record.data.to_vec(),
            };
            records.push((copied, Some(record.vectors().expect("valid passages"))));
            ControlFlow::Continue(())
        });
    (range.expect("it is read"), records)
}

/// Version, last position, next id, records and changes of a store, as text.
fn contents(store: &Store) -> String {
    let mut all = format!(
        "{} {} {}",
        store.version(),
        store.last_position(),
        store.next_id()
    );
    let reader = store.reader();
    reader
        .load(0, |record| {
            all.push_str(&format!("{record:?}\n"));
            ControlFlow::Continue(())
        })
        .expect("it is read");
    let changes = reader.changes(0, usize::MAX).expect("it is read");
    all + &format!("{changes:?}")
}

#[test]
fn a_full_disk_refuses_a_commit_range_and_nothing_else() {
    let (_source_directory, path) = scratch();
    let mut source = create_store(&path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=500).map(|id| Record::made(id, 1, 384)).collect();
    for batch in records.chunks(30) {
        let writes: Vec<Write<'_>> = batch
            .iter()
            .map(|record| record.put(PutKind::Created))
            .collect();
        source.commit(&writes).expect("the commit succeeds");
    }
    let keyed: Vec<Record> = (3..=60).map(|id| Record::made(id, 2, 384)).collect();
    let puts = keyed.iter().map(|record| record.put(PutKind::Changed));
    source
        .commit(&puts.collect::<Vec<_>>())
        .expect("the commit succeeds");
    source
        .commit(&[
            Write::Delete { id: 3, at: 5 },
            Write::Delete { id: 500, at: 5 },
        ])
        .expect("the commit succeeds");
    let (_directory, path) = scratch();
    let mut follower = create_store(&path, b"{}").expect("a new database");
    let limit = |store: &mut Store, pages: u32| {
        let set = store
            .connection()
            .expect("it is open")
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        set.expect("it is set");
    };
    limit(&mut follower, 30);
    let refused = loop {
        let before = contents(&follower);
        let (range, records) = next(&source, &follower);
        if let Err(error) = follower.copy_commits(&range, &records) {
            assert_eq!(contents(&follower), before);
            break error;
        }
        assert!(!range.last, "30 pages hold no 500 records");
    };
    assert!(matches!(refused, StoreError::DiskFull));
    assert!(!follower.is_poisoned());
    limit(&mut follower, u32::MAX - 1);
    let (mut more, mut last) = (0, false);
    let before = follower.reader().count().expect("counted");
    while !last {
        let (range, records) = next(&source, &follower);
        more += follower
            .copy_commits(&range, &records)
            .expect("the disk has space");
        last = range.last;
    }
    assert_eq!(before.saturating_add_signed(more), 498);
    assert_eq!(contents(&follower), contents(&source));
    drop(follower);
    let follower = open_store(&path).expect("it opens");
    assert_eq!(contents(&follower), contents(&source));
}

#[test]
fn neither_a_commit_range_nor_a_part_of_the_feed_holds_much_former_data() {
    const RECORDS: u64 = 60;
    const BYTES: usize = 1 << 20;
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let large = |id, revision| {
        let mut record = Record::made(id, revision, 4);
        record.data = format!(r#"{{"text":"{}"}}"#, "x".repeat(BYTES)).into_bytes();
        record
    };
    for id in 1..=RECORDS {
        let record = large(id, 1);
        store
            .commit(&[record.put(PutKind::Created)])
            .expect("stored");
        let record = large(id, 2);
        store
            .commit(&[record.put(PutKind::Changed)])
            .expect("stored");
        store
            .commit(&[Write::Delete { id, at: 5 }])
            .expect("stored");
    }
    let reader = store.reader();
    let held = |changes: &[Change]| -> usize {
        let data = changes.iter().filter_map(|change| change.data.as_ref());
        data.map(Vec::len).sum()
    };
    let (mut position, mut parts) = (0, 0);
    while position < store.last_position() {
        let part = reader.feed(position, 1_000, FeedData::Bytes(4 * BYTES));
        let changes = part.expect("it is read").changes;
        assert!((1..=5 * BYTES + 1_000).contains(&held(&changes)));
        assert_eq!(changes[0].position, position + 1);
        position = changes[changes.len() - 1].position;
        parts += 1;
    }
    assert!(parts > 20, "{parts}");
    let bare = reader.feed(0, 1_000, FeedData::None).expect("it is read");
    assert_eq!(bare.changes.len() as u64, 3 * RECORDS);
    assert_eq!(held(&bare.changes), 0);

    let (_directory, path) = scratch();
    let mut follower = create_store(&path, b"{}").expect("a new database");
    loop {
        let (range, records) = next(&store, &follower);
        assert!(held(&range.changes) <= 17 * BYTES + 1_000);
        follower.copy_commits(&range, &records).expect("stored");
        if range.last {
            break;
        }
    }
    assert_eq!(contents(&follower), contents(&store));
}

#[test]
fn a_commit_range_holds_few_records_with_many_vectors() {
    const RECORDS: u64 = 24;
    const VALUES: usize = 1 << 18;
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    for id in 1..=RECORDS {
        let record = Record::made(id, 1, VALUES);
        store
            .commit(&[record.put(PutKind::Created)])
            .expect("stored");
    }
    let (_directory, path) = scratch();
    let mut follower = create_store(&path, b"{}").expect("a new database");
    loop {
        let (range, records) = next(&store, &follower);
        assert!((1..=8).contains(&records.len()), "{}", records.len());
        follower.copy_commits(&range, &records).expect("stored");
        if range.last {
            break;
        }
    }
    assert_eq!(contents(&follower), contents(&store));
}

#[test]
fn a_key_is_copied_also_when_nothing_else_changed() {
    is_copied_without_vectors(Record::made(1, 1, 8));
}

#[test]
fn passages_are_kept_when_a_key_is_copied() {
    let record = Record::made(4, 2, 8);
    assert!(record.passages.is_some());
    is_copied_without_vectors(record);
}

/// Copies a record, then the record with a key and without its vectors.
fn is_copied_without_vectors(mut record: Record) {
    let (_directory, path) = scratch();
    let mut source = create_store(&path, b"{}").expect("a new database");
    source
        .commit(&[record.put(PutKind::Created)])
        .expect("stored");
    let (_directory, path) = scratch();
    let mut follower = create_store(&path, b"{}").expect("a new database");
    let mut copy = |source: &Store| {
        let (range, records) = next(source, &follower);
        // Without vectors, as after the first copy of a record whose text is the same.
        let first = follower.version() == 0;
        let records: Vec<_> = records
            .into_iter()
            .map(|(record, vector)| (record, vector.filter(|_| first)))
            .collect();
        follower.copy_commits(&range, &records).expect("stored");
        assert_eq!(contents(&follower), contents(source));
    };
    copy(&source);
    record.key = Some("SKU-1".to_owned());
    source
        .commit(&[record.put(PutKind::Changed)])
        .expect("stored");
    copy(&source);
}

#[test]
fn a_store_that_copies_commits_takes_over_the_clock() {
    let (_directory, path) = scratch();
    let mut source = create_store(&path, b"{}").expect("a new database");
    // As if the machine's clock had been ahead.
    source.clock = crate::runtime::now_ms() + 3_600_000;
    let ahead = source.now();
    source
        .commit(&[Record::made(1, 1, 4).put(PutKind::Created)])
        .expect("stored");
    let (_directory, path) = scratch();
    let mut follower = create_store(&path, b"{}").expect("a new database");
    let (range, records) = next(&source, &follower);
    follower.copy_commits(&range, &records).expect("stored");
    drop(follower);
    assert_eq!(open_store(&path).expect("it opens").now(), ahead + 1);
}
