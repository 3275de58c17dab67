use std::time::Duration;

use cosift_engine::Limits;
use serde_json::{Value, json};

use crate::common::Server;

const SECRET: &str = "a word that was deleted for good";

fn put(server: &Server, id: u64, text: &str) {
    // The record's own time is old. The age of a change does not depend on it.
    let times = json!({ "last_changed_time": "1999-01-01" });
    let record =
        json!([{ "id": id, "data": { "text": text }, "timestamps": times, "vector": [1, id] }]);
    server.upsert("db", &record).expect("written");
}

fn on_disk(directory: &std::path::Path, text: &str) -> bool {
    let files = ["records.sqlite", "records.sqlite-wal"];
    files.iter().any(|name| {
        let path = directory.join("databases/db").join(name);
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    })
}

#[test]
fn and_says_so_to_those_who_were_away() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    put(&server, 1, SECRET); // 1
    put(&server, 2, SECRET); // 2
    put(&server, 2, "other"); // 3
    server
        .delete("db", &json!({ "ids": [1] }))
        .expect("deleted"); // 4
    put(&server, 3, "kept"); // 5
    server.close();
    // Changes are kept for 30 days with the former texts, because a filtered feed needs those.
    assert!(on_disk(directory.path(), SECRET));
    let server = Server::open(directory.path());
    assert_eq!(
        server.changes("db", 0, 10)["changes"]
            .as_array()
            .map(Vec::len),
        Some(5)
    );
    server.close();

    let limits = Limits {
        keep_changes: Duration::from_millis(1),
        ..Limits::default()
    };
    let server = Server::with_limits(directory.path(), limits);
    let refused = |after: u64| -> Option<Value> {
        let error = server.try_changes("db", &json!({ "after": after })).err()?;
        assert_eq!(error.code(), "changes_removed");
        Some(error.facts())
    };
    // The writer removes old changes in the background; each wait ends with a state that does not change again.
    while refused(3).is_none() {
        std::thread::yield_now();
    }
    assert_eq!(refused(0), Some(json!({ "after": 4 })));
    let feed = server.changes("db", 4, 10);
    assert_eq!(feed["changes"][0]["id"], 3);
    assert_eq!(feed["position"], 5);
    while on_disk(directory.path(), SECRET) {
        std::thread::yield_now();
    }
    let records = server.query(
        "db",
        &json!({ "total": true, "sort": { "column": "text" } }),
    );
    assert_eq!(records["total"]["value"], 2);
    assert_eq!(records["results"][1]["data"]["text"], "other");
    server.close();

    // Removed changes stay removed at the next start, with index files and without.
    for without in [false, true] {
        if without {
            std::fs::remove_dir_all(directory.path().join("databases/db/derived"))
                .expect("removed");
        }
        let server = Server::open(directory.path());
        assert_eq!(server.describe("db")["records"], 2);
        assert_eq!(server.changes("db", 4, 10)["position"], 5);
        let error = server
            .try_changes("db", &json!({ "after": 0 }))
            .expect_err("removed");
        assert_eq!(error.code(), "changes_removed");
        server.close();
    }
}
