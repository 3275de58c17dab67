//! A search of a small database is carried out by its caller. Any other search is not, however small the database is: the
//! caller may be the thread that serves all requests.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;
use std::thread::{self, ThreadId};

use cosift_engine::{Error, StopFlag};
use serde_json::{Map, Value, json};

use crate::common::{Known, Oracle, Random, Server, Vectors, random_data, stop_flag};

const DIMENSIONS: usize = 64;

/// Searches, and returns the response and the thread that gave it.
fn search(
    server: &Server,
    request: &Value,
    vector: &[f32],
    stop: StopFlag,
) -> (Result<Value, Error>, ThreadId) {
    let (sender, outcome) = channel();
    let done = Box::new(move |page| {
        sender
            .send((page, thread::current().id()))
            .expect("the test waits");
    });
    let text = request.to_string();
    server.engine.search("db", &text, vector, stop, done);
    let (page, thread) = outcome.recv().expect("every call is answered");
    let page = page.map(|page| serde_json::from_slice(&page.body).expect("a response is JSON"));
    (page, thread)
}

/// While a background job publishes, which takes microseconds, no search is carried out by its caller.
fn is_by_caller(server: &Server, request: &Value, vector: &[f32]) -> bool {
    (0..10).any(|_| {
        let (page, thread) = search(server, request, vector, stop_flag());
        page.unwrap_or_else(|error| panic!("{request}: {error}"));
        thread == thread::current().id()
    })
}

fn contains(values: usize, length: usize) -> Value {
    let rule = |at| json!({ "column": "text", "operator": "contains", "value": format!("{at}{}", "x".repeat(length)) });
    json!({ "condition": "OR", "rules": (0..values).map(rule).collect::<Vec<_>>() })
}

fn equals(values: usize, length: usize) -> Value {
    let rule = |at| json!({ "column": "text", "operator": "equals", "value": format!("{at}{}", "x".repeat(length)) });
    json!({ "condition": "AND", "rules": (0..values).map(rule).collect::<Vec<_>>() })
}

/// A database whose records have these data.
fn filled_with(
    dimensions: usize,
    records: impl Iterator<Item = Value>,
) -> (tempfile::TempDir, Server, Vec<f32>) {
    let mut random = Random::new(304);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server
        .create_with("db", &json!({ "model": null, "dimensions": dimensions }))
        .expect("created");
    let vectors = Vectors::new(dimensions, &mut random);
    let known: Vec<Known> = (1..)
        .zip(records)
        .map(|(id, data)| {
            let data = data.as_object().expect("an object").clone();
            Known::new(id, data, vectors.draw(&mut random), 0)
        })
        .collect();
    server.put("db", &known);
    let query = vectors.draw(&mut random);
    (directory, server, query)
}

fn filled(seed: u64, count: u64) -> (tempfile::TempDir, Server, Oracle, Vec<f32>) {
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server
        .create_with(
            "db",
            &json!({ "model": null, "dimensions": DIMENSIONS, "lexical": true }),
        )
        .expect("created");
    let vectors = Vectors::new(DIMENSIONS, &mut random);
    let mut oracle = Oracle::default();
    let records = (1..=count)
        .map(|id| {
            let mut data = random_data(&mut random);
            data.insert("text".into(), json!(format!("{id} {}", "y".repeat(90))));
            Known::new(id, data, vectors.draw(&mut random), 0)
        })
        .collect();
    server.put_known("db", &mut oracle, records);
    let query = vectors.draw(&mut random);
    (directory, server, oracle, query)
}

#[test]
fn and_find_the_same() {
    let (_directory, server, oracle, query) = filled(300, 500);
    let mut request = json!({ "threshold": 0, "limit": 20 });
    for _ in 0..3 {
        assert!(is_by_caller(&server, &request, &query));
        let page = server.search("db", &request, &query);
        request["cursor"] = page["pagination"]["next_cursor"].clone();
    }
    let filter = contains(3, 0);
    for request in [
        json!({}),
        json!({ "threshold": 0, "limit": 64 }),
        json!({ "threshold": 0.1, "filter": filter }),
    ] {
        assert!(is_by_caller(&server, &request, &query), "{request}");
        server.check("db", &oracle, &request, &query);
    }
    let (stopped, stop) = (stop_flag(), stop_flag());
    stopped.store(true, Relaxed);
    let (outcome, _) = search(&server, &json!({}), &query, stopped);
    assert_eq!(outcome.expect_err("it was stopped").code(), "stopped");
    assert!(search(&server, &json!({}), &query, stop).0.is_ok());
    server.close();
}

#[test]
fn also_after_a_restart_once_its_vectors_were_read() {
    let (directory, server, query) = filled_with(DIMENSIONS, (0..500).map(|n| json!({ "n": n })));
    let request = json!({ "threshold": 0 });
    let page = server.search("db", &request, &query);
    server.close();
    let server = Server::open(directory.path());
    let memory = || server.describe("db")["sizes"]["memory_bytes"].as_u64();
    let unread = memory().expect("a number");
    assert_eq!(server.search("db", &request, &query), page);
    assert_eq!(memory(), Some(unread + 500 * DIMENSIONS as u64 * 4));
    assert!(is_by_caller(&server, &request, &query));
    assert_eq!(server.search("db", &request, &query), page);
    server.close();
}

#[test]
fn but_no_search_that_may_take_longer() {
    let (_directory, server, _, query) = filled(301, 500);
    for request in [
        json!({ "limit": 65 }),
        json!({ "total": true }),
        json!({ "facets": [{ "column": "text" }] }),
        json!({ "explain": true }),
        json!({ "lexical": { "weight": 0.5, "text": "y" } }),
        json!({ "filter": contains(40, 200) }),
        json!({ "filter": equals(17, 1) }),
        json!({ "filter": equals(1, 1_100) }),
        json!({ "filter": equals(1, 600), "forced_filter": equals(1, 600) }),
    ] {
        assert!(!is_by_caller(&server, &request, &query), "{request}");
    }
    let mut request = json!({ "threshold": 0, "limit": 20, "filter": contains(3, 0) });
    assert!(is_by_caller(&server, &request, &query));
    let page = server.search("db", &request, &query);
    request["cursor"] = page["pagination"]["next_cursor"].clone();
    assert!(!is_by_caller(&server, &request, &query), "{request}");
    server.close();
}

#[test]
fn and_no_search_of_a_larger_database() {
    let (_directory, server, _, query) = filled(302, 1_000);
    assert!(is_by_caller(&server, &json!({}), &query));
    let long = "z".repeat(1 << 19);
    let record = json!([{ "id": 1, "data": { "text": long }, "vector": query }]);
    server.upsert("db", &record).expect("written");
    assert!(!is_by_caller(&server, &json!({}), &query));
    server.close();

    let (_directory, server, _, query) = filled(303, 6_500);
    assert!(!is_by_caller(&server, &json!({}), &query));
    server.close();
}

#[test]
fn and_none_that_may_write_a_large_page() {
    let shared = |length: usize| {
        let text = "z".repeat(length);
        filled_with(8, (0..16).map(move |_| json!({ "text": text })))
    };
    let (_directory, server, query) = shared(30_000);
    assert!(is_by_caller(&server, &json!({}), &query));
    server.close();
    // Columns keep the text once.
    let (_directory, server, query) = shared(40_000);
    assert!(!is_by_caller(&server, &json!({}), &query));
    server.close();

    let named = |columns: usize| {
        let names = (0..columns).map(|at| format!("{at}{}", "z".repeat(200)));
        let data: Map<String, Value> = names.map(|name| (name, json!(1))).collect();
        filled_with(8, (0..16).map(move |_| Value::Object(data.clone())))
    };
    let (_directory, server, query) = named(30);
    assert!(is_by_caller(&server, &json!({}), &query));
    server.close();
    let (_directory, server, query) = named(40);
    assert!(!is_by_caller(&server, &json!({}), &query));
    server.close();
}

#[test]
fn and_none_of_many_short_vectors() {
    // A block of 4,096 records would soon be in a file.
    let (_directory, server, query) = filled_with(8, (0..4_000).map(|_| json!({})));
    assert!(is_by_caller(&server, &json!({}), &query));
    let records = (5_000..5_100).map(|id| json!({ "id": id, "data": {}, "vector": query }));
    server.upsert("db", &records.collect()).expect("written");
    assert!(!is_by_caller(&server, &json!({}), &query));
    server.close();
}
