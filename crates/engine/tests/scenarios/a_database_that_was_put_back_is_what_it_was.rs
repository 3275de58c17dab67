//! When the store of a database is replaced by another one, the engine serves the records of that one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{Known, Oracle, Random, Server, StoreCopy, Vectors, random_data};

const DIMENSIONS: usize = 8;

struct World {
    directory: tempfile::TempDir,
    vectors: Vectors,
    random: Random,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            directory: tempfile::tempdir().expect("a directory"),
            vectors: Vectors::new(DIMENSIONS, &mut random),
            random,
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn database(&self, id: &str) -> PathBuf {
        self.path().join("databases").join(id)
    }

    fn records(&mut self, ids: std::ops::RangeInclusive<u64>) -> Vec<Known> {
        let mut make = |id| {
            let data = random_data(&mut self.random);
            Known::new(id, data, self.vectors.draw(&mut self.random), id as i64)
        };
        ids.map(&mut make).collect()
    }

    /// Searches, queries, counts and single reads agree with the oracle.
    fn check(&mut self, server: &Server, database: &str, oracle: &Oracle, ever: u64) {
        let query = self.vectors.draw(&mut self.random);
        let request = json!({ "threshold": 0, "limit": 10_000, "total": true });
        server.check(database, oracle, &request, &query);
        let page = server.query(
            database,
            &json!({ "form": "integer", "limit": 10_000, "sort": { "column": "none" } }),
        );
        let found: BTreeSet<u64> = page["results"]
            .as_array()
            .expect("results")
            .iter()
            .map(|record| record["id"].as_u64().expect("an id"))
            .collect();
        assert!(found.iter().eq(oracle.records.keys()));
        assert_eq!(
            server.describe(database)["records"],
            json!(oracle.records.len())
        );
        for id in 1..=ever {
            let there = server.record(database, &id.to_string()).is_ok();
            assert_eq!(there, oracle.records.contains_key(&id), "record {id}");
        }
    }
}

fn codes(server: &Server) -> Vec<String> {
    let events = server.engine.take_events().to_json();
    let code = |event: &Value| event["code"].as_str().expect("a code").to_owned();
    events["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(code)
        .collect()
}

/// Copies a data directory as `kill -9` leaves it: without the lock file and without SQLite's `-shm` file.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from)
        .expect("listed")
        .map(|entry| entry.expect("an entry"))
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else if !entry.file_name().to_string_lossy().ends_with("-shm") {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

#[test]
fn an_older_backup_has_no_phantoms_and_keeps_what_is_written_afterwards() {
    let mut world = World::new(1);
    let mut oracle = Oracle::default();
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    let records = world.records(1..=300);
    server.put_known("db", &mut oracle, records);
    server.close();
    let backup = StoreCopy::of(&world.database("db"));
    let server = Server::open(world.path());
    server.put("db", &world.records(301..=350));
    server.close();

    backup.put_back(&world.database("db"));
    let server = Server::open(world.path());
    assert_eq!(codes(&server), ["store_replaced"]);
    world.check(&server, "db", &oracle, 350);
    // The same ids again, as other records.
    let records = world.records(290..=330);
    server.put_known("db", &mut oracle, records);
    assert_eq!(
        server
            .delete("db", &json!({ "ids": [5, 345] }))
            .expect("deleted"),
        1
    );
    oracle.records.remove(&5);
    world.check(&server, "db", &oracle, 350);

    let killed = tempfile::tempdir().expect("a directory");
    copy(world.path(), killed.path());
    let after = Server::open(killed.path());
    assert_eq!(codes(&after), Vec::<String>::new());
    world.check(&after, "db", &oracle, 350);
    after.close();
    server.close();
    let server = Server::open(world.path());
    assert_eq!(codes(&server), Vec::<String>::new());
    world.check(&server, "db", &oracle, 350);
    server.close();
}

#[test]
fn index_files_of_another_history_are_not_believed_whatever_the_number_of_commits() {
    let mut world = World::new(2);
    let mut oracle = Oracle::default();
    let derived = world.database("db").join("derived");
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    let records = world.records(1..=100);
    server.put_known("db", &mut oracle, records);
    server.close();
    let backup = StoreCopy::of(&world.database("db"));
    let server = Server::open(world.path());
    for id in 101..=120 {
        server.put("db", &world.records(id..=id));
    }
    server.close();
    let other_history = tempfile::tempdir().expect("a directory");
    copy(&derived, other_history.path());

    backup.put_back(&world.database("db"));
    let server = Server::open(world.path());
    for id in 111..=150 {
        let records = world.records(id..=id);
        server.put_known("db", &mut oracle, records);
    }
    server.close();
    // At least as many commits as before, but different ones.
    fs::remove_dir_all(&derived).expect("removed");
    copy(other_history.path(), &derived);
    let server = Server::open(world.path());
    assert_eq!(codes(&server), ["index_files_rebuilt"]);
    world.check(&server, "db", &oracle, 150);
    server.close();
}

#[test]
fn the_store_of_another_database_is_served_as_it_is() {
    let mut world = World::new(3);
    let mut other = Oracle::default();
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    server.create("other", DIMENSIONS);
    server.put("db", &world.records(1..=80));
    let records = world.records(41..=120);
    server.put_known("other", &mut other, records);
    server.close();
    StoreCopy::of(&world.database("other")).put_back(&world.database("db"));
    let server = Server::open(world.path());
    assert_eq!(codes(&server), ["store_replaced"]);
    world.check(&server, "db", &other, 120);
    world.check(&server, "other", &other, 120);
    server.close();
}

#[test]
fn a_database_whose_file_is_missing_is_damaged_until_it_is_dropped_and_then_empty() {
    let mut world = World::new(4);
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    server.put("db", &world.records(1..=80));
    let killed = tempfile::tempdir().expect("a directory");
    copy(world.path(), killed.path());
    server.close();
    for directory in [world.path().to_owned(), killed.path().to_owned()] {
        // The write-ahead log, the index files and the file `acknowledged` stay.
        fs::remove_file(directory.join("databases/db/records.sqlite")).expect("deleted");
        for _ in 0..2 {
            let server = Server::open(&directory);
            let problem = server.state("db")["problem"].clone();
            assert_eq!(problem["code"], "damaged");
            let detail = problem["detail"].as_str().expect("a text");
            assert!(detail.contains("databases/db/records.sqlite"), "{detail}");
            let settings = json!({ "model": null, "dimensions": DIMENSIONS });
            for refused in [
                server.create_with("db", &settings).err(),
                server.try_query("db", &json!({ "form": "integer" })).err(),
            ] {
                assert_eq!(refused.expect("refused").facts()["reason"], "damaged");
            }
            assert_eq!(codes(&server), ["open_failed"]);
            server.close();
        }
        let server = Server::open(&directory);
        server.drop_database("db").wait().expect("dropped");
        assert!(!directory.join("databases/db").exists());
        server.create("db", DIMENSIONS);
        let mut oracle = Oracle::default();
        world.check(&server, "db", &oracle, 80);
        let records = world.records(70..=90);
        server.put_known("db", &mut oracle, records);
        world.check(&server, "db", &oracle, 90);
        server.close();
        let server = Server::open(&directory);
        world.check(&server, "db", &oracle, 90);
        server.close();
    }
}

#[test]
fn a_copy_made_while_the_server_runs_is_served_as_it_is() {
    let mut world = World::new(5);
    let mut oracle = Oracle::default();
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    let records = world.records(1..=60);
    server.put_known("db", &mut oracle, records);
    server.close();
    let server = Server::open(world.path());
    let copied = StoreCopy::of(&world.database("db"));
    server.put("db", &world.records(61..=90));
    server.close();
    copied.put_back(&world.database("db"));
    let server = Server::open(world.path());
    assert_eq!(codes(&server), ["store_replaced"]);
    world.check(&server, "db", &oracle, 90);
    server.close();
}

#[test]
fn a_lost_log_refuses_the_database_and_no_other() {
    let mut world = World::new(6);
    let server = Server::open(world.path());
    server.create("db", DIMENSIONS);
    server.create("other", DIMENSIONS);
    // An open read transaction prevents a checkpoint from moving later commits into the main file.
    let reader = Connection::open(world.database("db").join("records.sqlite")).expect("opened");
    let read = "BEGIN; SELECT count(*) FROM sqlite_schema";
    reader.execute_batch(read).expect("read");
    server.put("db", &world.records(1..=30));
    server.put("other", &world.records(1..=30));
    let killed = tempfile::tempdir().expect("a directory");
    copy(world.path(), killed.path());
    drop(reader);
    server.close();
    fs::remove_file(killed.path().join("databases/db/records.sqlite-wal")).expect("deleted");
    let server = Server::open(killed.path());
    let refused = server
        .try_query("db", &json!({ "form": "integer" }))
        .expect_err("refused");
    assert_eq!(refused.facts()["reason"], "damaged");
    let progress = server.engine.progress();
    let problem = progress["databases"][0]["problem"]["detail"]
        .as_str()
        .expect("a problem");
    assert!(problem.contains("acknowledged"), "{problem}");
    assert_eq!(server.describe("other")["records"], 30);
    server.close();
}
