//! Index files hide no damage: whatever is damaged in `records.sqlite`, a database either shows all of its records or
//! is refused, at the start or by the check that follows it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::common::{Known, Oracle, Random, Server, Vectors, random_data};

const DIMENSIONS: usize = 8;
const PAGE: usize = 16 << 10;

fn store(directory: &Path) -> PathBuf {
    directory.join("databases/db/records.sqlite")
}

/// Copies a directory recursively.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from)
        .expect("listed")
        .map(|entry| entry.expect("an entry"))
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// A closed data directory whose index files lack the last commits, and its records.
fn written(directory: &Path) -> Oracle {
    written_as(directory, |record| record)
}

/// As [`written`], with each record as `edit` returns it.
fn written_as(directory: &Path, edit: fn(Known) -> Known) -> Oracle {
    let mut random = Random::new(5);
    let vectors = Vectors::new(DIMENSIONS, &mut random);
    let mut oracle = Oracle::default();
    let server = Server::open(directory);
    server.create("db", DIMENSIONS);
    let mut make = |id| {
        edit(Known::new(
            id,
            random_data(&mut random),
            vectors.draw(&mut random),
            id as i64,
        ))
    };
    let records = (1..=2_500).map(&mut make).collect();
    server.put_known("db", &mut oracle, records);
    server.close();
    let saved = tempfile::tempdir().expect("a directory");
    let derived = directory.join("databases/db/derived");
    copy(&derived, saved.path());
    let snapshot = fs::read(derived.join("snapshot")).expect("read");
    let server = Server::open(directory);
    let records = (2_401..=2_600).map(&mut make).collect();
    server.put_known("db", &mut oracle, records);
    let deleted: Vec<u64> = (1..=100).collect();
    server
        .delete("db", &json!({ "ids": deleted }))
        .expect("deleted");
    oracle.records.retain(|id, _| *id > 100);
    server.close();
    // The store accepts the stamps of the last two saves.
    copy(saved.path(), &derived);
    fs::write(derived.join("snapshot"), snapshot).expect("written");
    oracle
}

/// The state of the database once its check has ended.
fn checked(server: &Server) -> Value {
    let start = Instant::now();
    loop {
        let database = server.engine.progress()["databases"][0].clone();
        if database["checked"] == true || !database["problem"].is_null() {
            return database;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{database}");
        std::thread::yield_now();
    }
}

/// Returns whether all records are there, and asserts that the database is refused otherwise.
fn is_intact_or_refused(directory: &Path, oracle: &Oracle) -> bool {
    let server = Server::open(directory);
    let state = checked(&server);
    println!("{}", server.engine.take_events().to_json());
    let intact = state["problem"].is_null();
    if intact {
        let page = server.query(
            "db",
            &json!({ "form": "integer", "limit": 10_000, "sort": { "column": "none" } }),
        );
        let found: Vec<(u64, &Value)> = page["results"]
            .as_array()
            .expect("results")
            .iter()
            .map(|record| (record["id"].as_u64().expect("an id"), &record["data"]))
            .collect();
        assert_eq!(found.len(), oracle.records.len());
        for (id, data) in found {
            assert_eq!(data, &json!(oracle.records[&id].data), "record {id}");
        }
    } else {
        let refused = server.try_query("db", &json!({ "form": "integer" }));
        let reason = refused.expect_err("refused").facts()["reason"].clone();
        assert_eq!(reason, state["problem"]["code"]);
        let settings = json!({ "model": null, "dimensions": DIMENSIONS });
        let refused = server.create_with("db", &settings).expect_err("refused");
        assert_eq!(refused.facts()["reason"], reason);
        // A first page that is not SQLite's, or not this engine's, is reported as `store_failed`.
        assert!(reason == "damaged" || reason == "store_failed", "{state}");
    }
    server.close();
    intact
}

#[test]
fn whatever_page_is_damaged() {
    const TRIALS: usize = 120;
    let directory = tempfile::tempdir().expect("a directory");
    let oracle = written(directory.path());
    let original = fs::read(store(directory.path())).expect("read");
    let pages = original.len() / PAGE;
    let mut random = Random::new(77);
    let mut refused = 0;
    for trial in 0..TRIALS {
        let copied = tempfile::tempdir().expect("a directory");
        copy(directory.path(), copied.path());
        let mut changed = original.clone();
        let page = random.below(pages);
        let start = page * PAGE;
        match trial % 4 {
            0 => changed[start + random.below(12)] ^= 1 << random.below(8),
            1 => changed[start + 8 + random.below(400)] ^= 1 << random.below(8),
            2 => changed[start..start + PAGE].fill(0),
            _ => {
                let other = random.below(pages) * PAGE;
                changed[start..start + PAGE].copy_from_slice(&original[other..other + PAGE]);
            }
        }
        fs::write(store(copied.path()), changed).expect("written");
        refused += usize::from(!is_intact_or_refused(copied.path(), &oracle));
    }
    println!("{refused} of {TRIALS} refused; the others hit vectors, free bytes or the feed");
    assert!(refused > 5);
}

#[test]
fn whatever_another_program_changes() {
    let directory = tempfile::tempdir().expect("a directory");
    let oracle = written(directory.path());
    for sql in [
        "SELECT 1",
        "DELETE FROM records WHERE id = 1500",
        "UPDATE records SET synced = synced + 1 WHERE id = 1500",
        "UPDATE records SET hash = (SELECT hash FROM records WHERE id = 1501) WHERE id = 1500",
        "UPDATE records SET version = 1 WHERE id = 2550",
        "UPDATE changes SET id = 150 WHERE kind = 3 AND id = 50",
        "DELETE FROM changes WHERE kind = 3 AND id = 50",
    ] {
        let copied = tempfile::tempdir().expect("a directory");
        copy(directory.path(), copied.path());
        let other = Connection::open(store(copied.path())).expect("opened");
        other.execute_batch(sql).expect(sql);
        drop(other);
        let intact = is_intact_or_refused(copied.path(), &oracle);
        // Missing deletions change the count, and changed ones do not match their checksums: the engine reads everything
        // from the store. If only the feed was changed, the records are intact.
        let expected = sql.starts_with("SELECT") || sql.contains("changes");
        assert_eq!(intact, expected, "{sql}");
        let intact = is_intact_or_refused(copied.path(), &oracle);
        assert_eq!(intact, expected, "{sql}");
    }
}
