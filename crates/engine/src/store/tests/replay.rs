//! After random writes, a reader that catches up from any version or position has the same records as the model.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::store::tests::support::{Random, Record, create_store, open_store, scratch, vectors_of};
use crate::store::{Change, ChangeKind, Header, PutKind, Reader, StoreError, StoredRecord, Write};

type Model = BTreeMap<u64, Record>;

fn owned(stored: &StoredRecord<'_>) -> Record {
    Record {
        id: stored.header.id,
        uuid: stored.header.uuid,
        key: stored.key.map(str::to_owned),
        data: stored.data.to_vec(),
        vectors: stored.vectors.to_vec(),
        passages: stored.passages.map(<[u8]>::to_vec),
        hash: stored.header.hash,
        created: stored.header.created,
        changed: stored.header.changed,
        synced: stored.header.synced,
    }
}

fn catch_up(reader: &Reader, version: u64, model: &mut Model) {
    reader
        .at_one_commit(|moment| moment.deleted_since(version, |id| drop(model.remove(&id))))
        .expect("deletions are read");
    reader
        .load(version, |stored| {
            assert!(stored.header.version > version);
            model.insert(stored.header.id, owned(&stored));
            ControlFlow::Continue(())
        })
        .expect("records are read");
}

#[test]
fn catching_up_from_any_version_gives_the_records_of_the_model() {
    const SEED: u64 = 20_261_121;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let mut model = Model::new();
    let mut feed: Vec<Change> = Vec::new();
    let mut past = vec![(0, Model::new())];
    let mut next_id = 1;
    for round in 1..=120 {
        let mut records = Vec::new();
        let mut kinds = Vec::new();
        for _ in 0..random.below(12) + 1 {
            let id = random.below(40) + 1;
            // Sometimes a commit writes a record twice, or deletes it and creates it again.
            let known = records.iter().rposition(|record: &Record| record.id == id);
            let exists = known.map_or(model.contains_key(&id), |index| kinds[index] != 'd');
            kinds.push(match (exists, random.below(3)) {
                (false, _) => 'c',
                (true, 0) => 'u',
                (true, 1) => 't',
                (true, _) => 'd',
            });
            let mut record = Record::made(id, round, 8);
            if kinds.last() == Some(&'t') {
                let old = known.map_or_else(|| model[&id].clone(), |index| records[index].clone());
                record = Record {
                    synced: record.synced + 1,
                    ..old
                };
            }
            records.push(record);
        }
        let writes: Vec<Write<'_>> = records
            .iter()
            .zip(&kinds)
            .map(|(record, kind)| match kind {
                'c' => record.put(PutKind::Created),
                'u' => record.put(PutKind::Changed),
                't' => Write::Touch {
                    id: record.id,
                    synced: record.synced,
                },
                _ => Write::Delete {
                    id: record.id,
                    at: record.synced,
                },
            })
            .collect();
        store.commit(&writes).expect("the commit succeeds");
        assert_eq!(store.version(), round);
        for (record, kind) in records.into_iter().zip(kinds) {
            let entry = |key: &Option<String>, kind, at, data| Change {
                position: feed.len() as u64 + 1,
                version: round,
                id: record.id,
                uuid: record.uuid,
                key: key.clone(),
                kind,
                at,
                data,
            };
            match kind {
                'c' => feed.push(entry(
                    &record.key,
                    ChangeKind::Created,
                    record.changed,
                    None,
                )),
                'u' => {
                    // The data of the record before the change.
                    let before = model[&record.id].data.clone();
                    feed.push(entry(
                        &record.key,
                        ChangeKind::Changed,
                        record.changed,
                        Some(before),
                    ));
                }
                't' => {}
                _ => {
                    let last = model
                        .remove(&record.id)
                        .expect("only what exists is deleted");
                    feed.push(entry(
                        &last.key,
                        ChangeKind::Deleted,
                        record.synced,
                        Some(last.data),
                    ));
                    continue;
                }
            }
            next_id = next_id.max(record.id + 1);
            model.insert(record.id, record);
        }
        assert_eq!(store.last_position(), feed.len() as u64);
        past.push((round, model.clone()));
        if round % 40 == 0 {
            drop(store);
            store = open_store(&path).expect("it opens again");
        }
        assert_eq!(
            (store.version(), store.last_position(), store.next_id()),
            (round, feed.len() as u64, next_id)
        );
    }
    let reader = store.reader();
    for (version, mut then) in past {
        catch_up(&reader, version, &mut then);
        assert_eq!(then, model, "from version {version}");
    }
    for start in 0..feed.len() {
        let page = reader.changes(start as u64, 7).expect("the feed is read");
        assert_eq!(page, feed[start..feed.len().min(start + 7)]);
    }
    assert_eq!(
        reader.count().expect("they are counted"),
        model.len() as u64
    );
    lookups_agree(&reader, &model);
}

fn lookups_agree(reader: &Reader, model: &Model) {
    let ids: Vec<u64> = (0..=41).rev().collect();
    let expected: Vec<Option<Header>> = ids
        .iter()
        .map(|id| model.get(id).map(Record::header))
        .collect();
    let mut headers = reader.identities(&ids).expect("they are read");
    headers
        .iter_mut()
        .flatten()
        .for_each(|header| header.version = 0);
    assert_eq!(headers, expected);
    let mut found = Vec::new();
    reader
        .records(&ids, |stored| found.push(owned(&stored)))
        .expect("they are read");
    let in_order: Vec<Record> = ids.iter().filter_map(|id| model.get(id)).cloned().collect();
    assert_eq!(found, in_order);
    for id in ids {
        let record = model.get(&id);
        assert_eq!(
            reader.data(id).expect("it is read"),
            record.map(|record| record.data.clone())
        );
        assert_eq!(
            vectors_of(reader, id),
            record.map(|record| (record.vectors.clone(), record.passages.clone()))
        );
    }
}

#[test]
fn a_refused_write_takes_its_whole_commit_back() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let [one, two, three] = [1, 2, 3].map(|id| Record::made(id, 1, 8));
    store
        .commit(&[one.put(PutKind::Created)])
        .expect("the commit succeeds");
    let twin = Record {
        uuid: one.uuid,
        ..three.clone()
    };
    let renamed = Record {
        uuid: three.uuid,
        ..one.clone()
    };
    type Check = fn(&StoreError) -> bool;
    let refused: [(Write<'_>, Check); 6] = [
        (one.put(PutKind::Created), |error| {
            matches!(error, StoreError::Taken { id: 1 })
        }),
        (twin.put(PutKind::Created), |error| {
            matches!(error, StoreError::Taken { id: 3 })
        }),
        (three.put(PutKind::Changed), |error| {
            matches!(error, StoreError::Missing { id: 3 })
        }),
        (renamed.put(PutKind::Changed), |error| {
            matches!(error, StoreError::Missing { id: 1 })
        }),
        (Write::Touch { id: 9, synced: 1 }, |error| {
            matches!(error, StoreError::Missing { id: 9 })
        }),
        (Write::Delete { id: 9, at: 1 }, |error| {
            matches!(error, StoreError::Missing { id: 9 })
        }),
    ];
    for (write, check) in refused {
        let error = store
            .commit(&[two.put(PutKind::Created), write])
            .expect_err("it is refused");
        assert!(check(&error), "{write:?}: {error}");
        assert_eq!(
            (store.version(), store.last_position(), store.next_id()),
            (1, 1, 2)
        );
        assert_eq!(store.reader().count().expect("they are counted"), 1);
    }
    assert!(!store.is_poisoned());
    store.commit(&[]).expect("nothing to do");
    assert_eq!(store.version(), 1);
    store
        .commit(&[two.put(PutKind::Created)])
        .expect("the commit succeeds");
    assert_eq!(store.version(), 2);
}

#[test]
fn an_id_is_never_assigned_twice() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let record = Record::made(41, 1, 8);
    store
        .commit(&[
            record.put(PutKind::Created),
            Write::Delete { id: 41, at: 5 },
        ])
        .expect("the commit succeeds");
    drop(store);
    let store = open_store(&path).expect("it opens again");
    assert_eq!(store.next_id(), 42);
    assert_eq!(store.version(), 1);
}

#[test]
fn settings_and_other_values_are_kept() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, br#"{"dimensions":8}"#).expect("a new database");
    store.set_meta("fingerprint", b"one").expect("it is kept");
    store.set_meta("fingerprint", b"two").expect("it is kept");
    drop(store);
    let reader = open_store(&path).expect("it opens again").reader();
    assert_eq!(
        reader.meta("settings").expect("it is read").as_deref(),
        Some(&br#"{"dimensions":8}"#[..])
    );
    assert_eq!(
        reader.meta("fingerprint").expect("it is read").as_deref(),
        Some(&b"two"[..])
    );
    assert_eq!(reader.meta("absent").expect("it is read"), None);
}
