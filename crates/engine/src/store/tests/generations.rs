//! Stores that continue from copies of one state have different histories after it.

use std::fs;
use std::path::Path;

use crate::store::Store;
use crate::store::generations::Generations;
use crate::store::tests::image::{PER_COMMIT, commit};
use crate::store::tests::support::{create_store, open_store, scratch};

fn generations(store: &Store) -> Generations {
    let feed = store.reader().feed(0, 0, None);
    feed.expect("it is read").generations
}

fn copy(from: &Path, to: &Path) {
    let (from, to) = (
        from.parent().expect("it has one"),
        to.parent().expect("it has one"),
    );
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("listed");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

#[test]
fn a_reader_of_another_history_is_recognised_at_every_position() {
    let (_directory, path) = scratch();
    let (_backup, backup) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let start = generations(&store).at(0);
    commit(&mut store);
    drop(store);
    let mut store = open_store(&path).expect("it opens");
    commit(&mut store);
    let before = generations(&store);
    drop(store);
    copy(&path, &backup);
    let common = 2 * PER_COMMIT;

    // The original goes on, and so does the copy, which is put back later.
    let mut store = open_store(&path).expect("it opens");
    (0..3).for_each(|_| commit(&mut store));
    let original = generations(&store);
    let mut store = open_store(&backup).expect("it opens");
    assert_eq!(
        store.restored(),
        None,
        "nothing else shows that it was put back"
    );
    (0..4).for_each(|_| commit(&mut store));
    let restored = generations(&store);

    for position in 0..=common {
        for known in [&before, &original] {
            assert!(restored.contain(known.at(position), position), "{position}");
        }
    }
    for position in common + 1..=5 * PER_COMMIT {
        assert!(
            original.contain(original.at(position), position),
            "{position}"
        );
        assert!(
            !restored.contain(original.at(position), position),
            "{position}"
        );
        // A reader of the original that never read past the copy has read all that the copy has.
        assert!(!restored.contain(before.at(common), position), "{position}");
    }
    assert!(restored.contain(start, 0));
    assert!(restored.contain(start, PER_COMMIT) || restored.at(PER_COMMIT) != start);
}

#[test]
fn a_generation_without_a_change_takes_no_room() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    commit(&mut store);
    for _ in 0..5 {
        drop(store);
        store = open_store(&path).expect("it opens");
        assert_eq!(
            generations(&store).all().count(),
            2,
            "opening writes nothing"
        );
    }
    commit(&mut store);
    assert_eq!(generations(&store).all().count(), 3);
}
