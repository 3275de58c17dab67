use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use cosift_engine::{Embedded, Error, Format, Limits, ReembeddingBatch};

use crate::common::{Model, Random, Server, assert_same, embed, embedded, image, settings};

const OLD: Model = [8, 1];
const NEW: Model = [12, 2];

/// Of a directory, from one name to the other.
type Rename<'a> = (&'a str, &'a str);

fn create(server: &Server) {
    server
        .create_with("db", &settings(OLD))
        .expect("a new database");
}

fn put(server: &Server, records: &Value, model: Model) {
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = server
        .prepare("db", body, Vec::new(), Format::Batch)
        .expect("good records");
    let embedded = embedded(&prepared.texts(), model);
    server
        .commit_with("db", Arc::new(prepared), embedded)
        .expect("committed");
}

/// One random write: a few records are created, changed, touched or deleted, now and then many.
fn write(server: &Server, random: &mut Random, model: Model) {
    let count = if random.below(12) == 0 { 300 } else { 4 };
    let mut ids: Vec<u64> = (0..count).map(|_| 1 + random.below(1_500) as u64).collect();
    ids.sort_unstable();
    ids.dedup();
    if random.below(5) == 0 {
        server
            .delete("db", &json!({ "ids": ids }))
            .expect("deleted");
        return;
    }
    // Few contents an id: many records are as they were.
    let records: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "id": id, "data": { "text": format!("{id} {}", random.below(2)), "n": id } }))
        .collect();
    put(server, &json!(records), model);
}

/// Carries one batch over. Returns whether the database had nothing more.
fn step(server: &Server) -> bool {
    let batch = server.prepare_reembedding("db").expect("a batch");
    let last = batch.is_last();
    commit(server, batch).expect("stored");
    last
}

fn commit(server: &Server, batch: ReembeddingBatch) -> Result<u64, Error> {
    let embedded = embedded(batch.texts(), NEW);
    server.commit_reembedding("db", batch, embedded)
}

fn finish(server: &Server) {
    while !step(server) {}
    server.warm_reembedding("db").expect("warm");
    while !step(server) {}
    server.switch_reembedding("db").expect("switched");
}

/// Everything that is to be as before: records with their times, feed, next id.
fn contents(server: &Server) -> (Value, Value, Value) {
    let records = ["a", "b"].map(|variant| {
        let query = json!({ "limit": 10_000, "variant": variant });
        server.query("db", &query)["results"]
            .as_array()
            .expect("results")
            .clone()
    });
    let (mut feed, mut position) = (Vec::new(), 0);
    loop {
        let changes = server.changes("db", position, 1_000);
        position = changes["position"].as_u64().expect("a position");
        match changes["changes"].as_array().expect("changes") {
            none if none.is_empty() => break,
            some => feed.extend_from_slice(some),
        }
    }
    let changes = json!({ "changes": feed, "position": position });
    (
        records.concat().into(),
        changes,
        server.describe("db")["times"]["created_at"].clone(),
    )
}

fn check_contents(server: &Server, before: &(Value, Value, Value)) {
    let now = contents(server);
    let [before_records, records] =
        [&before.0, &now.0].map(|list| list.as_array().expect("records"));
    assert_same(records, before_records, &json!("records"));
    let [before_feed, feed] =
        [&before.1, &now.1].map(|feed| feed["changes"].as_array().expect("changes"));
    assert_same(feed, before_feed, &json!("feed"));
    assert_eq!(now.2, before.2);
}

/// Every record is found by its own text with a score of 1: its vector is that of this model.
fn check_vectors(server: &Server, model: Model) {
    let (records, ..) = contents(server);
    let records = records.as_array().expect("results");
    assert!(records.len() > 100, "{} records", records.len());
    for record in records.iter().rev().take(records.len() / 2).step_by(7) {
        let data = &record["data"];
        let text = format!("text: {}", data["text"].as_str().expect("a text"));
        let request = json!({
            "threshold": 0.9999, "embedded_by": format!("f{}", model[1]),
            "filter": { "rules": [{ "column": "n", "operator": "equals", "value": data["n"] }] },
        });
        let page = server.search("db", &request, &embed(&[text], model));
        assert_eq!(page["results"][0]["id"], record["id"], "{record}");
    }
}

#[test]
fn with_all_that_was_written_meanwhile() {
    let mut random = Random::new(90);
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = Server::open(directory.path());
    create(&server);
    for _ in 0..200 {
        write(&server, &mut random, OLD);
    }
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    let mut images = Vec::new();
    for round in 0..30 {
        let batch = server.prepare_reembedding("db").expect("a batch");
        // Between the reading of a batch and its commit, as when texts are embedded.
        for _ in 0..random.below(4) {
            write(&server, &mut random, OLD);
        }
        commit(&server, batch).expect("stored");
        if round % 10 == 4 {
            let crashed = tempfile::tempdir().expect("a directory");
            image(directory.path(), crashed.path());
            images.push(crashed);
        }
        if round == 20 {
            server.close();
            server = Server::open(directory.path());
            let told = server.reembedding("db");
            assert_eq!(told["fingerprint"], "f2");
            assert!(told["done"].as_u64() > Some(100), "{told}");
        }
    }
    while !step(&server) {}
    server.warm_reembedding("db").expect("warm");
    write(&server, &mut random, OLD);
    // Written since: no switch, and the database as it was.
    assert!(matches!(server.switch_reembedding("db"), Err(Error::Stale)));
    check_vectors(&server, OLD);
    while !step(&server) {}
    let before = contents(&server);
    let old = server.describe("db");
    assert_eq!(
        server.reembedding("db")["done"],
        old["records"],
        "the count is kept up"
    );
    server.switch_reembedding("db").expect("switched");
    check_contents(&server, &before);
    check_vectors(&server, NEW);
    let new = server.describe("db");
    assert_eq!(
        (&new["fingerprint"], &new["dimensions"]),
        (&json!("f2"), &json!(12))
    );
    assert_eq!(new["records"], old["records"]);
    assert_eq!(server.reembedding("db"), Value::Null);
    // What was embedded with the old model is told from what is not.
    let stale = json!({ "embedded_by": "f1" });
    let query = embed(&["text: 1 1".to_owned()], OLD);
    assert!(matches!(
        server.try_search("db", &stale, &query),
        Err(Error::Stale)
    ));

    // Ids and positions go on where they were.
    let position = before.1["position"].as_u64().expect("a position");
    put(
        &server,
        &json!([{ "data": { "text": "late", "n": 0 } }]),
        NEW,
    );
    let late = server.changes("db", position, 10);
    assert_eq!(late["changes"][0]["position"], json!(position + 1));
    for _ in 0..20 {
        write(&server, &mut random, NEW);
    }
    let before = contents(&server);
    server.close();
    let server = Server::open(directory.path());
    check_contents(&server, &before);
    check_vectors(&server, NEW);
    server.close();

    for crashed in images {
        let server = Server::open(crashed.path());
        check_vectors(&server, OLD);
        let before = contents(&server);
        let told = server
            .begin_reembedding("db", &settings(NEW))
            .expect("goes on");
        assert!(told["done"].as_u64() > Some(0), "{told}");
        finish(&server);
        check_contents(&server, &before);
        check_vectors(&server, NEW);
        server.close();
    }
}

#[test]
fn or_not_at_all_wherever_the_exchange_is_cut_off() {
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
fn of_vectors_that_callers_gave() {
    let mut random = Random::new(92);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let record = |id: u64| json!({ "id": id, "data": { "text": format!("{id}"), "n": id } });
    let records: Vec<Value> = (1..=700)
        .map(|id| {
            let vector: Vec<f64> = (0..8).map(|_| random.below(100) as f64 + 1.0).collect();
            let mut record = record(id);
            record["vector"] = json!(vector);
            record
        })
        .collect();
    server.upsert("db", &json!(records)).expect("stored");
    // Prepared with vectors, and committed when there is a model: refused, never stored.
    let body = json!({ "records": [records[0]] }).to_string().into_bytes();
    let late = server
        .prepare("db", body, Vec::new(), Format::Batch)
        .expect("good records");
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    finish(&server);
    assert!(matches!(
        server.commit_with("db", Arc::new(late), Embedded::default()),
        Err(Error::Invalid { .. })
    ));
    check_vectors(&server, NEW);
    // The same records, now without vectors, are as they were.
    let same: Vec<Value> = (1..=700).map(record).collect();
    let body = json!({ "records": same }).to_string().into_bytes();
    let prepared = server
        .prepare("db", body, Vec::new(), Format::Batch)
        .expect("good records");
    assert_eq!(prepared.texts().len(), 0);
    server.close();
}

#[test]
fn and_what_was_embedded_before_it_is_embedded_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server);
    put(
        &server,
        &json!([{ "id": 1, "data": { "text": "one" } }]),
        OLD,
    );
    let body = json!({ "records": [{ "id": 2, "data": { "text": "two" } }] });
    let prepared = server
        .prepare(
            "db",
            body.to_string().into_bytes(),
            Vec::new(),
            Format::Batch,
        )
        .expect("good records");
    let old = embedded(&prepared.texts(), OLD);
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    finish(&server);
    let prepared = Arc::new(prepared);
    assert!(matches!(
        server.commit_with("db", Arc::clone(&prepared), old),
        Err(Error::Stale)
    ));
    let new = embedded(&prepared.texts(), NEW);
    server.commit_with("db", prepared, new).expect("committed");
    let query = embed(&["text: two".to_owned()], NEW);
    let page = server.search("db", &json!({ "threshold": 0.9999 }), &query);
    assert_eq!(page["results"][0]["id"], 2);
    server.close();
}

#[test]
fn never_with_records_that_a_restored_database_does_not_have() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("databases/db/records.sqlite");
    let records = |ids: std::ops::Range<u64>| -> Value {
        ids.map(|id| json!({ "id": id, "data": { "text": format!("text {id}") } }))
            .collect()
    };
    let server = Server::open(directory.path());
    create(&server);
    put(&server, &records(1..31), OLD);
    server.close();
    let backup = fs::read(&store).expect("read");
    let server = Server::open(directory.path());
    put(&server, &records(31..81), OLD);
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    while !step(&server) {}
    assert_eq!(server.reembedding("db")["done"], 80);
    server.close();
    fs::write(&store, backup).expect("put back");

    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["records"], 30);
    assert_eq!(server.reembedding("db"), Value::Null);
    let told = server.begin_reembedding("db", &settings(NEW));
    assert_eq!(told.expect("begun")["done"], 0);
    finish(&server);
    let described = server.describe("db");
    assert_eq!(described["records"], 30);
    assert_eq!(described["dimensions"], NEW[0]);
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["records"], 30);
    let codes = server.engine.take_events().to_json();
    assert_eq!(codes["events"], json!([]), "its files belong to it");
    server.close();
}

#[test]
fn without_records_whose_deletion_the_feed_forgot_before_it_went_on() {
    let directory = tempfile::tempdir().expect("a directory");
    let open = || {
        Server::with_limits(
            directory.path(),
            Limits {
                keep_changes: Duration::from_millis(1),
                ..Limits::default()
            },
        )
    };
    let put_all = |server: &Server, ids: std::ops::Range<u64>| {
        let record = |id| json!({ "id": id, "data": { "text": format!("{id}"), "n": id } });
        put(server, &ids.map(record).collect(), OLD);
    };
    // The writer removes old changes by itself; every wait ends with what is true for good.
    let forgets_all = |server: &Server| {
        let last = server.describe("db")["records"].clone();
        loop {
            if let Err(error) = server.try_changes("db", &json!({ "after": 0 })) {
                let store = directory.path().join("databases/db/records.sqlite");
                let store = rusqlite::Connection::open(store).expect("opened");
                let count = "SELECT count(*) FROM changes";
                let left: i64 = store
                    .query_row(count, [], |row| row.get(0))
                    .expect("counted");
                if left == 1 {
                    return assert_eq!(error.code(), "changes_removed");
                }
            }
            assert_ne!(last, json!(0));
            std::thread::yield_now();
        }
    };
    let server = open();
    create(&server);
    for start in [1, 101, 201, 301, 401, 501] {
        put_all(&server, start..start + 100);
    }
    forgets_all(&server);
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun");
    assert!(!step(&server), "there are more records than a batch has");
    let told = server.reembedding("db");
    assert!(told["done"].as_u64() >= Some(200), "{told}");
    server
        .delete("db", &json!({ "ids": [1, 2] }))
        .expect("deleted");
    put_all(&server, 601..602);
    server.close();
    let server = open();
    forgets_all(&server);
    let told = server
        .begin_reembedding("db", &settings(NEW))
        .expect("begun anew");
    assert_eq!(told["done"], 0);
    let before = contents_kept(&server);
    finish(&server);
    assert_eq!(contents_kept(&server), before);
    assert_eq!(before.len(), 599);
    server.close();
}

/// The ids of all records, from a query.
fn contents_kept(server: &Server) -> Vec<u64> {
    let query = json!({ "limit": 10_000, "variant": "b", "sort": { "column": "n" } });
    let page = server.query("db", &query);
    let ids = page["results"].as_array().expect("results").iter();
    ids.map(|record| record["id"].as_u64().expect("an id"))
        .collect()
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
            // It was dropped before, or first switched and then dropped.
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
