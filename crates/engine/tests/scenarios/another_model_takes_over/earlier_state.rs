//! Records that came with vectors, were prepared or deleted before the re-embedding, or were lost by a restore.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use cosift_engine::{Embedded, Error, Format, Limits};

use super::{NEW, OLD, check_vectors, create, finish, put, step};
use crate::common::{Random, Server, StoreCopy, embed, embedded, settings};

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
    // A batch that was prepared with vectors, and is committed when the database has a model, is refused.
    let body = json!({ "records": [records[0]] }).to_string().into_bytes();
    let late = server
        .prepare("db", body, Vec::new(), Format::Batch)
        .expect("good records");
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("started");
    finish(&server);
    assert!(matches!(
        server.commit_with("db", Arc::new(late), Embedded::default()),
        Err(Error::Invalid { .. })
    ));
    check_vectors(&server, NEW);
    // The same records without vectors are unchanged.
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
        .expect("started");
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
    let database = directory.path().join("databases/db");
    let records = |ids: std::ops::Range<u64>| -> Value {
        ids.map(|id| json!({ "id": id, "data": { "text": format!("text {id}") } }))
            .collect()
    };
    let server = Server::open(directory.path());
    create(&server);
    put(&server, &records(1..31), OLD);
    server.close();
    let backup = StoreCopy::of(&database);
    let server = Server::open(directory.path());
    put(&server, &records(31..81), OLD);
    server
        .begin_reembedding("db", &settings(NEW))
        .expect("started");
    while !step(&server) {}
    assert_eq!(server.reembedding("db")["done"], 80);
    server.close();
    backup.put_back(&database);

    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["records"], 30);
    assert_eq!(server.reembedding("db"), Value::Null);
    let progress = server.begin_reembedding("db", &settings(NEW));
    assert_eq!(progress.expect("started")["done"], 0);
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
fn and_goes_on_whatever_the_feed_forgets_meanwhile() {
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
    // The writer removes old changes in the background; each wait ends with a state that does not change again.
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
        .expect("started");
    assert!(!step(&server), "there are more records than a batch has");
    let progress = server.reembedding("db");
    assert!(progress["done"].as_u64() >= Some(200), "{progress}");
    server
        .delete("db", &json!({ "ids": [1, 2] }))
        .expect("deleted");
    put_all(&server, 601..602);
    server.close();
    let server = open();
    forgets_all(&server);
    let former = progress["done"].as_u64().expect("a number");
    let progress = server
        .begin_reembedding("db", &settings(NEW))
        .expect("started again");
    assert_eq!(progress["done"], former - 2);
    let before = contents_kept(&server);
    finish(&server);
    assert_eq!(contents_kept(&server), before);
    assert_eq!(before.len(), 599);
    server.close();
}

/// The ids of all records, from a query.
fn contents_kept(server: &Server) -> Vec<u64> {
    let query = json!({ "limit": 10_000, "form": "integer", "sort": { "column": "n" } });
    let page = server.query("db", &query);
    let ids = page["results"].as_array().expect("results").iter();
    ids.map(|record| record["id"].as_u64().expect("an id"))
        .collect()
}
