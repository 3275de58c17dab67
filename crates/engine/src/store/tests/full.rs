//! A full disk gives the error `disk_full`. Nothing is written partially, reads continue, and writes continue once the
//! disk has space again.

use crate::store::tests::support::{Record, create_store, open_store, scratch};
use crate::store::{PutKind, Store, StoreError, Write};

#[test]
fn a_full_disk_refuses_the_commit_and_nothing_else() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=500).map(|id| Record::made(id, 1, 384)).collect();
    let (few, many) = records.split_at(20);
    let few: Vec<Write<'_>> = few
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    let many: Vec<Write<'_>> = many
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&few).expect("the commit succeeds");

    let limit = |store: &mut Store, pages: u32| {
        let set = store
            .connection()
            .expect("it is open")
            .pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()));
        set.expect("it is set");
    };
    limit(&mut store, 30);
    for _ in 0..3 {
        assert!(matches!(store.commit(&many), Err(StoreError::DiskFull)));
        assert!(!store.is_poisoned());
        assert_eq!(
            (store.version(), store.last_position(), store.next_id()),
            (1, 20, 21)
        );
        assert_eq!(store.reader().count().expect("reads continue"), 20);
    }
    store
        .commit(&[Write::Touch { id: 3, synced: 9 }])
        .expect("a commit that needs no space succeeds");
    limit(&mut store, u32::MAX - 1);
    store.commit(&many).expect("the disk has space again");
    assert_eq!(store.last_position(), 500);
    drop(store);
    assert_eq!(
        open_store(&path)
            .expect("it opens")
            .reader()
            .count()
            .expect("they are counted"),
        500
    );
}
