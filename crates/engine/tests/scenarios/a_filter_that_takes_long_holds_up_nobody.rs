//! Filters of hundreds of substrings over long texts take seconds. They end when they are stopped, and neither writes
//! nor other reads wait for them.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use serde_json::{Value, json};

use crate::common::{Server, stop_flag};

const RECORDS: u64 = 3_000;

/// A pattern of 10 kB. No part of it is rare in the texts, and a comparison does not end early.
fn pattern(at: usize) -> String {
    format!("{}{at}", "x".repeat(9_990))
}

/// Rules that hold for no record. Each rule searches all texts.
fn heavy(rules: usize, operator: &str) -> Value {
    let condition = if operator == "contains" { "OR" } else { "AND" };
    let rules: Vec<Value> = (0..rules)
        .map(|at| json!({ "column": "text", "operator": operator, "value": pattern(at) }))
        .collect();
    json!({ "condition": condition, "rules": rules })
}

/// A text with the end of every pattern, before which thousands of bytes are equal to the pattern's.
fn text(id: u64) -> String {
    let ends: Vec<String> = (0..900).map(|at| format!("xxx{at}")).collect();
    format!("{id} {}{}", "x".repeat(9_900), ends.join(" "))
}

fn fill(server: &Server) {
    server.create("db", 2);
    for batch in 0..RECORDS / 500 {
        let records: Vec<Value> = (0..500)
            .map(|at| {
                let id = batch * 500 + at + 1;
                json!({ "id": id, "data": { "text": text(id), "size": id }, "vector": [1, id] })
            })
            .collect();
        server.upsert("db", &json!(records)).expect("written");
    }
}

#[test]
fn and_ends_when_it_is_stopped() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    fill(&server);
    let filter = heavy(900, "contains");
    let total = json!({ "filter": filter, "total": true, "facets": [{ "column": "size" }] });

    let stop = stop_flag();
    let search = json!({ "filter": filter, "explain": true });
    let boosts = json!([{ "weight": 0.5, "filter": filter }]);
    let boosted = json!({ "boosts": boosts, "threshold": 1 });
    let deletions: Vec<_> = (0..6)
        .map(|_| server.start_delete("db", &json!({ "filter": filter }), stop.clone()))
        .collect();
    let vector = [1.0, 2.0];
    let start_page = |kind: usize| match kind {
        0 => server.start_search("db", &search, &vector, stop.clone()),
        1 => server.start_search("db", &total, &vector, stop.clone()),
        2 => server.start_search("db", &boosted, &vector, stop.clone()),
        _ => server.start_query("db", &total, stop.clone()),
    };
    thread::scope(|scope| {
        // More calls than there are threads of any kind. Each caller calls again until its call is stopped.
        let callers: Vec<_> = (0..18)
            .map(|at| {
                scope.spawn(move || {
                    loop {
                        match start_page(at % 4).wait() {
                            Ok(page) => assert!(page.body.starts_with(br#"{"results":[]"#)),
                            Err(error) => return error,
                        }
                    }
                })
            })
            .collect();
        let completed = catch_unwind(AssertUnwindSafe(|| complete_meanwhile(&server)));
        // Also when the other calls failed: the callers end in no other way.
        stop.store(true, Relaxed);
        for caller in callers {
            let error = caller.join().expect("no wrong page");
            assert_eq!(error.code(), "stopped");
        }
        completed.unwrap_or_else(|panic| resume_unwind(panic));
    });
    for deletion in deletions {
        match deletion.wait() {
            Ok(deleted) => assert_eq!(deleted, 0),
            Err(error) => assert_eq!(error.code(), "stopped"),
        }
    }
    assert_eq!(server.describe("db")["records"], RECORDS - 1);
    server.close();
}

/// Faster calls: writes, reads of every kind, and control calls.
fn complete_meanwhile(server: &Server) {
    let record = json!([{ "id": 1, "data": { "text": "new", "size": 0 }, "vector": [0, 1] }]);
    server.upsert("db", &record).expect("written");
    assert_eq!(server.record("db", "1").expect("there")["data"]["size"], 0);
    assert_eq!(server.describe("db")["records"], RECORDS);
    server.create("other", 2);
    server.drop_database("other").wait().expect("dropped");
    let cheap = json!({ "column": "size", "operator": "equals", "value": 7 });
    let cheap = json!({ "filter": { "condition": "AND", "rules": [cheap] } });
    assert_eq!(server.query("db", &cheap)["results"][0]["id"], 7);
    let found = server.search("db", &cheap, &[1.0, 7.0]);
    assert_eq!(found["results"][0]["id"], 7);
    let deleted = server
        .delete("db", &json!({ "ids": [3] }))
        .expect("deleted");
    assert_eq!(deleted, 1);
    assert_eq!(
        server.changes("db", RECORDS, 10)["changes"][1]["kind"],
        "deleted"
    );
}

#[test]
fn and_a_deletion_takes_what_matches_when_it_is_committed() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    fill(&server);
    // The filter matches all records without any of the patterns. While the deletion looks for its matches, records are
    // inserted, changed and deleted.
    let mut filter = heavy(40, "not_contains");
    let size = json!({ "column": "size", "operator": "greater_than", "value": 1000 });
    filter["rules"].as_array_mut().expect("rules").push(size);
    let deletion = server.start_delete("db", &json!({ "filter": filter }), stop_flag());
    let kept = format!("{} {}", "x".repeat(12_000), pattern(7));
    let change = |id: u64, text: &str, size: u64| json!({ "id": id, "data": { "text": text, "size": size }, "vector": [1, id] });
    let changes: Vec<Value> = (0..200)
        .flat_map(|at| {
            [
                // Matched before, and no longer matches because of one rule or the other.
                change(1_100 + at, &kept, 5_000),
                change(1_400 + at, "short", 1),
                // Did not match before, and matches now.
                change(100 + at, "short", 2_000),
                // Still matches, with other data.
                change(2_000 + at, "other", 3_000),
                // New records.
                change(10_000 + at, "new", 4_000),
                change(20_000 + at, &kept, 4_000),
            ]
        })
        .collect();
    for batch in changes.chunks(60) {
        server.upsert("db", &json!(batch)).expect("written");
    }
    server
        .delete("db", &json!({ "ids": [2_500, 2_501] }))
        .expect("deleted");
    let deleted = deletion.wait().expect("deleted");
    let left = server.query("db", &json!({ "filter": filter, "total": true }));
    // Whenever the deletion was committed, the records that still match were written after that commit.
    let left = left["total"]["value"].as_u64().expect("a total");
    let again = server
        .delete("db", &json!({ "filter": filter }))
        .expect("deleted");
    assert_eq!(again as u64, left);
    let all = server.query("db", &json!({ "total": true, "limit": 100 }));
    // 1 to 1,000 without the 200 that grew, 200 with a pattern, 200 that shrank, 200 new ones with a pattern.
    assert_eq!(
        all["total"]["value"],
        800 + 200 + 200 + 200,
        "{deleted} and {again} deleted"
    );
    server.close();
}
