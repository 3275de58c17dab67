use cosift_engine::{Error, Limits};
use serde_json::{Map, Value, json};

use crate::common::Server;

fn open(directory: &std::path::Path, database_columns: usize) -> Server {
    let limits = Limits {
        database_columns,
        ..Limits::default()
    };
    Server::with_limits(directory, limits)
}

fn record(id: u64, columns: &[&str]) -> Value {
    let data: Map<String, Value> = columns
        .iter()
        .map(|&name| (name.to_owned(), json!(1)))
        .collect();
    json!({ "id": id, "data": data, "vector": [1, 0] })
}

fn columns(server: &Server) -> usize {
    server.describe("db")["columns"]
        .as_array()
        .expect("a list")
        .len()
}

#[test]
fn in_a_batch() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = open(directory.path(), 3);
    server.create("db", 2);
    server
        .upsert("db", &json!([record(1, &["a", "b"])]))
        .expect("two columns are allowed");

    // The second record alone exceeds the limit, and a batch is stored completely or not at all.
    let batch = json!([record(2, &["a", "c"]), record(3, &["c", "b", "d/e", "f"])]);
    let error = server.upsert("db", &batch).expect_err("too many columns");
    let Error::Invalid { code, problems } = &error else {
        panic!("{error}");
    };
    assert_eq!(*code, "invalid_record");
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].pointer, "/records/1/data/d~1e");
    assert_eq!(problems[0].code.as_str(), "too_many_columns");
    assert!(problems[0].detail.contains('3'), "{}", problems[0].detail);
    assert_eq!(columns(&server), 2, "nothing of the batch was stored");

    server
        .upsert("db", &json!([record(2, &["a", "c"])]))
        .expect("one more column is allowed");
    server
        .upsert("db", &json!([record(2, &["c", "b", "a"])]))
        .expect("no new name");
    server
        .upsert("db", &json!([record(3, &["d"])]))
        .expect_err("too many columns");
    assert_eq!(columns(&server), 3);
    server.close();
}

#[test]
fn in_a_stream_of_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = open(directory.path(), 2);
    server.create("db", 2);
    let lines = [
        record(1, &["a"]),
        record(2, &["a", "b", "c"]),
        record(3, &["b"]),
        record(4, &["d"]),
    ];
    let body = lines.map(|line| line.to_string()).join("\n").into_bytes();
    let prepared = server.prepare_lines("db", body, 11).expect("prepared");
    let committed = server.commit("db", prepared).wait().expect("written");
    let reported: Vec<_> = committed
        .problems
        .iter()
        .map(|bad| (bad.line, &*bad.problem.pointer, bad.problem.code.as_str()))
        .collect();
    assert_eq!(
        reported,
        [
            (12, "/data/c", "too_many_columns"),
            (14, "/data/d", "too_many_columns")
        ]
    );
    let stored: Vec<u64> = committed.results.iter().map(|result| result.id.0).collect();
    assert_eq!(stored, [1, 3]);
    server.close();
}

#[test]
fn and_a_database_with_more_columns_keeps_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = open(directory.path(), 100);
    server.create("db", 2);
    server
        .upsert("db", &json!([record(1, &["a", "b", "c", "d"])]))
        .expect("written");
    server.close();

    let server = open(directory.path(), 2);
    assert_eq!(columns(&server), 4);
    server
        .upsert("db", &json!([record(2, &["d", "a"])]))
        .expect("known names stay usable");
    server
        .upsert("db", &json!([record(3, &["e"])]))
        .expect_err("too many columns");
    server.close();
}
