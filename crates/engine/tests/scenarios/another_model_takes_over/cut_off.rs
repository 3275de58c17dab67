//! A switch that is interrupted, cancelled, or overtaken by a drop.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use cosift_engine::Error;

use super::{NEW, OLD, check_vectors, commit, create, finish, put, step};
use crate::common::{Server, settings};

#[test]
fn unless_it_is_cancelled_or_dropped() {
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("databases");
    let server = Server::open(directory.path());
    create(&server);
    assert!(matches!(
        server.cancel_reembedding("db"),
        Err(Error::ReembeddingNotFound { .. })
    ));
    put(&server, &json!([{ "data": { "text": "one" } }]), OLD);
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    let batch = server.prepare_reembedding("db").expect("a batch");
    let again = server.prepare_reembedding("db").expect("the same");
    commit(&server, batch).expect("stored");
    assert!(matches!(commit(&server, again), Err(Error::Stale)));
    server.warm_reembedding("db").expect("warm");
    assert!(root.join("db/next").exists());
    server.cancel_reembedding("db").expect("cancelled");
    assert!(!root.join("db/next").exists());
    assert_eq!(server.reembedding("db"), Value::Null);
    assert!(matches!(
        server.switch_reembedding("db"),
        Err(Error::ReembeddingNotFound { .. })
    ));

    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    server.drop_database("db").wait().expect("dropped");
    assert_eq!(fs::read_dir(&root).expect("a directory").count(), 0);
    let own = json!({ "model": null, "dimensions": 4 });
    create(&server);
    assert!(matches!(
        server.begin_reembedding("db", &own),
        Err(Error::Invalid { .. })
    ));
    server.close();
}

#[test]
fn or_the_database_is_dropped_and_stays_dropped() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    for round in 0..24 {
        create(&server);
        put(
            &server,
            &json!([{ "id": 1, "data": { "text": "a", "n": 1 } }]),
            OLD,
        );
        server
            .begin_reembedding("db", &settings(NEW))
            .expect("begun");
        while !step(&server) {}
        std::thread::scope(|scope| {
            let switch = scope.spawn(|| server.switch_reembedding("db"));
            for _ in 0..round * 40 {
                std::thread::yield_now();
            }
            server.drop_database("db").wait().expect("dropped");
            // The drop came before the switch, or after it.
            let _ = switch.join().expect("no panic");
        });
        let left: Vec<_> = fs::read_dir(directory.path().join("databases"))
            .expect("listed")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert!(left.is_empty(), "round {round}: {left:?}");
    }
    server.close();
}

#[test]
fn and_begins_again_when_what_it_made_is_damaged() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server);
    let records = |ids: std::ops::Range<u64>| -> Value {
        let record = |id| json!({ "id": id, "data": { "text": format!("{id}"), "n": id } });
        ids.map(record).collect()
    };
    // Enough for a vector file.
    for first in (1..4_201).step_by(600) {
        put(&server, &records(first..first + 600), OLD);
    }
    let files = directory.path().join("databases/db/vectors");
    let before = files_of(&files);
    let begin = || {
        server
            .begin_reembedding("db", &settings(NEW))
            .expect("begun")
    };
    begin();
    while !step(&server) {}
    let made = files_of(&files);
    let new = made.iter().find(|path| !before.contains(path));
    let new = new.expect("a file of the new model");
    let mut bytes = fs::read(new).expect("read");
    let at = bytes.len() / 2;
    bytes[at] ^= 4;
    fs::write(new, bytes).expect("written");
    let warmed = server.warm_reembedding("db");
    assert_eq!(warmed.expect_err("a lost vector").code(), "damaged");
    assert_eq!(begin()["done"], 0);
    finish(&server);
    check_vectors(&server, NEW);
    server.close();
}

fn files_of(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}
