//! Vectors leave the store for a file, and every read finds them there; what is lost is named.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::store::crc_of;
use crate::store::tests::support::{
    Random, Record, create_store, open_store, real_disk, scratch, vectors_of,
};
use crate::store::{Inspection, PutKind, Store, StoreError, Write};

const DIMENSIONS: usize = 8;

/// Writes the file of a block of `records`, as the engine does it.
pub(super) fn write_file(store: &Store, file: u64, records: &[Record]) {
    let later = |record: &Record| record.vectors.len() / DIMENSIONS - 1;
    let mut starts = vec![0];
    starts.extend(records.iter().scan(0, |end, record| {
        *end += later(record) as u32;
        Some(*end)
    }));
    if starts.last() == Some(&0) {
        starts.clear();
    }
    let first = records
        .iter()
        .map(|record| (record.id, &record.vectors[..DIMENSIONS]));
    let later = records.iter().flat_map(|record| {
        let vectors = record.vectors[DIMENSIONS..].chunks(DIMENSIONS);
        vectors.map(|vector| (record.id, vector))
    });
    let mut rows = Vec::new();
    for (id, vector) in first.chain(later) {
        let start = rows.len();
        rows.extend(vector.iter().flat_map(|component| component.to_le_bytes()));
        let crc = crc_of(id, &rows[start..]);
        rows.extend(crc.to_le_bytes());
    }
    let files = store.reader.vector_files();
    files
        .write(file, (DIMENSIONS, records.len()), &starts, &rows)
        .expect("it is written");
}

/// Stores records of the second revision, of which some have passages, and hands them over to file `file`.
fn put_and_hand_over(
    store: &mut Store,
    file: u64,
    ids: std::ops::RangeInclusive<u64>,
) -> Vec<Record> {
    let records: Vec<Record> = ids.map(|id| Record::made(id, 2, DIMENSIONS)).collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("it is committed");
    write_file(store, file, &records);
    hand_over(store, file, &records);
    records
}

fn hand_over(store: &mut Store, file: u64, records: &[Record]) {
    let slots = records.iter().enumerate();
    store
        .hand_over(file, slots.map(|(slot, record)| (record.id, slot)))
        .expect("handed over");
}

fn files(path: &Path) -> HashSet<u64> {
    let entries = fs::read_dir(path.with_file_name("vectors")).expect("a directory");
    let name = |path: PathBuf| path.file_stem()?.to_str()?.parse().ok();
    entries
        .filter_map(|entry| name(entry.expect("an entry").path()))
        .collect()
}

/// The number of vectors in the table.
fn in_table(store: &mut Store) -> i64 {
    let connection = store.connection().expect("it is open");
    connection
        .query_row("SELECT count(*) FROM vectors", [], |row| row.get(0))
        .expect("counted")
}

pub(super) fn assert_has(store: &Store, records: &[Record]) {
    for record in records {
        let expected = (record.vectors.clone(), record.passages.clone());
        assert_eq!(vectors_of(&store.reader, record.id), Some(expected));
    }
    let mut check = store.reader.begin_check(0).expect("it begins");
    while check
        .step()
        .expect("every record is as it was written")
        .is_none()
    {}
}

/// The main file without its log, as it may be after a power cut, finds all of its vectors.
fn assert_main_file_is_complete(path: &Path) {
    let (_directory, copied) = scratch();
    fs::create_dir_all(copied.with_file_name("vectors")).expect("made");
    fs::copy(path, &copied).expect("copied");
    for id in files(path) {
        let file = format!("vectors/{id}.vectors");
        fs::copy(path.with_file_name(&file), copied.with_file_name(&file)).expect("copied");
    }
    assert_has(&open_store(&copied).expect("opened"), &[]);
}

#[test]
fn vectors_are_read_from_the_file_after_they_left_the_table() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let (version, position) = (store.version(), store.last_position());
    let records = put_and_hand_over(&mut store, 5, 1..=40);
    assert_eq!(in_table(&mut store), 0);
    assert_has(&store, &records);
    // It is no commit: readers of the feed and saved snapshots see nothing of it.
    assert_eq!(
        (store.version(), store.last_position()),
        (version + 1, position + 40)
    );
    hand_over(&mut store, 5, &records);
    drop(store);
    let store = open_store(&path).expect("opened");
    assert_has(&store, &records);
    assert_eq!(store.reader.named_files().expect("read"), [(5, 40)].into());
}

#[test]
fn a_file_stays_until_no_record_has_its_place_in_it() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let mut records = put_and_hand_over(&mut store, 5, 1..=40);
    records.extend(put_and_hand_over(&mut store, 6, 41..=60));
    for id in 1..=20 {
        records[id as usize - 1] = Record::made(id, 3, DIMENSIONS);
        let put = records[id as usize - 1].put(PutKind::Changed);
        store.commit(&[put]).expect("it is committed");
    }
    for id in 21..=39 {
        store
            .commit(&[Write::Delete { id, at: 9 }])
            .expect("it is committed");
    }
    records.retain(|record| !(21..=39).contains(&record.id));
    store.remove_unnamed_files().expect("removed");
    assert_eq!(files(&path), HashSet::from([5, 6]));
    assert_has(&store, &records);
    // Record 40 moves to another block.
    let at = records
        .iter()
        .position(|record| record.id == 40)
        .expect("it is there");
    let moved = &records[at..=at];
    write_file(&store, 7, moved);
    hand_over(&mut store, 7, moved);
    store.remove_unnamed_files().expect("kept");
    assert!(files(&path).contains(&5), "a power cut may take it back");
    store.set_meta("key", b"value").expect("synced");
    store.remove_unnamed_files().expect("kept");
    assert_main_file_is_complete(&path);
    store.checkpoint().expect("the log is moved");
    let pinned = store.reader.open_copy().expect("opened");
    store.remove_unnamed_files().expect("kept");
    assert_eq!(
        files(&path),
        HashSet::from([5, 6, 7]),
        "a copy may need them"
    );
    drop(pinned);
    write_file(&store, 8, moved);
    store.remove_unnamed_files().expect("removed");
    assert_eq!(
        files(&path),
        HashSet::from([6, 7, 8]),
        "8 is to be named next"
    );
    assert_has(&store, &records);
    drop(store);
    let mut store = open_store(&path).expect("opened");
    store.remove_unnamed_files().expect("kept");
    assert!(files(&path).contains(&8), "the log may drop its name");
    store.checkpoint().expect("there is no log");
    store.remove_unnamed_files().expect("removed");
    assert_eq!(files(&path), HashSet::from([6, 7]), "8 was never named");
    assert_has(&store, &records);
}

#[test]
fn a_file_that_could_not_be_removed_takes_no_later_one_with_it() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let first = put_and_hand_over(&mut store, 5, 1..=40);
    let second = put_and_hand_over(&mut store, 6, 41..=80);
    let move_to = |store: &mut Store, file, records: &[Record]| {
        write_file(store, file, records);
        hand_over(store, file, records);
    };
    move_to(&mut store, 7, &first);
    store.checkpoint().expect("the log is moved");
    // A read keeps file 5, and meanwhile the log alone drops the name of file 6.
    let pinned = store.reader.open_copy().expect("opened");
    store.remove_unnamed_files().expect("kept");
    move_to(&mut store, 8, &second);
    drop(pinned);
    store.remove_unnamed_files().expect("kept");
    assert_main_file_is_complete(&path);
    store.checkpoint().expect("the log is moved");
    store.remove_unnamed_files().expect("removed");
    assert_eq!(files(&path), HashSet::from([7, 8]));
    assert_main_file_is_complete(&path);
}

#[test]
fn a_copy_of_a_store_has_all_vectors_in_its_main_file() {
    let (directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let mut records = put_and_hand_over(&mut store, 5, 1..=40);
    records.push(Record::made(50, 2, DIMENSIONS));
    store
        .commit(&[records[40].put(PutKind::Created)])
        .expect("it is committed");
    let copy = store.reader.open_copy().expect("opened");
    copy.begin().expect("begun");
    // What is written after the moment of the copy is not part of it.
    for id in 1..=40 {
        store
            .commit(&[Write::Delete { id, at: 9 }])
            .expect("it is committed");
    }
    store.remove_unnamed_files().expect("kept");
    let target = directory.path().join("copy/records.sqlite");
    fs::create_dir(target.with_file_name("")).expect("made");
    assert!(copy.write_to(&target, || true).expect("copied"));
    assert!(!target.with_file_name("vectors").exists());
    let copied = open_store(&target).expect("opened");
    assert_has(&copied, &records);
    assert!(copied.reader.named_files().expect("read").is_empty());
}

#[test]
fn whatever_happens_to_a_file_the_records_whose_vectors_are_lost_are_named() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let records = put_and_hand_over(&mut store, 5, 1..=40);
    let kept = put_and_hand_over(&mut store, 6, 41..=44);
    drop(store);
    let file = path.with_file_name("vectors").join("5.vectors");
    let original = fs::read(&file).expect("read");
    let mut random = Random(3);
    for round in 0..200 {
        let mut bytes = original.clone();
        let at = random.below(bytes.len() as u64) as usize;
        match round {
            0 => fs::remove_file(&file).expect("removed"),
            1..10 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << random.below(8),
        }
        if round > 0 {
            fs::write(&file, &bytes).expect("written");
        }
        let store = open_store(&path).expect("opened");
        let mut lost = Vec::new();
        for record in &records {
            match store.reader.vectors(record.id) {
                Ok(vectors) => {
                    let all = vectors.map(|vectors| vectors.joined());
                    assert_eq!(all, Some(record.vectors.clone()), "round {round}");
                }
                Err(error @ StoreError::LostVectors { .. }) => {
                    assert_eq!(error.code(), "damaged");
                    assert!(error.to_string().contains("5.vectors"), "{error}");
                    lost.push(record.id);
                }
                Err(error) => panic!("round {round}: {error}"),
            }
        }
        assert!(round > 9 || !lost.is_empty());
        for record in &kept {
            assert!(store.reader.vectors(record.id).expect("read").is_some());
        }
        drop(store);
        let inspection = Inspection::open(&real_disk(), &path).expect("opened");
        let rows = inspection.rows(|_, _| std::ops::ControlFlow::Continue(()));
        let rows = rows.expect("read").expect("to the end");
        let found: u64 = rows
            .findings
            .problems
            .iter()
            .map(|problem| problem.records)
            .sum();
        assert_eq!(
            found,
            lost.len() as u64,
            "round {round}: {:?}",
            rows.findings
        );
    }
}

#[test]
fn two_files_that_were_exchanged_are_not_read() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    put_and_hand_over(&mut store, 5, 1..=40);
    put_and_hand_over(&mut store, 6, 41..=80);
    drop(store);
    let [five, six, aside] =
        ["5.vectors", "6.vectors", "aside"].map(|name| path.with_file_name("vectors").join(name));
    for (from, to) in [(&five, &aside), (&six, &five), (&aside, &six)] {
        fs::rename(from, to).expect("renamed");
    }
    let store = open_store(&path).expect("opened");
    for file in [5, 6] {
        let read = store
            .reader
            .vector_files()
            .file(file)
            .row((1, 0), &mut Vec::new())
            .map(drop);
        assert!(
            read.expect_err("another file")
                .to_string()
                .contains("another vector file")
        );
    }
}

#[test]
fn a_record_never_has_the_vectors_of_another() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    put_and_hand_over(&mut store, 5, 1..=40);
    let records = [81, 82].map(|id| Record::made(id, 1, DIMENSIONS));
    let puts = records
        .each_ref()
        .map(|record| record.put(PutKind::Created));
    store.commit(&puts).expect("committed");
    drop(store);
    let connection = rusqlite::Connection::open(&path).expect("opened");
    for (one, other, column, table) in [(1, 2, "place", "records"), (81, 82, "vector", "vectors")] {
        let exchange = format!(
            "CREATE TEMP TABLE former AS SELECT id, {column} AS value FROM {table} WHERE id IN ({one}, {other});
             UPDATE {table} SET {column} = (SELECT value FROM former f WHERE f.id = {one} + {other} - {table}.id)
             WHERE id IN ({one}, {other});
             DROP TABLE temp.former"
        );
        connection.execute_batch(&exchange).expect("exchanged");
    }
    drop(connection);
    let store = open_store(&path).expect("opened");
    for id in [1, 2, 81, 82] {
        let read = store.reader.vectors(id);
        let error = read.expect_err("the vectors of another record");
        assert_eq!(error.code(), "damaged", "{id}: {error}");
    }
}

#[test]
fn a_record_whose_passages_are_lost_is_damaged() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("created");
    let filed = put_and_hand_over(&mut store, 5, 1..=40);
    let in_table: Vec<Record> = (41..=80)
        .map(|id| Record::made(id, 2, DIMENSIONS))
        .collect();
    let puts: Vec<Write<'_>> = in_table
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("committed");
    drop(store);
    let several = |record: &&Record| record.passages.is_some();
    let lost = [&filed, &in_table].map(|records| records.iter().find(several).expect("one").id);
    let connection = rusqlite::Connection::open(&path).expect("opened");
    for id in lost {
        let sql = "DELETE FROM passages WHERE id = ?1";
        assert_eq!(connection.execute(sql, [id as i64]).expect("deleted"), 1);
    }
    drop(connection);
    let store = open_store(&path).expect("opened");
    for id in lost {
        let read = store.reader.vectors(id);
        assert_eq!(read.expect_err("too many vectors").code(), "damaged");
    }
}

#[test]
fn a_file_of_another_store_is_not_read() {
    let (_directory, path) = scratch();
    let (_other_directory, other) = scratch();
    for path in [&path, &other] {
        let mut store = create_store(path, b"{}").expect("created");
        put_and_hand_over(&mut store, 5, 1..=40);
    }
    let file = |path: &Path| path.with_file_name("vectors").join("5.vectors");
    fs::copy(file(&other), file(&path)).expect("copied");
    let store = open_store(&path).expect("opened");
    let read = store.reader.vectors(1);
    assert!(
        matches!(read, Err(StoreError::LostVectors { id: 1, .. })),
        "{read:?}"
    );
}
