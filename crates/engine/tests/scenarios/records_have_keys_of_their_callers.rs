use std::collections::BTreeMap;
use std::sync::Arc;

use cosift_engine::{Committed, Error, Format, Status};
use serde_json::{Value, json};

use crate::common::{Model, Random, Server, embedded, settings, uuid_of_key};

const MODEL: Model = [8, 1];

fn open() -> (tempfile::TempDir, Server) {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create_with("db", &settings(MODEL)).expect("created");
    (directory, server)
}

/// Upserts a batch, and returns the number of texts that were embedded.
fn upsert(server: &Server, records: &Value) -> Result<(Committed, usize), Error> {
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = server.prepare("db", body, Vec::new(), Format::Batch)?;
    let texts = prepared.texts();
    let committed = server.commit_with("db", Arc::new(prepared), embedded(&texts, MODEL))?;
    Ok((committed, texts.len()))
}

fn put(server: &Server, records: &Value) -> Vec<Status> {
    let (committed, _) = upsert(server, records).expect("written");
    committed
        .results
        .iter()
        .map(|record| record.status)
        .collect()
}

fn patch(server: &Server, record: &str, data: &Value) -> Value {
    let prepared = Arc::new(server.prepare_patch("db", record, data).expect("prepared"));
    let embedded = embedded(&prepared.texts(), MODEL);
    let committed = server
        .commit_with("db", prepared, embedded)
        .expect("patched");
    serde_json::from_slice(&committed.record.expect("a record")).expect("JSON")
}

fn results_of(committed: &Committed) -> Value {
    serde_json::from_slice(&committed.results_json()).expect("JSON")
}

/// The pointer and the detail of the error of a batch.
fn refusal(server: &Server, records: &Value) -> (String, String) {
    match upsert(server, records).expect_err("refused") {
        Error::IdentityConflict { pointer, detail } => (pointer, detail),
        Error::Invalid { problems, .. } => {
            (problems[0].pointer.clone(), problems[0].detail.clone())
        }
        other => panic!("{other}"),
    }
}

#[test]
fn that_find_them_and_that_they_show() {
    let (_directory, server) = open();
    let key = "key:größe/№ 1\u{0} %2F";
    let record = json!([{ "key": key, "data": { "text": "a", "key": "a column" } }]);
    let (committed, _) = upsert(&server, &record).expect("written");
    let uuid = uuid_of_key(key);
    assert_eq!(
        results_of(&committed),
        json!([{ "id": 1, "key": key, "uuid": uuid, "status": "created" }])
    );
    let named = format!("key:{key}");
    for name in ["1", &uuid, &named] {
        let shown = server.record("db", name).expect("there");
        assert_eq!(
            (&shown["key"], &shown["data"]["key"]),
            (&json!(key), &json!("a column"))
        );
    }
    for name in [key, "key:", "key", "key:größe"] {
        assert_eq!(
            server.record("db", name).expect_err("absent").code(),
            "record_not_found"
        );
    }
    let members: Vec<&str> = vec!["id", "key", "data", "timestamps"];
    let page = server.query("db", &json!({ "form": "uuid" }));
    let shown = page["results"][0].as_object().expect("a record");
    assert!(
        members.iter().all(|member| shown.contains_key(*member)),
        "{shown:?}"
    );
    assert_eq!((&shown["id"], &shown["key"]), (&json!(uuid), &json!(key)));
    let patched = patch(&server, &named, &json!({ "text": "b" }));
    assert_eq!(
        (&patched["id"], &patched["key"]),
        (&json!(uuid), &json!(key))
    );
    let deleted = server
        .delete("db", &json!({ "ids": [named] }))
        .expect("deleted");
    assert_eq!(deleted, 1);
    let feed = server.changes("db", 0, 10);
    for (at, kind) in ["created", "changed", "deleted"].into_iter().enumerate() {
        let change = &feed["changes"][at];
        assert_eq!(
            (&change["kind"], &change["key"]),
            (&json!(kind), &json!(key))
        );
    }
    server.close();
}

#[test]
fn that_a_record_gains_without_being_embedded_again() {
    let (directory, server) = open();
    let uuid = uuid_of_key("SKU-1");
    let written = json!([{ "uuid": uuid, "data": { "text": "a", "other": "b", "none": null } }]);
    assert_eq!(put(&server, &written), [Status::Created]);
    let before = server.record("db", &uuid).expect("there");
    assert!(before.get("key").is_none());

    // Other member order and no null: the content is the same, and the text is not.
    let keyed = json!([{ "key": "SKU-1", "data": { "other": "b", "text": "a" } }]);
    let (committed, texts) = upsert(&server, &keyed).expect("written");
    assert_eq!((committed.results[0].status, texts), (Status::Changed, 0));
    let after = server.record("db", "key:SKU-1").expect("there");
    assert_eq!(after["key"], "SKU-1");
    assert_eq!(
        after["data"].to_string(),
        before["data"].to_string(),
        "what is stored is kept"
    );

    for same in [
        json!([{ "key": "SKU-1", "data": { "text": "a", "other": "b" } }]),
        json!([{ "uuid": uuid, "data": { "text": "a", "other": "b" } }]),
        json!([{ "id": 1, "data": { "text": "a", "other": "b" } }]),
    ] {
        let (committed, texts) = upsert(&server, &same).expect("written");
        assert_eq!((committed.results[0].status, texts), (Status::Unchanged, 0));
        assert_eq!(results_of(&committed)[0]["key"], "SKU-1");
    }
    assert_eq!(
        put(&server, &json!([{ "id": 1, "data": { "text": "c" } }])),
        [Status::Changed]
    );
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(
        server.record("db", "1").expect("there")["key"],
        "SKU-1",
        "a write without it keeps it"
    );
    server.close();
}

#[test]
fn that_a_record_gains_between_the_preparation_and_the_commit_of_another_write() {
    let (_directory, server) = open();
    let uuid = uuid_of_key("SKU-1");
    put(&server, &json!([{ "uuid": uuid, "data": { "text": "a" } }]));
    let prepare = |record: Value| {
        let body = json!({ "records": [record] }).to_string().into_bytes();
        Arc::new(
            server
                .prepare("db", body, Vec::new(), Format::Batch)
                .expect("good"),
        )
    };
    let keyed = prepare(json!({ "key": "SKU-1", "data": { "text": "a" } }));
    let same = prepare(json!({ "key": "SKU-1", "data": { "text": "a" } }));
    let other = prepare(json!({ "uuid": uuid, "data": { "text": "b" } }));
    let patch = Arc::new(
        server
            .prepare_patch("db", &uuid, &json!({ "n": 1 }))
            .expect("good"),
    );
    for (prepared, status) in [
        (keyed, Status::Changed),
        (same, Status::Unchanged),
        (other, Status::Changed),
        (patch, Status::Changed),
    ] {
        let embedded = embedded(&prepared.texts(), MODEL);
        let committed = server
            .commit_with("db", prepared, embedded)
            .expect("committed");
        assert_eq!(committed.results[0].status, status);
        assert_eq!(results_of(&committed)[0]["key"], "SKU-1");
    }
    let shown = server.record("db", "key:SKU-1").expect("there");
    assert_eq!(shown["data"], json!({ "text": "b", "n": 1 }));

    // The text changes before the record gets its key: it is embedded again.
    put(
        &server,
        &json!([{ "uuid": uuid_of_key("SKU-2"), "data": { "text": "a" } }]),
    );
    let keyed = prepare(json!({ "key": "SKU-2", "data": { "text": "a" } }));
    put(
        &server,
        &json!([{ "uuid": uuid_of_key("SKU-2"), "data": { "text": "b" } }]),
    );
    let stale = server.commit_with("db", Arc::clone(&keyed), embedded(&keyed.texts(), MODEL));
    assert!(matches!(stale, Err(Error::Stale)));
    let embedded = embedded(&keyed.texts(), MODEL);
    let committed = server
        .commit_with("db", keyed, embedded)
        .expect("committed");
    assert_eq!(results_of(&committed)[0]["key"], "SKU-2");
    server.close();
}

#[test]
fn in_the_order_of_a_batch_that_names_a_key_twice() {
    let (_directory, server) = open();
    use Status::{Changed, Created, Unchanged};
    let batch = json!([
        { "id": 1, "uuid": uuid_of_key("k"), "data": { "text": "a" } },
        { "key": "k", "data": { "text": "a" } },
        { "key": "k", "data": { "text": "a" } },
        { "key": "k", "uuid": uuid_of_key("k"), "id": 1, "data": { "text": "b" } },
        { "id": 1, "data": { "text": "b" } },
    ]);
    assert_eq!(
        put(&server, &batch),
        [Created, Changed, Unchanged, Changed, Unchanged]
    );
    assert_eq!(server.describe("db")["records"], 1);
    assert_eq!(
        server.record("db", "key:k").expect("there")["data"],
        json!({ "text": "b" })
    );
    server.close();
}

#[test]
fn which_conflict_with_other_identities() {
    let (_directory, server) = open();
    put(
        &server,
        &json!([
            { "id": 1, "data": { "text": "a" } },
            { "id": 2, "key": "k", "data": { "text": "a" } },
        ]),
    );
    let data = json!({ "text": "b" });
    let free = "00000000-0000-4000-8000-000000000001";
    let cases = [
        (
            json!({ "key": "", "data": data }),
            "/records/0/key",
            "1 to 512 bytes",
        ),
        (
            json!({ "key": "é".repeat(257), "data": data }),
            "/records/0/key",
            "1 to 512 bytes",
        ),
        (
            json!({ "key": 1, "data": data }),
            "/records/0/key",
            "expected a string",
        ),
        (
            json!({ "key": null, "data": data }),
            "/records/0/key",
            "expected a string",
        ),
        (
            json!({ "key": "k", "uuid": free, "data": data }),
            "/records/0/uuid",
            &uuid_of_key("k"),
        ),
        (
            json!({ "key": "k", "id": 1, "data": data }),
            "/records/0/key",
            "belongs to record 2, not to record 1",
        ),
        (
            json!({ "key": "k", "id": 1000, "data": data }),
            "/records/0/id",
            "belongs to record 2, not to record 1000",
        ),
        (
            json!({ "key": "new", "id": 1, "data": data }),
            "/records/0/key",
            &uuid_of_key("new"),
        ),
        (
            json!({ "key": "new", "id": 2, "data": data }),
            "/records/0/key",
            &uuid_of_key("new"),
        ),
    ];
    for (record, pointer, detail) in &cases {
        let (at, text) = refusal(&server, &json!([record]));
        assert_eq!(at, *pointer, "{record}");
        assert!(text.contains(detail), "{text}");
        // The same as a line of a stream: the other lines are written.
        let lines = format!("{record}\n{{\"data\":{{}}}}\n").into_bytes();
        let prepared = server.prepare_lines("db", lines, 1).expect("prepared");
        let mut problems = prepared.problems.clone();
        let texts = embedded(&prepared.texts(), MODEL);
        let committed = server
            .commit_with("db", Arc::new(prepared), texts)
            .expect("committed");
        problems.extend(committed.problems);
        assert_eq!(
            problems[0].problem.pointer,
            pointer.trim_start_matches("/records/0"),
            "{record}"
        );
        assert_eq!((problems[0].line, committed.results.len()), (1, 1));
    }
    let longest = "x".repeat(512);
    assert_eq!(
        put(&server, &json!([{ "key": longest, "data": data }])),
        [Status::Created]
    );
    assert_eq!(
        server
            .record("db", &format!("key:{longest}"))
            .expect("there")["key"],
        json!(longest)
    );
    server.close();
}

#[test]
fn also_when_a_forced_filter_hides_them() {
    let (_directory, server) = open();
    put(
        &server,
        &json!([{ "key": "k", "data": { "text": "a", "team": "red" } }]),
    );
    let filter = |team: &str| json!({ "condition": "AND", "rules": [{ "column": "team", "operator": "equals", "value": team }] });
    let request = |team| json!({ "ids": ["key:k"], "forced_filter": filter(team) });
    assert_eq!(server.delete("db", &request("blue")).expect("nothing"), 0);
    assert!(
        server
            .record_with("db", "key:k", &json!({ "forced_filter": filter("blue") }))
            .is_err()
    );
    let shown = server.record_with(
        "db",
        "key:k",
        &json!({ "form": "uuid", "forced_filter": filter("red") }),
    );
    assert_eq!(shown.expect("there")["key"], "k");
    let feed = |team| {
        let request = json!({ "forced_filter": filter(team) });
        server.try_changes("db", &request).expect("changes")["changes"].clone()
    };
    assert_eq!(feed("blue"), json!([]));
    // A record that leaves the filter is deleted for the reader of the feed, who removes it by its key.
    patch(&server, "key:k", &json!({ "team": "blue" }));
    let left = feed("red");
    assert_eq!(
        (left[0]["kind"].as_str(), left[0]["key"].as_str()),
        (Some("deleted"), Some("k"))
    );
    assert_eq!(left.as_array().map(Vec::len), Some(1));
    assert_eq!(server.delete("db", &request("red")).expect("nothing"), 0);
    assert_eq!(server.delete("db", &request("blue")).expect("deleted"), 1);
    server.close();
}

/// What a key was last written as.
#[derive(Clone, Debug, Default)]
struct Kept {
    n: Option<u64>,
    has_key: bool,
}

#[test]
fn after_random_writes_and_restarts() {
    let mut random = Random::new(14);
    let (directory, mut server) = open();
    let key_of = |at: usize| format!("{}/{at}", ["SKU", "key:", "№ \u{1F600}", "%2F"][at % 4]);
    let mut kept: BTreeMap<usize, Kept> = BTreeMap::new();
    for round in 0..60 {
        let mut records = Vec::new();
        // Many at first, so that full blocks are saved to index files.
        let count = if round == 0 {
            9_000
        } else {
            1 + random.below(300)
        };
        for at in 0..count {
            let at = if round == 0 { at } else { random.below(9_500) };
            let n = random.below(3) as u64;
            let key = key_of(at);
            let by_key = random.below(3) > 0;
            records.push(match by_key {
                true => json!({ "key": key, "data": { "text": "a text", "n": n } }),
                false => json!({ "uuid": uuid_of_key(&key), "data": { "text": "a text", "n": n } }),
            });
            let kept = kept.entry(at).or_default();
            *kept = Kept {
                n: Some(n),
                has_key: kept.has_key || by_key,
            };
        }
        for batch in records.chunks(1_000) {
            put(&server, &json!(batch));
        }
        let deleted: Vec<usize> = (0..random.below(200))
            .map(|_| random.below(9_500))
            .collect();
        let ids: Vec<String> = deleted
            .iter()
            .map(|&at| format!("key:{}", key_of(at)))
            .collect();
        server
            .delete("db", &json!({ "ids": ids }))
            .expect("deleted");
        kept.retain(|at, _| !deleted.contains(at));
        if round % 6 == 0 {
            server.close();
            server = Server::open(directory.path());
        }
        if round % 20 != 0 {
            continue;
        }
        for at in 0..9_500 {
            let key = key_of(at);
            let shown = server.record("db", &format!("key:{key}")).ok();
            let shown = shown.map(|shown| (shown["data"]["n"].as_u64(), shown["key"].clone()));
            let expected = kept.get(&at).map(|kept| {
                let key = if kept.has_key {
                    json!(key)
                } else {
                    Value::Null
                };
                (kept.n, key)
            });
            assert_eq!(shown, expected, "{key} in round {round}");
        }
        assert_eq!(server.describe("db")["records"], json!(kept.len()));
    }
    server.close();
}
