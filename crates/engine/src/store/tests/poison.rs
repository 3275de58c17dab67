//! After a failed fsync, no write is acknowledged. After a full disk, writes continue once the disk has space.
//!
//! The system calls of a child process fail, because `faults.c` runs between SQLite and libc.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::store::tests::support::{Record, child, create_store, open_store, task};
use crate::store::tests::vector_files::{assert_has, write_file};
use crate::store::{PutKind, StoreError, Write};

/// Runs `test` of this binary in a child whose disk fails on demand.
fn run_with_faults(test: &str) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let source = directory.path().join("faults.c");
    let library = directory.path().join("faults.so");
    fs::write(&source, include_str!("faults.c")).expect("it is written");
    // SQLite is built from C, so a C compiler is installed.
    let compiler = std::env::var_os("CC").unwrap_or("cc".into());
    let compiled = Command::new(compiler)
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    assert!(compiled.expect("a C compiler runs").success());
    let output = child(test, directory.path())
        .env("LD_PRELOAD", &library)
        .env("FAULTS", directory.path())
        .output()
        .expect("the child runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{output:?}"
    );
}

/// Makes the calls named `fault` fail while `body` runs.
fn failing<T>(directory: &Path, fault: &str, body: impl FnOnce() -> T) -> T {
    let marker = directory.join(fault);
    File::create(&marker).expect("it is made");
    let value = body();
    fs::remove_file(marker).expect("it is removed");
    value
}

#[test]
fn a_failed_sync_poisons_the_writer_until_it_is_opened_again() {
    run_with_faults("store::tests::poison::child_whose_syncs_fail");
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_whose_syncs_fail() {
    let directory = task();
    let path = directory.join("records.sqlite");
    let mut store = create_store(&path, b"{}").expect("a new database");
    let [one, two, three] = [1, 2, 3].map(|id| Record::made(id, 1, 384));
    store
        .commit(&[one.put(PutKind::Created)])
        .expect("the commit succeeds");

    let error = failing(&directory, "sync", || {
        store.commit(&[two.put(PutKind::Created)])
    });
    assert!(matches!(error, Err(StoreError::Sqlite { .. })), "{error:?}");
    assert!(store.is_poisoned());
    assert_eq!(store.version(), 1);
    // The disk works again, but the kernel may have dropped the pages whose sync failed.
    for _ in 0..2 {
        let error = store.commit(&[three.put(PutKind::Created)]);
        assert!(matches!(error, Err(StoreError::Poisoned)), "{error:?}");
        assert!(matches!(
            store.set_meta("key", b"value"),
            Err(StoreError::Poisoned)
        ));
    }
    assert_eq!(
        store.reader().data(1).expect("reads continue"),
        Some(one.data.clone())
    );
    assert_eq!(store.reader().data(3).expect("reads continue"), None);

    drop(store);
    let mut store = open_store(&path).expect("it opens again");
    assert_eq!(store.reader().data(1).expect("it is read"), Some(one.data));
    store
        .commit(&[three.put(PutKind::Created)])
        .expect("writes continue");

    let error = failing(&directory, "sync", || store.checkpoint());
    assert!(matches!(error, Err(StoreError::Sqlite { .. })), "{error:?}");
    assert!(matches!(
        store.commit(&[two.put(PutKind::Created)]),
        Err(StoreError::Poisoned)
    ));
    drop(store);
    let store = open_store(&path).expect("it opens again");
    assert_eq!(
        store.reader().data(3).expect("it is read"),
        Some(three.data)
    );
}

#[test]
fn a_full_disk_does_not_poison_the_writer() {
    run_with_faults("store::tests::poison::child_whose_disk_is_full");
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_whose_disk_is_full() {
    let directory = task();
    let path = directory.join("records.sqlite");
    let full = failing(&directory, "space", || create_store(&path, b"{}"));
    assert!(matches!(full, Err(StoreError::DiskFull)), "{full:?}");
    let full = failing(&directory, "log_index", || create_store(&path, b"{}"));
    assert_eq!(
        full.expect_err("no space for the -shm file").code(),
        "disk_full"
    );
    let mut store =
        create_store(&path, b"{}").expect("the files of the failed attempts are replaced");
    let records: Vec<Record> = (1..=200).map(|id| Record::made(id, 1, 384)).collect();
    let writes: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&writes[..100]).expect("the commit succeeds");
    let full = failing(&directory, "space", || store.commit(&writes[100..]));
    assert!(matches!(full, Err(StoreError::DiskFull)), "{full:?}");
    let full = failing(&directory, "space", || store.checkpoint());
    assert!(matches!(full, Err(StoreError::DiskFull)), "{full:?}");
    assert!(!store.is_poisoned());
    assert_eq!(store.reader().count().expect("reads continue"), 100);
    store
        .commit(&writes[100..])
        .expect("the disk has space again");
    assert_eq!(store.version(), 2);
    drop(store);
    assert_eq!(
        open_store(&path)
            .expect("it opens")
            .reader()
            .count()
            .expect("they are counted"),
        200
    );
}

#[test]
fn a_hand_over_that_fails_loses_no_vector() {
    run_with_faults("store::tests::poison::child_whose_hand_overs_fail");
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_whose_hand_overs_fail() {
    let directory = task();
    let path = directory.join("records.sqlite");
    let mut store = create_store(&path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=2_000).map(|id| Record::made(id, 2, 8)).collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the commit succeeds");
    for (fault, file) in [("space", 5), ("sync", 6)] {
        write_file(&store, file, &records);
        let slots = || records.iter().map(|record| record.id).zip(0..);
        let failed = failing(&directory, fault, || {
            // The hand-over itself waits for no sync.
            store.hand_over(file, slots())?;
            store.set_meta("key", b"value")
        });
        assert!(failed.is_err(), "{fault}");
        assert_has(&store, &records);
        if store.is_poisoned() {
            drop(store);
            store = open_store(&path).expect("it opens again");
        }
        assert_has(&store, &records);
        store.hand_over(file, slots()).expect("handed over");
        assert_has(&store, &records);
    }
    assert_eq!(
        store.reader.named_files().expect("read"),
        [(6, 2_000)].into()
    );
}
