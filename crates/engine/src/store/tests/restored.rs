//! A restored backup and the file of another database are detected.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::Backup;

use crate::store::SETTINGS;
use crate::store::tests::image::{
    Image, PER_COMMIT, accept_restored, acknowledged, commit, read, wal,
};
use crate::store::tests::support::{create_store, open_store, scratch};

#[test]
fn an_older_or_a_newer_file_is_recognised() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let mut backups = Vec::new();
    for _ in 0..3 {
        commit(&mut store);
        drop(store);
        backups.push(fs::read(&path).expect("read"));
        store = open_store(&path).expect("it opens");
        assert_eq!(store.restored(), None, "closed and opened again");
    }
    drop(store);
    let mut epochs = BTreeSet::new();
    for backup in [&backups[0], &backups[2], &backups[1], &backups[1]] {
        fs::write(&path, backup).expect("restored");
        let mut store = open_store(&path).expect("it opens");
        assert!(store.restored().is_some());
        read(&store).expect("it is complete");
        store.start_new_epoch().expect("accepted");
        assert!(
            epochs.insert(store.epoch()),
            "each restore starts a new epoch"
        );
        commit(&mut store);
        drop(store);
        let store = open_store(&path).expect("it opens");
        assert_eq!(store.restored(), None);
        assert!(epochs.contains(&store.epoch()));
    }
}

#[test]
fn a_file_from_before_a_change_of_the_settings_is_recognised() {
    for keeps_log in [false, true] {
        let (_directory, path) = scratch();
        let mut store = create_store(&path, b"{}").expect("a new database");
        commit(&mut store);
        store.checkpoint().expect("it succeeds");
        let main = fs::read(&path).expect("read");
        store
            .set_settings(b"{\"lexical\":true}")
            .expect("they are changed");
        store.checkpoint().expect("it succeeds");
        let epoch = store.epoch();
        store
            .set_settings(b"{\"lexical\":false}")
            .expect("they are changed");
        let killed = Image::take(&path);

        let (_directory, path) = scratch();
        Image { main, ..killed }.put(&path);
        if !keeps_log {
            fs::remove_file(wal(&path)).expect("deleted");
        }
        let store = accept_restored(&path, 1, epoch);
        let settings = store.reader().meta(SETTINGS).expect("it is read");
        assert_eq!(settings.as_deref(), Some(&b"{}"[..]));
    }
}

#[test]
fn a_file_of_another_database_is_recognised() {
    let (_directory, path) = scratch();
    let (_other_directory, other) = scratch();
    for path in [&path, &other] {
        let mut store = create_store(path, b"{}").expect("a new database");
        commit(&mut store);
    }
    fs::copy(&other, &path).expect("copied");
    let store = open_store(&path).expect("it opens");
    assert!(store.restored().is_some());
    drop(store);
    fs::remove_file(&path).expect("deleted");
    let mut store = create_store(&path, b"{}").expect("created again");
    assert_eq!(store.restored(), None);
    commit(&mut store);
    drop(store);
    assert_eq!(open_store(&path).expect("it opens").restored(), None);
}

#[test]
fn the_log_of_another_state_is_not_mixed_with_a_file_that_was_put_back() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store);
    drop(store);
    let backup = fs::read(&path).expect("read");
    let mut store = open_store(&path).expect("it opens");
    (0..60).for_each(|_| commit(&mut store));
    store.checkpoint().expect("it succeeds");
    (0..4).for_each(|_| commit(&mut store));
    let killed = Image::take(&path);
    let (_directory, path) = scratch();
    Image {
        main: backup.clone(),
        ..killed
    }
    .put(&path);
    // With this file, it is known that the log belongs to another main file; see the test below.
    fs::remove_file(acknowledged(&path)).expect("deleted");
    let store = open_store(&path).expect("it opens");
    assert!(store.restored().is_some());
    let error = read(&store).expect_err("the log does not belong to the file");
    assert_eq!(error.code(), "damaged", "{error}");
    drop(store);
    assert_eq!(
        fs::read(&path).expect("read"),
        backup,
        "the backup is unchanged"
    );
    fs::remove_file(wal(&path)).expect("deleted");
    let mut store = open_store(&path).expect("it opens");
    assert_eq!(
        read(&store).expect("it is complete").len() as u64,
        PER_COMMIT
    );
    store.start_new_epoch().expect("accepted");
}

#[test]
fn a_log_that_holds_a_new_epoch_is_kept() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store);
    drop(store);
    let backup = fs::read(&path).expect("read");
    let mut store = open_store(&path).expect("it opens");
    commit(&mut store);
    drop(store);
    fs::write(&path, &backup).expect("put back");
    let mut store = open_store(&path).expect("it opens");
    assert!(store.restored().is_some());
    read(&store).expect("it is complete");
    // A read that began before keeps the log out of the main file.
    let reader = Connection::open(&path).expect("it opens");
    reader.execute_batch("BEGIN").expect("begun");
    let count = "SELECT count(*) FROM records";
    let _: i64 = reader.query_row(count, [], |row| row.get(0)).expect("read");
    store.start_new_epoch().expect("accepted");
    commit(&mut store);
    let epoch = store.epoch();
    let killed = Image::take(&path);

    let (_directory, path) = scratch();
    killed.put(&path);
    let store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.epoch()), (None, epoch));
    let records = read(&store).expect("it is complete").len() as u64;
    assert_eq!(records, 2 * PER_COMMIT, "nothing acknowledged is lost");
}

/// Makes a copy of the store at `from` as another process does, while the store is written.
fn copy_by_sqlite(from: &Path, to: &Path, into: bool) {
    let _ = fs::remove_file(to);
    let source = Connection::open(from).expect("it opens");
    if into {
        let to = to.to_str().expect("UTF-8");
        source.execute("VACUUM INTO ?1", [to]).expect("copied");
    } else {
        let mut target = Connection::open(to).expect("made");
        let backup = Backup::new(&source, &mut target).expect("begun");
        backup
            .run_to_completion(5, Duration::ZERO, None)
            .expect("copied");
    }
}

#[test]
fn a_copy_that_sqlite_made_is_restored_over_any_leftovers() {
    for into in [false, true] {
        for (keeps_acknowledged, keeps_log) in [(true, true), (true, false), (false, false)] {
            let (directory, path) = scratch();
            let copy = directory.path().join("copy.sqlite");
            let mut store = create_store(&path, b"{}").expect("a new database");
            (0..3).for_each(|_| commit(&mut store));
            copy_by_sqlite(&path, &copy, into);
            (0..60).for_each(|_| commit(&mut store));
            store.checkpoint().expect("it succeeds");
            (0..4).for_each(|_| commit(&mut store));
            let epoch = store.epoch();
            let killed = Image::take(&path);
            assert!(!killed.log.is_empty());

            let (_directory, path) = scratch();
            let main = fs::read(&copy).expect("read");
            Image { main, ..killed }.put(&path);
            if !keeps_acknowledged {
                fs::remove_file(acknowledged(&path)).expect("deleted");
            }
            if !keeps_log {
                fs::remove_file(wal(&path)).expect("deleted");
            }
            let store = accept_restored(&path, 3, epoch);
            assert_eq!(
                read(&store).expect("it is complete").len() as u64,
                4 * PER_COMMIT
            );
        }
    }
}
