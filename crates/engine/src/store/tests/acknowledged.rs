//! Acknowledged commits that are gone are noticed, and so is a file that was put back.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::store::tests::support::{Random, Record, scratch};
use crate::store::{PutKind, Store, StoreError, Write};

const DIMENSIONS: usize = 16;
const PER_COMMIT: u64 = 5;

fn commit(store: &mut Store) {
    let first = store.next_id();
    let records: Vec<Record> = (first..first + PER_COMMIT)
        .map(|id| Record::made(id, 1, DIMENSIONS))
        .collect();
    let puts: Vec<Write<'_>> = records
        .iter()
        .map(|record| record.put(PutKind::Created))
        .collect();
    store.commit(&puts).expect("the commit succeeds");
}

/// The ids of all records, each checked.
fn read(store: &Store) -> Result<BTreeSet<u64>, StoreError> {
    let mut ids = BTreeSet::new();
    store.reader().load(0, |stored| {
        let record = Record::made(stored.id, 1, DIMENSIONS);
        assert_eq!(stored.data, record.data);
        ids.insert(stored.id);
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

fn wal(path: &Path) -> PathBuf {
    path.with_extension("sqlite-wal")
}

fn evidence(path: &Path) -> PathBuf {
    path.with_file_name("acknowledged")
}

/// The files of a store as kill -9 leaves them: without the index of the log, which is made again.
struct Image {
    main: Vec<u8>,
    log: Vec<u8>,
    acknowledged: Vec<u8>,
}

impl Image {
    fn take(path: &Path) -> Self {
        Self {
            main: fs::read(path).expect("read"),
            log: fs::read(wal(path)).unwrap_or_default(),
            acknowledged: fs::read(evidence(path)).expect("read"),
        }
    }

    fn put(&self, path: &Path) {
        let directory = path.parent().expect("it has one");
        // Only missing before the first.
        let _ = fs::remove_dir_all(directory);
        fs::create_dir_all(directory).expect("made");
        fs::write(path, &self.main).expect("written");
        fs::write(wal(path), &self.log).expect("written");
        fs::write(evidence(path), &self.acknowledged).expect("written");
    }
}

/// A store of 3 commits in the main file and 9 more in the log, as kill -9 leaves it, and its epoch.
fn killed(path: &Path) -> (Image, [u8; 16]) {
    let mut store = Store::create(path, b"{}").expect("a new database");
    (0..3).for_each(|_| commit(&mut store));
    store.checkpoint().expect("it succeeds");
    (0..9).for_each(|_| commit(&mut store));
    (Image::take(path), store.epoch())
}

#[test]
fn no_flipped_bit_in_the_log_drops_an_acknowledged_commit_unnoticed() {
    const SEED: u64 = 31;
    const TRIALS: u32 = 400;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (_directory, path) = scratch();
    let (whole, _) = killed(&path);
    let (_directory, path) = scratch();
    let mut refused = 0;
    for trial in 0..TRIALS {
        let mut log = whole.log.clone();
        let bit = random.below(log.len() as u64 * 8) as usize;
        log[bit / 8] ^= 1 << (bit % 8);
        let damaged = Image {
            log,
            main: whole.main.clone(),
            acknowledged: whole.acknowledged.clone(),
        };
        // Refused as often as it is opened: an attempt to open it makes nothing worse.
        damaged.put(&path);
        for _ in 0..2 {
            match Store::open(&path) {
                Ok(store) => {
                    assert_eq!(store.put_back(), None, "trial {trial}");
                    let ids = read(&store).expect("nothing is damaged");
                    assert!(ids.into_iter().eq(1..=12 * PER_COMMIT), "trial {trial}");
                }
                Err(StoreError::Lost {
                    acknowledged,
                    found,
                    ..
                }) => {
                    assert_eq!(acknowledged, 12);
                    assert!((3..12).contains(&found), "trial {trial}: {found}");
                    assert_eq!(
                        fs::read(wal(&path)).expect("it is still there"),
                        damaged.log
                    );
                    refused += 1;
                }
                Err(error) => panic!("trial {trial}: {error}"),
            }
        }
    }
    println!("{} of {TRIALS} refused", refused / 2);
    assert!(refused / 2 > TRIALS * 9 / 10);
}

#[test]
fn a_deleted_log_is_noticed_until_the_loss_is_accepted() {
    let (_directory, path) = scratch();
    let (whole, epoch) = killed(&path);
    let (_directory, path) = scratch();
    whole.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    for _ in 0..2 {
        let error = Store::open(&path).expect_err("it is refused");
        assert_eq!(error.code(), "damaged");
        let text = error.to_string();
        for part in [
            "lost 9 acknowledged commits",
            "records.sqlite-wal",
            "acknowledged",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
    // The log comes back.
    fs::write(wal(&path), &whole.log).expect("written");
    let store = Store::open(&path).expect("it opens");
    assert_eq!((store.put_back(), store.version()), (None, 12));
    assert_eq!(store.epoch(), epoch);
    drop(store);
    // The operator accepts the loss.
    whole.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    fs::remove_file(evidence(&path)).expect("deleted");
    let mut store = Store::open(&path).expect("it opens");
    assert!(store.put_back().is_some());
    assert_eq!(
        read(&store).expect("it is whole").len() as u64,
        3 * PER_COMMIT
    );
    store.accept().expect("accepted");
    assert_ne!(store.epoch(), epoch);
    commit(&mut store);
    drop(store);
    let store = Store::open(&path).expect("it opens");
    assert_eq!((store.put_back(), store.version()), (None, 4));
}

#[test]
fn what_was_not_acknowledged_may_be_torn() {
    let (_directory, path) = scratch();
    let mut store = Store::create(&path, b"{}").expect("a new database");
    (0..4).for_each(|_| commit(&mut store));
    let before = Image::take(&path);
    commit(&mut store);
    let after = Image::take(&path);
    let epoch = store.epoch();
    let (_directory, path) = scratch();
    for length in (before.log.len()..after.log.len()).step_by(977) {
        let torn = Image {
            main: after.main.clone(),
            log: after.log[..length].to_vec(),
            acknowledged: before.acknowledged.clone(),
        };
        torn.put(&path);
        let store = Store::open(&path).expect("it opens");
        assert_eq!((store.put_back(), store.version()), (None, 4));
        assert_eq!(store.epoch(), epoch);
    }
    // A power cut may leave the evidence far behind: it is not synced with each commit.
    let behind = Image {
        acknowledged: before.acknowledged,
        ..after
    };
    behind.put(&path);
    let store = Store::open(&path).expect("it opens");
    assert_eq!((store.put_back(), store.version()), (None, 5));
    assert_eq!(store.epoch(), epoch);
}

#[test]
fn an_older_or_a_newer_file_is_recognised() {
    let (_directory, path) = scratch();
    let mut store = Store::create(&path, b"{}").expect("a new database");
    let mut backups = Vec::new();
    for _ in 0..3 {
        commit(&mut store);
        drop(store);
        backups.push(fs::read(&path).expect("read"));
        store = Store::open(&path).expect("it opens");
        assert_eq!(store.put_back(), None, "closed and opened again");
    }
    drop(store);
    let mut epochs = BTreeSet::new();
    for backup in [&backups[0], &backups[2], &backups[1], &backups[1]] {
        fs::write(&path, backup).expect("put back");
        let mut store = Store::open(&path).expect("it opens");
        assert!(store.put_back().is_some());
        read(&store).expect("it is whole");
        store.accept().expect("accepted");
        assert!(epochs.insert(store.epoch()), "every time a new epoch");
        commit(&mut store);
        drop(store);
        let store = Store::open(&path).expect("it opens");
        assert_eq!(store.put_back(), None);
        assert!(epochs.contains(&store.epoch()));
    }
}

#[test]
fn a_file_of_another_database_is_recognised() {
    let (_directory, path) = scratch();
    let (_other_directory, other) = scratch();
    for path in [&path, &other] {
        let mut store = Store::create(path, b"{}").expect("a new database");
        commit(&mut store);
    }
    fs::copy(&other, &path).expect("copied");
    let store = Store::open(&path).expect("it opens");
    assert!(store.put_back().is_some());
    drop(store);
    fs::remove_file(&path).expect("deleted");
    let mut store = Store::create(&path, b"{}").expect("made again");
    assert_eq!(store.put_back(), None);
    commit(&mut store);
    drop(store);
    assert_eq!(Store::open(&path).expect("it opens").put_back(), None);
}

#[test]
fn the_log_of_another_state_is_not_mixed_with_a_file_that_was_put_back() {
    let (_directory, path) = scratch();
    let mut store = Store::create(&path, b"{}").expect("a new database");
    commit(&mut store);
    drop(store);
    let backup = fs::read(&path).expect("read");
    let mut store = Store::open(&path).expect("it opens");
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
    let store = Store::open(&path).expect("it opens");
    assert!(store.put_back().is_some());
    let error = read(&store).expect_err("the log does not belong to the file");
    assert_eq!(error.code(), "damaged", "{error}");
    drop(store);
    assert_eq!(
        fs::read(&path).expect("read"),
        backup,
        "the backup is as it was"
    );
    fs::remove_file(wal(&path)).expect("deleted");
    let mut store = Store::open(&path).expect("it opens");
    assert_eq!(read(&store).expect("it is whole").len() as u64, PER_COMMIT);
    store.accept().expect("accepted");
}

#[test]
fn a_log_that_a_running_read_kept_from_being_moved_is_missed_when_it_is_gone() {
    let (_directory, path) = scratch();
    let mut store = Store::create(&path, b"{}").expect("a new database");
    commit(&mut store);
    let reader = store.reader();
    let mut store = Some(store);
    reader
        .load(0, |_| {
            let mut open = store.take().expect("called once");
            commit(&mut open);
            ControlFlow::Break(())
        })
        .expect("read");
    drop(reader);
    assert!(!fs::read(wal(&path)).expect("it is there").is_empty());
    let image = Image::take(&path);
    let (_directory, path) = scratch();
    image.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    let error = Store::open(&path).expect_err("it is refused");
    assert!(
        matches!(
            error,
            StoreError::Lost {
                acknowledged: 2,
                found: 0,
                ..
            }
        ),
        "{error}"
    );
    fs::write(wal(&path), image.log).expect("written");
    let store = Store::open(&path).expect("it opens");
    assert_eq!((store.put_back(), store.version()), (None, 2));
}
