//! Databases that another process writes.

use std::fs;
use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;

/// Copies the files of a database.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("created");
    for entry in fs::read_dir(from).expect("listed") {
        let entry = entry.expect("listed");
        if entry.file_type().expect("known").is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
        }
    }
}

#[test]
fn a_database_that_is_dropped_and_created_again_all_the_time_is_never_called_damaged() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..4, &json!({})).expect("committed");
    let place = engine.catalog.path("db");
    engine.close();
    let template = directory.path().join("template");
    fs::rename(&place, &template).expect("renamed");

    let engine = Engine::open_read_only(directory.path(), Some(2), Limits::default());
    let engine = engine.expect("opened");
    let ended = Arc::new(AtomicBool::new(false));
    let replacing = thread::spawn({
        let ended = Arc::clone(&ended);
        let (new, dropped) = (
            place.with_file_name(".new-db"),
            place.with_file_name(".dropped-db"),
        );
        move || {
            for round in 0_u64.. {
                copy(&template, &new);
                fs::rename(&new, &place).expect("created");
                thread::sleep(Duration::from_micros(round % 4 * 1_000));
                fs::rename(&place, &dropped).expect("dropped");
                if ended.load(Relaxed) {
                    break;
                }
                fs::remove_dir_all(&dropped).expect("removed");
            }
        }
    });
    let (mut opened, mut missing) = (0, 0);
    while opened < 40 || missing < 2_000 {
        wait(|done| engine.refresh(Some("db".into()), done)).expect("refreshed");
        match engine.database("db") {
            Ok(database) => {
                assert_eq!(database.snapshot().records(), 3);
                opened += 1;
            }
            Err(Error::DatabaseNotFound { .. }) => missing += 1,
            Err(error) => {
                let events = engine.take_events().events;
                panic!("{error}: {:?}", events.last().map(|event| &event.text));
            }
        }
    }
    ended.store(true, Relaxed);
    replacing.join().expect("no panic");
    engine.close();
}
