use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cosift_engine::{Committed, Embedded, Error, Format, Status};
use serde_json::{Value, json};

use crate::common::{Random, Server};

fn open() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    (directory, server)
}

fn vector(first: i32) -> Value {
    json!([first, 1, 1, 1, 1, 1, 1, 1])
}

fn statuses(committed: &Committed) -> Vec<Status> {
    committed
        .results
        .iter()
        .map(|record| record.status)
        .collect()
}

fn ids(committed: &Committed) -> Vec<u64> {
    committed.results.iter().map(|record| record.id.0).collect()
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_millis() as i64
}

/// Times are stored in milliseconds, and two writes may follow each other within one.
fn wait_for_the_next_millisecond() {
    let first = now_ms();
    while now_ms() <= first {
        std::thread::yield_now();
    }
}

const UUID: [&str; 3] = [
    "00000000-0000-4000-8000-000000000001",
    "00000000-0000-4000-8000-000000000002",
    "00000000-0000-4000-8000-000000000003",
];

#[test]
fn created_changed_or_unchanged() {
    let (_directory, server) = open();
    let record = |data: Value, time: &str| json!([{ "id": 5, "data": data, "vector": vector(1), "timestamps": { "synced_at": time } }]);
    let first = server
        .upsert("db", &record(json!({ "a": 1 }), "2026-01-01"))
        .expect("written");
    assert_eq!(statuses(&first), [Status::Created]);
    let before = server.record("db", "5").expect("there");

    let again = server
        .upsert("db", &record(json!({ "a": 1 }), "2026-02-01"))
        .expect("written");
    assert_eq!(statuses(&again), [Status::Unchanged]);
    assert_eq!(again.results[0].uuid, first.results[0].uuid);
    let mut after = server.record("db", "5").expect("there");
    assert_eq!(
        after["timestamps"]["last_seen_time"],
        "2026-02-01T00:00:00.000Z"
    );
    after["timestamps"]["last_seen_time"] = before["timestamps"]["last_seen_time"].clone();
    assert_eq!(after, before, "only the last synced time changes");

    wait_for_the_next_millisecond();
    let changed = server
        .upsert("db", &record(json!({ "a": 2 }), "2026-03-01"))
        .expect("written");
    assert_eq!(statuses(&changed), [Status::Changed]);
    let other_vector = json!([{ "id": 5, "data": { "a": 2 }, "vector": vector(2) }]);
    assert_eq!(
        statuses(&server.upsert("db", &other_vector).expect("written")),
        [Status::Changed]
    );
    let shown = server.record("db", "5").expect("there");
    assert_eq!(
        shown["timestamps"]["first_seen_time"],
        before["timestamps"]["first_seen_time"]
    );
    assert_ne!(
        shown["timestamps"]["last_changed_time"],
        before["timestamps"]["last_changed_time"]
    );
    assert_eq!(server.describe("db")["records"], 1);

    let feed = server.changes("db", 0, 100);
    let kinds: Vec<&Value> = feed["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .map(|change| &change["kind"])
        .collect();
    assert_eq!(
        kinds,
        ["created", "changed", "changed"],
        "an unchanged upsert is not a change"
    );
    server.close();
}

#[test]
fn in_the_order_of_a_batch_that_names_a_record_twice() {
    let (_directory, server) = open();
    let batch = json!([
        { "id": 1, "data": { "a": 1 }, "vector": vector(1) },
        { "id": 1, "data": { "a": 1 }, "vector": vector(1) },
        { "id": 1, "uuid": null, "data": { "a": 2 }, "vector": vector(1) },
    ]);
    // A null UUID has the wrong type, so the batch is refused.
    assert_eq!(
        server.upsert("db", &batch).expect_err("bad").code(),
        "invalid_record"
    );
    assert_eq!(server.describe("db")["records"], 0);
    let batch = json!([
        { "id": 1, "uuid": UUID[0], "data": { "a": 1 }, "vector": vector(1) },
        { "id": 1, "data": { "a": 1 }, "vector": vector(1) },
        { "uuid": UUID[0], "data": { "a": 2 }, "vector": vector(1) },
        { "id": 1, "data": { "a": 2 }, "vector": vector(3) },
        { "id": 1, "data": { "a": 2 }, "vector": vector(3) },
    ]);
    let committed = server.upsert("db", &batch).expect("written");
    use Status::{Changed, Created, Unchanged};
    assert_eq!(
        statuses(&committed),
        [Created, Unchanged, Changed, Changed, Unchanged]
    );
    assert_eq!(
        server.record("db", UUID[0]).expect("there")["data"],
        json!({ "a": 2 })
    );
    let found = server.search(
        "db",
        &json!({ "threshold": 0, "total": true }),
        &[3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    );
    assert_eq!(found["total"]["value"], 1);
    assert_eq!(found["results"][0]["relevance_score"], json!(1));
    server.close();
}

#[test]
fn without_mixing_up_given_and_made_ids() {
    let (_directory, server) = open();
    let batch = json!([
        { "data": { "n": "a" }, "vector": vector(1) },
        { "id": 1, "data": { "n": "b" }, "vector": vector(1) },
        { "data": { "n": "c" }, "vector": vector(1) },
        { "id": 3, "data": { "n": "d" }, "vector": vector(1) },
        { "id": 1000, "data": { "n": "e" }, "vector": vector(1) },
    ]);
    let committed = server.upsert("db", &batch).expect("written");
    assert_eq!(statuses(&committed), [Status::Created; 5]);
    let mut all = ids(&committed);
    all.sort_unstable();
    all.dedup();
    assert_eq!(
        all.len(),
        5,
        "a generated id differs from every id of the batch"
    );
    let later = server
        .upsert("db", &json!([{ "data": {}, "vector": vector(1) }]))
        .expect("written");
    assert_eq!(ids(&later), [1001]);
    assert_eq!(server.describe("db")["records"], 6);
    server.close();
}

#[test]
fn and_refuse_a_batch_whose_identities_clash_as_a_whole() {
    let (_directory, server) = open();
    let two = json!([
        { "id": 1, "uuid": UUID[0], "data": {}, "vector": vector(1) },
        { "id": 2, "uuid": UUID[1], "data": {}, "vector": vector(1) },
    ]);
    server.upsert("db", &two).expect("written");
    for clash in [
        json!({ "id": 1, "uuid": UUID[1], "data": { "x": 1 }, "vector": vector(1) }),
        json!({ "id": 1, "uuid": UUID[2], "data": { "x": 1 }, "vector": vector(1) }),
        json!({ "id": 3, "uuid": UUID[0], "data": { "x": 1 }, "vector": vector(1) }),
    ] {
        let batch = json!([{ "id": 9, "data": {}, "vector": vector(1) }, clash, { "id": 10, "data": {}, "vector": vector(1) }]);
        let error = server.upsert("db", &batch).expect_err("clash");
        assert_eq!(error.code(), "identity_conflict", "{clash}");
        assert!(
            error.problems()[0].pointer.starts_with("/records/1/"),
            "{}",
            error.problems()[0].pointer
        );
        assert_eq!(
            server.describe("db")["records"],
            2,
            "nothing of the batch is stored"
        );
    }
    // Identities also clash within a batch.
    let twice = json!([
        { "id": 20, "uuid": UUID[2], "data": {}, "vector": vector(1) },
        { "id": 21, "uuid": UUID[2], "data": {}, "vector": vector(1) },
    ]);
    assert_eq!(
        server.upsert("db", &twice).expect_err("clash").code(),
        "identity_conflict"
    );
    assert_eq!(server.describe("db")["records"], 2);
    server.close();
}

#[test]
fn line_by_line_with_the_bad_ones_left_out() {
    let (_directory, server) = open();
    let good = |id: u64, uuid: &str| {
        json!({ "id": id, "uuid": uuid, "data": { "n": id }, "vector": vector(1) }).to_string()
    };
    let lines = [
        good(1, UUID[0]),
        "{".to_owned(),
        String::new(),
        json!({ "id": 2, "data": {}, "vector": [1, 2] }).to_string(),
        good(3, UUID[0]),
        "  \r".to_owned(),
        json!({ "id": 4, "data": { "a": {} }, "vector": vector(1) }).to_string(),
        json!({ "id": 5, "data": {} }).to_string(),
        json!({ "id": 6, "data": {}, "vector": [0, 0, 0, 0, 0, 0, 0, 0] }).to_string(),
        good(7, UUID[1]) + "\r",
        good(7, UUID[1]),
        "\u{feff}{}".to_owned(),
    ];
    let body = lines.join("\n").into_bytes();
    let prepared = server.prepare_lines("db", body, 101).expect("read");
    let mut bad: Vec<u64> = prepared
        .problems
        .iter()
        .map(|problem| problem.line)
        .collect();
    let committed = server.commit("db", prepared).wait().expect("written");
    bad.extend(committed.problems.iter().map(|problem| problem.line));
    bad.sort_unstable();
    bad.dedup();
    assert_eq!(bad, [102, 104, 105, 107, 108, 109, 112]);
    assert_eq!(ids(&committed), [1, 7, 7]);
    assert_eq!(
        statuses(&committed),
        [Status::Created, Status::Created, Status::Unchanged]
    );
    assert_eq!(server.describe("db")["records"], 2);
    server.close();
}

#[test]
fn concurrently_with_the_results_of_sequential_writes() {
    let (_directory, server) = open();
    let mut random = Random::new(30);
    // Many commits wait at once, so that groups of them share a transaction. Some commits clash with others.
    for round in 0..20 {
        let pending: Vec<_> = (0..40)
            .map(|_| {
                let id = 1 + random.below(30);
                let uuid = if random.chance(10) { UUID[random.below(3)].to_owned() } else { format!("00000000-0000-4000-9000-{id:012}") };
                let record = json!({ "id": id, "uuid": uuid, "data": { "n": random.below(3), "id": id }, "vector": vector(1) });
                let body = json!({ "records": [record] }).to_string().into_bytes();
                let prepared = server.prepare("db", body, Vec::new(), Format::Batch).expect("good");
                (id, uuid, server.commit("db", prepared))
            })
            .collect();
        for (id, uuid, outcome) in pending {
            match outcome.wait() {
                Ok(committed) => {
                    assert_eq!(
                        (
                            committed.results[0].id.0,
                            committed.results[0].uuid.to_string()
                        ),
                        (id as u64, uuid)
                    );
                }
                Err(error) => assert_eq!(error.code(), "identity_conflict", "round {round}"),
            }
        }
    }
    let all = server.query("db", &json!({ "limit": 100, "sort": { "column": "id" } }));
    for record in all["results"].as_array().expect("results") {
        assert_eq!(
            record["id"], record["data"]["id"],
            "every record has its own data"
        );
    }
    server.close();
}

#[test]
fn records_prepared_for_a_dropped_database_do_not_enter_its_successor() {
    let (_directory, server) = open();
    let prepare = || {
        let body = json!({ "records": [{ "id": 1, "data": {}, "vector": vector(1) }] });
        server
            .prepare(
                "db",
                body.to_string().into_bytes(),
                Vec::new(),
                Format::Batch,
            )
            .expect("good records")
    };
    let prepared = prepare();
    server.drop_database("db").wait().expect("dropped");
    server.create("db", 8);
    let error = server
        .commit("db", prepared)
        .wait()
        .expect_err("prepared for the dropped database");
    assert_eq!(error.code(), "database_not_found");
    assert_eq!(server.describe("db")["records"], 0);
    server.commit("db", prepare()).wait().expect("written");
    assert_eq!(server.describe("db")["records"], 1);
    server.close();
}

#[test]
fn unchanged_where_only_the_order_a_null_or_the_length_of_a_vector_differs() {
    let (_directory, server) = open();
    let put = |data: &Value, vector: Value| {
        let records = json!([{ "id": 1, "data": data, "vector": vector }]);
        statuses(&server.upsert("db", &records).expect("written"))[0]
    };
    // The records are sent as text, because a parsed object loses its order.
    let put_text = |data: &str| {
        let body = format!(
            r#"{{"records":[{{"id":1,"data":{data},"vector":{}}}]}}"#,
            vector(1)
        );
        let prepared = server
            .prepare("db", body.into_bytes(), Vec::new(), Format::Batch)
            .expect("good records");
        statuses(&server.commit("db", prepared).wait().expect("written"))[0]
    };
    let scaled = |factor: f64| {
        let one = vector(1);
        let components = one.as_array().expect("numbers").iter();
        components
            .map(|component| component.as_f64().expect("a number") * factor)
            .collect::<Value>()
    };
    let stored = json!({ "a": 1, "b": "x", "c": null, "d": true });
    assert_eq!(put(&stored, vector(1)), Status::Created);
    let before = server.record("db", "1").expect("there")["data"].clone();
    for data in [
        r#"{"a":1,"b":"x","c":null,"d":true}"#,
        r#"{"d":true,"c":null,"b":"x","a":1.0}"#,
        r#"{"a":1,"b":"x","d":true}"#,
        r#"{"e":null,"b":"x","f":null,"d":true,"a":1}"#,
    ] {
        assert_eq!(put_text(data), Status::Unchanged, "{data}");
    }
    for factor in [2.0, 0.5, 1024.0] {
        assert_eq!(put(&stored, scaled(factor)), Status::Unchanged, "{factor}");
    }
    let after = server.record("db", "1").expect("there")["data"].clone();
    assert_eq!(after, before, "the data stays as it was first stored");
    assert_eq!(server.changes("db", 0, 10)["changes"], {
        let first = server.changes("db", 0, 1)["changes"].clone();
        assert_eq!(first.as_array().expect("changes").len(), 1);
        first
    });

    let mut last = stored;
    for data in [
        json!({ "a": "1", "b": "x", "d": true }),
        json!({ "a": "1", "b": "x", "d": true, "e": "" }),
        json!({ "a": "1", "b": "x", "d": true, "e": 0 }),
        json!({ "a": "1", "b": "x", "d": true, "e": false }),
        json!({ "ab": "x", "d": true, "e": false }),
        json!({ "d": true, "e": false }),
        json!({}),
    ] {
        assert_eq!(put(&data, vector(1)), Status::Changed, "{last} to {data}");
        assert_eq!(put(&data, vector(1)), Status::Unchanged, "{data}");
        last = data;
    }
    assert_eq!(put(&last, scaled(-1.0)), Status::Changed);
    assert_eq!(put(&last, vector(2)), Status::Changed);
    server.close();
}

#[test]
fn and_leave_the_times_of_an_unchanged_record() {
    let (_directory, server) = open();
    let put = |id: u64, times: Value| {
        let record =
            json!({ "id": id, "data": { "a": id }, "vector": vector(1), "timestamps": times });
        server.upsert("db", &json!([record])).expect("written");
        let shown = server.record("db", &id.to_string()).expect("there");
        ["first_seen_time", "last_changed_time", "last_seen_time"]
            .map(|name| shown["timestamps"][name].as_str().expect("a time")[..10].to_owned())
    };
    let first = json!({ "created_at": "2020-01-01", "changed_at": "2020-01-02", "synced_at": "2020-01-03" });
    assert_eq!(put(1, first), ["2020-01-01", "2020-01-02", "2020-01-03"]);
    let again = json!({ "created_at": "2021-01-01", "changed_at": "2021-01-02", "synced_at": "2021-01-03" });
    assert_eq!(put(1, again), ["2020-01-01", "2020-01-02", "2021-01-03"]);
    let [created, changed, _] = put(2, json!({ "created_at": "2019-05-06" }));
    assert_eq!([created, changed], ["2019-05-06", "2019-05-06"]);
    server.close();
}

/// JavaScript keeps the handle of prepared records until its next full garbage collection.
#[test]
fn written_records_are_freed_although_their_handle_is_kept() {
    let (_directory, server) = open();
    let body = |first: i32| {
        let records = json!([{ "id": 1, "data": { "n": first }, "vector": vector(first) }]);
        json!({ "records": records }).to_string().into_bytes()
    };
    let prepare = |first| {
        let prepared = server.prepare("db", body(first), Vec::new(), Format::Batch);
        Arc::new(prepared.expect("a good record"))
    };
    let commit =
        |prepared: &Arc<_>| server.commit_with("db", Arc::clone(prepared), Embedded::default());
    let prepared = prepare(1);
    assert_eq!(prepared.records(), 1);
    commit(&prepared).expect("written");
    assert_eq!(prepared.records(), 0);
    commit(&prepare(2)).expect("written");
    // A commit of nothing would look like one that succeeded.
    let again = commit(&prepared);
    assert!(matches!(again, Err(Error::Invalid { .. })), "{again:?}");
    assert_eq!(server.record("db", "1").expect("there")["data"]["n"], 2);
    server.close();
}

#[test]
fn times_do_not_go_back_when_the_clock_does() {
    let (directory, server) = open();
    let put = |server: &Server, id: u64, n: i32| {
        let record = json!([{ "id": id, "data": { "n": n }, "vector": vector(1) }]);
        server.upsert("db", &record).expect("written");
        server.record("db", &id.to_string()).expect("there")["timestamps"].clone()
    };
    put(&server, 1, 1);
    server.close();
    // As if the clock had been an hour ahead at the last write.
    let ahead = now_ms() + 3_600_000;
    let store = rusqlite::Connection::open(directory.path().join("databases/db/records.sqlite"));
    let sql = "UPDATE meta SET value = ?1 WHERE key = 'clock'";
    let stored = store.expect("it opens").execute(sql, [ahead.to_le_bytes()]);
    assert_eq!(stored.expect("it is written"), 1);
    let server = Server::open(directory.path());
    // Each commit has a later time than the one before.
    let text = |ms: i64| {
        let format = "SELECT strftime('%Y-%m-%dT%H:%M:%S', ?1 / 1000, 'unixepoch') || printf('.%03dZ', ?1 % 1000)";
        let memory = rusqlite::Connection::open_in_memory().expect("it opens");
        let text = memory.query_row(format, [ms], |row| row.get::<_, String>(0));
        json!(text.expect("a text"))
    };
    let all = |times: &Value, names: &[&str], ms: i64| {
        for name in names {
            assert_eq!(times[*name], text(ms), "{name}: {times}");
        }
    };
    let names = ["first_seen_time", "last_changed_time", "last_seen_time"];
    all(&put(&server, 2, 1), &names, ahead + 1);
    all(&put(&server, 1, 1), &names[2..], ahead + 2);
    all(&put(&server, 1, 2), &names[1..], ahead + 3);
}
