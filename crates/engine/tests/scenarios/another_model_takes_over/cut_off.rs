//! A switch that is interrupted, cancelled, or overtaken by a drop.

use std::fs;

use serde_json::{Value, json};

use cosift_engine::Error;

use super::{NEW, OLD, check_contents, check_vectors, commit, contents, create, put, step, write};
use crate::common::{Model, Random, Server, image, settings};

/// A rename of a directory, from one name to the other.
type Rename<'a> = (&'a str, &'a str);

#[test]
fn or_not_at_all_wherever_the_directory_swap_is_interrupted() {
    let mut random = Random::new(91);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server);
    for _ in 0..150 {
        write(&server, &mut random, OLD);
    }
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    while !step(&server) {}
    let before = contents(&server);
    server.close();
    let cases: [(&[Rename<'_>], Model); 4] = [
        (&[], OLD),
        (&[(".next-db", ".ready-db")], NEW),
        (&[(".next-db", ".ready-db"), ("db", ".dropped-db")], NEW),
        (
            &[
                (".next-db", ".ready-db"),
                ("db", ".dropped-db"),
                (".ready-db", "db"),
            ],
            NEW,
        ),
    ];
    for (renames, model) in cases {
        let crashed = tempfile::tempdir().expect("a directory");
        image(directory.path(), crashed.path());
        let root = crashed.path().join("databases");
        for (from, to) in renames {
            fs::rename(root.join(from), root.join(to)).expect("renamed");
        }
        for _ in 0..2 {
            let server = Server::open(crashed.path());
            check_contents(&server, &before);
            check_vectors(&server, model);
            server.close();
        }
        let left: Vec<_> = fs::read_dir(&root)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").file_name())
            .filter(|name| name != "db")
            .collect();
        let expected: &[&str] = if model == OLD { &[".next-db"] } else { &[] };
        assert_eq!(left, expected, "after {renames:?}");
    }
}

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
    server.cancel_reembedding("db").expect("cancelled");
    assert!(!root.join(".next-db").exists());
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
