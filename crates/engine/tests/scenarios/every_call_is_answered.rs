use std::sync::atomic::Ordering::Relaxed;

use cosift_engine::Format;
use serde_json::{Map, json};

use crate::common::{Known, Random, Server, Vectors, stop_flag};

fn filled(seed: u64, count: u64) -> (tempfile::TempDir, Server, Vec<Vec<f32>>) {
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 64);
    let vectors = Vectors::new(64, &mut random);
    let records: Vec<Known> = (1..=count)
        .map(|id| Known::new(id, Map::new(), vectors.draw(&mut random), 0))
        .collect();
    server.put("db", &records);
    (
        directory,
        server,
        records.into_iter().map(|record| record.vector).collect(),
    )
}

#[test]
fn that_is_stopped() {
    let (_directory, server, vectors) = filled(100, 5_000);
    let request = json!({ "threshold": 0, "limit": 100 });
    for vector in &vectors[..50] {
        let stopped = stop_flag();
        stopped.store(true, Relaxed);
        let early = server.start_search("db", &request, vector, stopped);
        let late_flag = stop_flag();
        let late = server.start_search("db", &request, vector, late_flag.clone());
        let other = server.start_search("db", &request, vector, stop_flag());
        late_flag.store(true, Relaxed);
        assert_eq!(early.wait().expect_err("it was stopped").code(), "stopped");
        // The flag was set while the call ran, so the result is a page or an error.
        if let Err(error) = late.wait() {
            assert_eq!(error.code(), "stopped");
        }
        assert!(
            other.wait().is_ok(),
            "another search of the same shared scan continues"
        );
    }
    server.close();
}

#[test]
fn that_is_wrong() {
    let (_directory, server, vectors) = filled(101, 10);
    for (request, code) in [
        (json!({ "threshold": 1.5 }), "invalid_request"),
        (json!({ "threshold": "0.5" }), "invalid_request"),
        (json!({ "limit": 0 }), "invalid_request"),
        (json!({ "limit": -1 }), "invalid_request"),
        (json!({ "form": "other" }), "invalid_request"),
        (json!({ "filter": { "rules": [] } }), "invalid_filter"),
        (
            json!({ "form": "uuid", "filter": { "rules": [{ "column": "uuid", "operator": "is_empty" }] } }),
            "invalid_filter",
        ),
        (
            json!({ "time_range": { "start_time": "yesterday" } }),
            "invalid_time",
        ),
        (
            json!({ "time_range": { "start_time": "2026-01-02", "end_time": "2026-01-01" } }),
            "invalid_time",
        ),
    ] {
        assert_eq!(
            server
                .try_search("db", &request, &vectors[0])
                .expect_err("wrong")
                .code(),
            code,
            "{request}"
        );
    }
    let request = json!({});
    assert_eq!(
        server
            .try_search("db", &request, &vectors[0][1..])
            .expect_err("wrong")
            .code(),
        "invalid_dimensions"
    );
    assert_eq!(
        server
            .try_search("db", &request, &[0.0; 64])
            .expect_err("wrong")
            .code(),
        "invalid_vector"
    );
    assert_eq!(
        server
            .try_search("db", &request, &[f32::NAN; 64])
            .expect_err("wrong")
            .code(),
        "invalid_vector"
    );
    assert_eq!(
        server
            .try_search("none", &request, &vectors[0])
            .expect_err("wrong")
            .code(),
        "database_not_found"
    );
    server.close();
}

#[test]
fn that_is_in_flight_when_the_engine_closes() {
    for round in 0..3 {
        let (directory, server, vectors) = filled(102 + round, 3_000);
        let request = json!({ "threshold": 0, "limit": 100 });
        let searches: Vec<_> = vectors
            .iter()
            .take(300)
            .map(|vector| server.start_search("db", &request, vector, stop_flag()))
            .collect();
        let commits: Vec<_> = (0..200_u64)
            .map(|id| {
                let record =
                    json!({ "id": 10_000 + id, "data": {}, "vector": vectors[id as usize] });
                let body = json!({ "records": [record] }).to_string().into_bytes();
                let prepared = server
                    .prepare("db", body, Vec::new(), Format::Batch)
                    .expect("good");
                server.commit("db", prepared)
            })
            .collect();
        let (searched, written) = std::thread::scope(|scope| {
            // More writes arrive during the close. Each one is accepted as a whole or refused.
            let late = scope.spawn(|| {
                let mut written = 0;
                for id in 20_000_u64.. {
                    let known = Known::new(id, Map::new(), vectors[0].clone(), 0);
                    let records = json!([{ "id": id, "data": {}, "vector": known.vector }]);
                    match server.upsert("db", &records) {
                        Ok(_) => written += 1,
                        Err(error) => {
                            assert_eq!(error.code(), "not_ready");
                            break;
                        }
                    }
                }
                written
            });
            server.engine.close();
            let late = late.join().expect("the writer");
            let searched = searches
                .into_iter()
                .map(|search| search.wait())
                .filter(Result::is_ok)
                .count();
            (
                searched,
                late + commits
                    .into_iter()
                    .map(|commit| commit.wait())
                    .filter(Result::is_ok)
                    .count(),
            )
        });
        assert_eq!(searched, 300, "every accepted search gets its response");
        assert_eq!(
            server
                .try_search("db", &request, &vectors[0])
                .expect_err("closed")
                .code(),
            "not_ready"
        );
        let server = Server::open(directory.path());
        assert_eq!(server.describe("db")["records"], json!(3_000 + written));
        server.close();
    }
}

#[test]
fn that_meets_a_database_being_dropped() {
    for round in 0..3 {
        let (directory, server, vectors) = filled(110 + round, 6_000);
        server.create("other", 8);
        let request = json!({ "threshold": 0, "limit": 50 });
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let searching = scope.spawn(|| {
                let search =
                    |vector: &Vec<f32>| server.start_search("db", &request, vector, stop_flag());
                vectors.iter().take(400).map(search).collect::<Vec<_>>()
            });
            let writing = scope.spawn(|| {
                for id in 10_000_u64.. {
                    let records = json!([{ "id": id, "data": {}, "vector": vectors[0] }]);
                    if let Err(error) = server.upsert("db", &records) {
                        assert!(
                            matches!(error.code(), "not_ready" | "database_not_found"),
                            "{error}"
                        );
                        return;
                    }
                }
            });
            server.drop_database("db").wait().expect("dropped");
            writing.join().expect("the writer");
            searching.join().expect("the searcher")
        });
        for outcome in outcomes {
            if let Err(error) = outcome.wait() {
                assert!(
                    matches!(error.code(), "not_ready" | "database_not_found"),
                    "{error}"
                );
            }
        }
        assert!(!directory.path().join("databases/db").exists());
        // The id can be used again, and the new database is empty.
        server.create("db", 8);
        assert_eq!(server.describe("db")["records"], 0);
        assert_eq!(
            server
                .drop_database("none")
                .wait()
                .expect_err("none")
                .code(),
            "database_not_found"
        );
        server.close();
        let server = Server::open(directory.path());
        assert_eq!(server.describe("db")["records"], 0);
        server.close();
    }
}
