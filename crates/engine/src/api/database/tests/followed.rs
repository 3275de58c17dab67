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
        let to = to.join(entry.file_name());
        if entry.file_type().expect("known").is_file() {
            fs::copy(entry.path(), to).expect("copied");
        } else {
            copy(&entry.path(), &to);
        }
    }
}

#[test]
fn a_vector_file_that_the_writer_removes_meanwhile_is_not_called_lost() {
    let directory = tempfile::tempdir().expect("a directory");
    let writer = with_database(directory.path());
    let write = |engine: &Arc<Engine>, round: u64| {
        for first in (1..6_000).step_by(1_000) {
            put(engine, first..first + 1_000, &json!({ "round": round })).expect("committed");
        }
    };
    write(&writer, 0);
    let ended = Arc::new(AtomicBool::new(false));
    let writing = thread::spawn({
        let (ended, writer) = (Arc::clone(&ended), Arc::clone(&writer));
        move || {
            let mut rounds = 1..;
            while !ended.load(Relaxed) {
                write(&writer, rounds.next().expect("a round"));
            }
            rounds.start
        }
    });
    for _ in 0..30 {
        let engine = Engine::open_read_only(directory.path(), Some(1), Limits::default());
        let engine = engine.expect("opened");
        wait(|done| engine.load(done)).expect("loaded");
        wait(|done| engine.refresh(Some("db".into()), done)).expect("refreshed");
        let database = engine.database("db").unwrap_or_else(|error| {
            let events = engine.take_events().events;
            panic!("{error}: {:?}", events.last().map(|event| &event.text));
        });
        assert_eq!(database.snapshot().records(), 6_000);
        engine.close();
    }
    ended.store(true, Relaxed);
    assert!(writing.join().expect("no panic") > 3);
    writer.close();
}

#[test]
fn a_vector_file_that_is_lost_is_reported_beside_a_busy_writer() {
    let directory = tempfile::tempdir().expect("a directory");
    let writer = with_database(directory.path());
    for first in (1..6_000).step_by(1_000) {
        put(&writer, first..first + 1_000, &json!({})).expect("committed");
    }
    let reader = writer.database("db").expect("opened").reader.clone();
    while reader.named_files().expect("read").is_empty() {
        thread::yield_now();
    }
    let vectors = writer.catalog.path("db").join("vectors");
    for file in fs::read_dir(vectors).expect("listed") {
        fs::remove_file(file.expect("listed").path()).expect("removed");
    }
    let ended = Arc::new(AtomicBool::new(false));
    let writing = thread::spawn({
        let ended = Arc::clone(&ended);
        // Each round changes how many records have their vectors in the last file, or in none.
        move || {
            let ended = (5_000..6_000).any(|id| {
                put(&writer, id..id + 1, &json!({ "round": 1 })).expect("committed");
                ended.load(Relaxed)
            });
            writer.close();
            ended
        }
    });
    let engine = Engine::open_read_only(directory.path(), Some(1), Limits::default());
    let engine = engine.expect("opened");
    wait(|done| engine.load(done)).expect("loaded");
    let error = engine.database("db").map(drop).expect_err("refused");
    assert_eq!(error.facts()["reason"], "damaged", "{error}");
    ended.store(true, Relaxed);
    assert!(writing.join().expect("no panic"), "the writer still writes");
    engine.close();
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
