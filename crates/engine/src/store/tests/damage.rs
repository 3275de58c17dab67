//! A record that changed on disk is reported and never returned. A record that was lost or reappeared is also reported.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use rusqlite::Connection;

use crate::store::tests::support::{Random, Record, create_store, open_store, real_disk, scratch};
use crate::store::{Findings, Inspection, PutKind, StoreError, Write};

const RECORDS: u64 = 60;
const DIMENSIONS: usize = 32;

/// A closed database of [`RECORDS`] records, as bytes.
fn written(path: &Path) -> Vec<u8> {
    let mut store = create_store(path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=RECORDS)
        .map(|id| Record::made(id, 1, DIMENSIONS))
        .collect();
    let writes: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&writes).expect("the commit succeeds");
    drop(store);
    fs::read(path).expect("it is read")
}

/// The ids of all records. Each record must be as it was written.
fn load(path: &Path) -> Result<BTreeSet<u64>, StoreError> {
    let store = open_store(path)?;
    let mut ids = BTreeSet::new();
    store.reader().load(0, |stored| {
        let record = Record::made(stored.header.id, 1, DIMENSIONS);
        assert_eq!(
            (stored.header.uuid, stored.header.hash),
            (record.uuid, record.hash)
        );
        assert_eq!(
            (stored.header.created, stored.header.changed),
            (record.created, record.changed)
        );
        assert_eq!(
            (stored.data, stored.vectors),
            (record.data.as_slice(), record.vectors.as_slice())
        );
        ids.insert(stored.header.id);
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

/// The positions of `part`. There are several if SQLite moved a row and left its old bytes.
fn find(bytes: &[u8], part: &[u8]) -> Vec<usize> {
    (0..=bytes.len() - part.len())
        .filter(|at| bytes[*at..].starts_with(part))
        .collect()
}

#[test]
fn a_flipped_bit_in_a_record_names_the_record() {
    let (_directory, path) = scratch();
    let original = written(&path);
    let record = Record::made(7, 1, DIMENSIONS);
    let vector: Vec<u8> = record
        .vectors
        .iter()
        .flat_map(|component| component.to_le_bytes())
        .collect();
    for part in [record.data.as_slice(), &vector, &record.hash] {
        let mut changed = original.clone();
        for start in find(&original, part) {
            changed[start + part.len() / 2] ^= 4;
        }
        fs::write(&path, changed).expect("it is written");
        assert!(matches!(load(&path), Err(StoreError::Damaged { id: 7 })));
        let reader = open_store(&path).expect("it opens").reader();
        assert!(matches!(reader.data(7), Err(StoreError::Damaged { id: 7 })));
        assert!(matches!(
            reader.vectors(7),
            Err(StoreError::Damaged { id: 7 })
        ));
        assert!(reader.data(8).expect("the next record is intact").is_some());
        let mut check = reader.begin_check(0).expect("it begins");
        let checked = loop {
            match check.step() {
                Ok(None) => {}
                ended => break ended,
            }
        };
        assert!(matches!(checked, Err(StoreError::Damaged { id: 7 })));
        let copy = reader.open_copy().expect("it opens");
        copy.begin().expect("it begins");
        let target = path.with_extension(format!("copy-{}", part.len()));
        assert!(matches!(
            copy.write_to(&target, || true),
            Err(StoreError::Damaged { id: 7 })
        ));
    }
}

#[test]
fn half_a_record_is_damage_not_absence() {
    let (_directory, path) = scratch();
    written(&path);
    let mut store = open_store(&path).expect("it opens");
    store
        .connection()
        .expect("it is open")
        .execute("DELETE FROM contents WHERE id = 9", [])
        .expect("it is deleted");
    assert!(matches!(
        store.reader().data(9),
        Err(StoreError::Damaged { id: 9 })
    ));
    drop(store);
    assert!(matches!(load(&path), Err(StoreError::Damaged { id: 9 })));
}

#[test]
fn no_flipped_bit_anywhere_returns_a_wrong_record() {
    const SEED: u64 = 4_711;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (_directory, path) = scratch();
    let original = written(&path);
    let mut noticed = 0;
    for _ in 0..400 {
        let mut changed = original.clone();
        let bit = random.below(original.len() as u64 * 8) as usize;
        changed[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, changed).expect("it is written");
        noticed += u32::from(!is_intact_or_refused(&path));
    }
    println!("{noticed} of 400 noticed; the others hit free bytes or the feed");
    assert!(noticed > 20);
}

/// Returns whether all records are read, and asserts that the file is refused otherwise.
fn is_intact_or_refused(path: &Path) -> bool {
    match load(path) {
        Ok(ids) => {
            assert!(ids.into_iter().eq(1..=RECORDS), "records lost or gained");
            true
        }
        Err(_) => false,
    }
}

/// Typical damage by disks and crashes: changed bytes of a page's header or cell pointers, and a page that is zeroed,
/// written twice, or in an earlier version.
#[test]
fn no_damaged_page_loses_or_returns_a_record_undetected() {
    const SEED: u64 = 815;
    const TRIALS: u32 = 800;
    const PAGE: usize = 16 << 10;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (_directory, path) = scratch();
    drop(written(&path));
    let mut store = open_store(&path).expect("it opens");
    let extra: Vec<Record> = (RECORDS + 1..=RECORDS + 40)
        .map(|id| Record::made(id, 1, DIMENSIONS))
        .collect();
    let puts: Vec<Write<'_>> = extra
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the commit succeeds");
    drop(store);
    let earlier = fs::read(&path).expect("it is read");
    let mut store = open_store(&path).expect("it opens");
    let deletions: Vec<Write<'_>> = extra
        .iter()
        .map(|record| Write::Delete {
            id: record.id,
            at: 5,
        })
        .collect();
    store.commit(&deletions).expect("the commit succeeds");
    drop(store);
    let original = fs::read(&path).expect("it is read");
    let pages = original.len() / PAGE;
    let mut noticed = 0;
    for trial in 0..TRIALS {
        let mut changed = original.clone();
        let page = random.below(pages as u64) as usize;
        let start = page * PAGE;
        match trial % 5 {
            // Byte 0 of a page is its kind, 3 and 4 its number of cells, from 8 on its cell pointers.
            0 => {
                let header = if page == 0 { 100 } else { 0 };
                changed[start + header + random.below(12) as usize] = random.next() as u8;
            }
            1 => changed[start + 8 + random.below(200) as usize] ^= 1 << random.below(8),
            2 => changed[start..start + PAGE].fill(0),
            3 => {
                let other = random.below(pages as u64) as usize * PAGE;
                changed[start..start + PAGE].copy_from_slice(&original[other..other + PAGE]);
            }
            _ => {
                if let Some(before) = earlier.get(start..start + PAGE) {
                    changed[start..start + PAGE].copy_from_slice(before);
                }
            }
        }
        fs::write(&path, changed).expect("it is written");
        noticed += u32::from(!is_intact_or_refused(&path));
    }
    println!("{noticed} of {TRIALS} noticed; the others hit free bytes, the feed or an index");
    assert!(noticed > TRIALS / 10);
}

#[test]
fn a_truncated_file_is_detected() {
    let (_directory, path) = scratch();
    let original = written(&path);
    for pages in 1..original.len() / (16 << 10) {
        for length in [pages * (16 << 10), pages * (16 << 10) - 1] {
            fs::write(&path, &original[..length]).expect("it is written");
            let read = load(&path);
            assert!(
                read.is_err(),
                "cut to {length} of {} bytes: {read:?}",
                original.len()
            );
        }
    }
}

#[test]
fn a_file_that_was_emptied_is_damaged() {
    let (_directory, path) = scratch();
    written(&path);
    fs::write(&path, b"").expect("it is written");
    let error = open_store(&path).map(drop).expect_err("it is empty");
    assert_eq!(error.code(), "damaged", "{error}");
}

#[test]
fn a_change_of_the_feed_that_differs_from_its_checksum_is_no_change() {
    let (_directory, path) = scratch();
    drop(written(&path));
    let mut store = open_store(&path).expect("it opens");
    store
        .commit(&[
            Record::made(3, 2, DIMENSIONS).put(PutKind::Changed),
            Write::Delete { id: 5, at: 7 },
        ])
        .expect("the commit succeeds");
    drop(store);
    let original = fs::read(&path).expect("it is read");
    let changed = RECORDS + 1;
    let deleted = RECORDS + 2;
    for (position, sql) in [
        (changed, "id = 4"),
        (changed, "uuid = x'00000000000000000000000000000000'"),
        (changed, "kind = 3"),
        (changed, "at = at + 1"),
        (changed, "key = key || 'x'"),
        (changed, "version = version - 1"),
        (
            changed,
            "data = CAST(replace(CAST(data AS TEXT), '1', '2') AS BLOB)",
        ),
        (changed, "data = NULL"),
        (changed, "crc = crc + 1"),
        (deleted, "data = NULL"),
        (deleted, "id = 6"),
    ] {
        let what = format!("{sql} at {position}");
        fs::write(&path, &original).expect("it is written");
        let other = Connection::open(&path).expect("it opens");
        other
            .execute(
                &format!("UPDATE changes SET {sql} WHERE position = {position}"),
                [],
            )
            .expect("it is changed");
        drop(other);
        let reader = open_store(&path)
            .expect("its records are in order")
            .reader();
        let read = reader.changes(position - 1, 1);
        let error = read.expect_err(&what);
        assert_eq!(error.code(), "damaged", "{what}");
        assert!(
            error.to_string().contains(&format!("change {position} ")),
            "{error}"
        );
        let bare = reader.feed(position - 1, 1, None);
        assert_eq!(bare.is_ok(), sql.starts_with("data"), "{what}");
        assert_eq!(
            reader.changes(0, RECORDS as usize).expect("in order").len() as u64,
            RECORDS
        );
        let inspection = Inspection::open(&real_disk(), &path).expect("it opens");
        let mut findings = Findings::default();
        inspection
            .changes(&mut findings, |_| ControlFlow::Continue(true))
            .expect("the feed is read");
        let damaged = "a change of the feed is damaged";
        assert!(
            findings
                .problems
                .iter()
                .any(|problem| problem.what == damaged),
            "{what}"
        );
    }
}
