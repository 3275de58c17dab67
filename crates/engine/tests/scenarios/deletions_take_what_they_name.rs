use cosift_engine::Status;
use serde_json::json;

use crate::common::{Known, Oracle, Random, Server, Vectors, random_data, random_filter, time};

#[test]
fn by_identity_filter_or_time_range() {
    let mut random = Random::new(40);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    let records = (1..=6_000).map(|id| {
        Known::new(
            id,
            random_data(&mut random),
            vectors.draw(&mut random),
            id as i64 * 1000,
        )
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    for round in 0..12 {
        let request = match round % 4 {
            0 => {
                json!({ "ids": [1 + random.below(6_000), 1 + random.below(6_000), 999_999, 17, 17] })
            }
            1 => {
                let uuids: Vec<&String> = oracle
                    .records
                    .values()
                    .skip(random.below(100))
                    .take(30)
                    .map(|known| &known.uuid)
                    .collect();
                json!({ "ids": uuids, "forced_filter": random_filter(&mut random, 1) })
            }
            2 => {
                let size = random.below(40) as f64 / 4.0;
                json!({ "filter": { "condition": "AND", "rules": [
                    { "column": "size", "operator": "equals", "value": size }, random_filter(&mut random, 2)] } })
            }
            _ => {
                let start = 1000 * random.below(6_000) as i64;
                json!({ "time_range": { "start_time": time(start), "end_time": time(start + 50_000) } })
            }
        };
        // The oracle's query does not support ids, so the test selects them from the matches of the other members.
        let mut narrowed = json!({ "form": "uuid", "time_range": request["time_range"], "filter": request["filter"] });
        if request["filter"].is_null() {
            narrowed["filter"] = request["forced_filter"].clone();
        }
        let mut deleted: Vec<String> = oracle
            .query(&narrowed)
            .iter()
            .map(|shown| shown["id"].as_str().expect("a UUID").to_owned())
            .collect();
        if let Some(ids) = request["ids"].as_array() {
            deleted.retain(|uuid| {
                let known = oracle
                    .records
                    .values()
                    .find(|known| &known.uuid == uuid)
                    .expect("known");
                ids.contains(&json!(known.uuid)) || ids.contains(&json!(known.id))
            });
        }
        assert_eq!(
            server.delete("db", &request).expect("deleted"),
            deleted.len(),
            "{request}"
        );
        oracle
            .records
            .retain(|_, known| !deleted.contains(&known.uuid));
        server.check(
            "db",
            &oracle,
            &json!({ "threshold": 0, "limit": 100, "total": true }),
            &vectors.draw(&mut random),
        );
    }
    server.close();
}

#[test]
fn by_their_last_write() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    let put = |ids: &[u64]| {
        let records: Vec<_> = ids
            .iter()
            .map(|id| {
                json!({ "id": id, "data": { "a": "x" }, "vector": [1, id],
                "timestamps": { "synced_at": "2001-01-01T00:00:00Z" } })
            })
            .collect();
        server.upsert("db", &json!(records)).expect("written")
    };
    let ids: Vec<u64> = (1..=10).collect();
    put(&ids);
    let mark = server.mark("db");
    assert_eq!(mark["records"], 10);
    let unwritten = |epoch: &serde_json::Value, max: u64| {
        let version = &mark["version"];
        json!({ "unwritten": { "version": version }, "epoch": epoch, "max": max })
    };
    // Nothing about these records changes.
    assert_eq!(put(&ids[..4]).results[0].status, Status::Unchanged);
    let refused = server.delete("db", &unwritten(&mark["epoch"], 5));
    let refused = refused.expect_err("six are missing");
    assert_eq!(refused.code(), "deletion_refused");
    assert_eq!(refused.facts(), json!({ "missing": 6, "max": 5 }));
    let former = server.delete("db", &unwritten(&json!("another"), 6));
    let former = former.expect_err("another database");
    assert_eq!(former.code(), "database_not_found");
    assert_eq!(server.describe("db")["records"], 10);
    let deleted = server.delete("db", &unwritten(&mark["epoch"], 6));
    assert_eq!(deleted.expect("deleted"), 6);
    let deleted = server.delete("db", &unwritten(&mark["epoch"], 0));
    assert_eq!(deleted.expect("nothing"), 0);
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["records"], 4);
}

#[test]
fn and_a_made_id_never_comes_back() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let record = |id: Option<u64>| match id {
        Some(id) => json!([{ "id": id, "data": { "a": "x" }, "vector": [1, 2, 3, 4, 5, 6, 7, 8] }]),
        None => json!([{ "data": { "a": "x" }, "vector": [1, 2, 3, 4, 5, 6, 7, 8] }]),
    };
    let made = |server: &Server| {
        server.upsert("db", &record(None)).expect("written").results[0]
            .id
            .0
    };
    assert_eq!([made(&server), made(&server), made(&server)], [1, 2, 3]);
    assert_eq!(
        server
            .delete("db", &json!({ "ids": [2, 3] }))
            .expect("deleted"),
        2
    );
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(made(&server), 4);
    assert_eq!(
        server
            .delete("db", &json!({ "ids": [1, 4] }))
            .expect("deleted"),
        2
    );
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(server.describe("db")["records"], 0);
    assert_eq!(made(&server), 5);

    // A caller may use a deleted id again for a new record.
    let again = server.upsert("db", &record(Some(2))).expect("written");
    assert_eq!(again.results[0].status, Status::Created);
    assert_eq!(
        server.record("db", "2").expect("there")["data"],
        json!({ "a": "x" })
    );
    server
        .delete("db", &json!({ "ids": [2] }))
        .expect("deleted");
    assert_eq!(
        server.record("db", "2").expect_err("gone").code(),
        "record_not_found"
    );
    assert_eq!(
        server
            .delete("db", &json!({ "ids": [2] }))
            .expect("nothing"),
        0
    );
    server.upsert("db", &record(Some(2))).expect("written");
    server.close();
    let server = Server::open(directory.path());
    assert!(server.record("db", "2").is_ok());
    let found = server.search(
        "db",
        &json!({ "total": true }),
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    );
    assert_eq!(found["total"]["value"], 2);
    server.close();
}

#[test]
fn in_the_order_of_their_ids() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    let put = |id: u64, text: &str| {
        let record = json!([{ "id": id, "data": { "text": text }, "vector": [1, id] }]);
        server.upsert("db", &record).expect("written");
    };
    for id in [7, 3, 9, 1, 5] {
        put(id, "first");
    }
    put(3, "second");
    put(9, "second");
    let all = json!({ "filter": { "rules": [{ "column": "text", "operator": "is_not_empty" }] } });
    for (request, expected) in [
        (json!({ "ids": [7, 3, 1] }), vec![1, 3, 7]),
        (all, vec![5, 9]),
    ] {
        let position = server.changes("db", 0, 100)["position"].clone();
        let after = position.as_u64().expect("a position");
        assert_eq!(
            server.delete("db", &request).expect("deleted"),
            expected.len()
        );
        let feed = server.changes("db", after, 100)["changes"].clone();
        let ids: Vec<u64> = feed
            .as_array()
            .expect("changes")
            .iter()
            .map(|change| change["id"].as_u64().expect("an id"))
            .collect();
        assert_eq!(ids, expected);
    }
}
