//! The loss of acknowledged commits is detected.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use crate::store::tests::image::{
    Image, PER_COMMIT, accept_restored, acknowledged, commit, read, wal,
};
use crate::store::tests::support::{Random, create_store, open_store, scratch};
use crate::store::{SETTINGS, StoreError};

/// A store of 3 commits in the main file and 9 more in the log, as `kill -9` leaves it, and its epoch.
fn killed(path: &Path) -> (Image, [u8; 16]) {
    let mut store = create_store(path, b"{}").expect("a new database");
    (0..3).for_each(|_| commit(&mut store));
    store.checkpoint().expect("it succeeds");
    (0..9).for_each(|_| commit(&mut store));
    (Image::take(path), store.epoch())
}

#[test]
fn no_flipped_bit_in_the_log_drops_an_acknowledged_commit_undetected() {
    const SEED: u64 = 31;
    const TRIALS: u32 = 400;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let (_directory, path) = scratch();
    let (image, _) = killed(&path);
    let (_directory, path) = scratch();
    let mut refused = 0;
    for trial in 0..TRIALS {
        let mut log = image.log.clone();
        let bit = random.below(log.len() as u64 * 8) as usize;
        log[bit / 8] ^= 1 << (bit % 8);
        let damaged = Image {
            log,
            main: image.main.clone(),
            acknowledged: image.acknowledged.clone(),
        };
        // Every attempt to open the store is refused, and an attempt changes nothing.
        damaged.put(&path);
        for _ in 0..2 {
            match open_store(&path) {
                Ok(store) => {
                    assert_eq!(store.restored(), None, "trial {trial}");
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
fn a_deleted_log_does_not_take_settings_back_undetected() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store);
    store.checkpoint().expect("it succeeds");
    let before = Image::take(&path);
    store
        .set_settings(b"{\"lexical\":true}")
        .expect("they are changed");
    let image = Image::take(&path);
    let (_directory, path) = scratch();
    image.put(&path);
    let opened = open_store(&path).expect("nothing is lost");
    assert_eq!(opened.restored(), None);
    let settings = opened.reader().meta(SETTINGS).expect("it is read");
    assert_eq!(settings.as_deref(), Some(&b"{\"lexical\":true}"[..]));
    drop(opened);

    image.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    for _ in 0..2 {
        let error = open_store(&path).expect_err("it is refused");
        assert!(matches!(error, StoreError::SettingsLost { .. }), "{error}");
        assert_eq!(error.code(), "damaged");
    }
    // After a power cut the file may be behind the store.
    Image {
        acknowledged: before.acknowledged,
        ..image
    }
    .put(&path);
    assert_eq!(open_store(&path).expect("nothing is lost").restored(), None);
}

#[test]
fn a_deleted_log_is_reported_until_the_loss_is_accepted() {
    let (_directory, path) = scratch();
    let (image, epoch) = killed(&path);
    let (_directory, path) = scratch();
    image.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    for _ in 0..2 {
        let error = open_store(&path).expect_err("it is refused");
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
    // The log is restored.
    fs::write(wal(&path), &image.log).expect("written");
    let store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.version()), (None, 12));
    assert_eq!(store.epoch(), epoch);
    drop(store);
    // The operator accepts the loss.
    image.put(&path);
    fs::remove_file(wal(&path)).expect("deleted");
    fs::remove_file(acknowledged(&path)).expect("deleted");
    let store = accept_restored(&path, 3, epoch);
    assert_eq!(store.version(), 4);
}

#[test]
fn what_was_not_acknowledged_may_be_torn() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
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
        let store = open_store(&path).expect("it opens");
        assert_eq!((store.restored(), store.version()), (None, 4));
        assert_eq!(store.epoch(), epoch);
    }
    // A power cut may leave an old version of the file `acknowledged`, which is not synced with each commit.
    let behind = Image {
        acknowledged: before.acknowledged,
        ..after
    };
    behind.put(&path);
    let store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.version()), (None, 5));
    assert_eq!(store.epoch(), epoch);
}

#[test]
fn a_missing_log_is_reported_after_a_read_prevented_its_checkpoint() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
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
    let error = open_store(&path).expect_err("it is refused");
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
    let store = open_store(&path).expect("it opens");
    assert_eq!((store.restored(), store.version()), (None, 2));
}
