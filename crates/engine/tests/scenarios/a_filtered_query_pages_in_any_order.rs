use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Server, Vectors, assert_same, hits, random_data, random_filter, total,
};

const SORTS: [&str; 9] = [
    "",
    "created_at",
    "changed_at",
    "synced_at",
    "colour",
    "size",
    "mixed",
    "__proto__",
    "never seen",
];

fn sort(name: &str, random: &mut Random) -> Value {
    let kind = if name.ends_with("_at") {
        "time"
    } else {
        "column"
    };
    match random.below(3) {
        0 => json!({ kind: name }),
        1 => json!({ kind: name, "direction": "asc" }),
        _ => json!({ kind: name, "direction": "desc" }),
    }
}

fn drain(
    server: &Server,
    request: &Value,
    random: &mut Random,
    mut between: impl FnMut(&mut Random),
) -> Vec<Value> {
    let mut request = request.clone();
    let mut all = Vec::new();
    loop {
        request["limit"] = json!(random.pick(&[9, 100, 450]));
        let page = server.query("db", &request);
        all.extend(hits(&page));
        match page["pagination"]["next_cursor"].as_str() {
            None => return all,
            Some(cursor) => request["cursor"] = json!(cursor),
        }
        between(random);
    }
}

fn filled(seed: u64, count: u64) -> (tempfile::TempDir, Server, Oracle, Vectors, Random) {
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    let records = (1..=count).map(|id| {
        let mut known = Known::new(id, random_data(&mut random), vectors.draw(&mut random), 0);
        known.created = random.below(40) as i64 * 1000;
        known.changed = random.below(3_000) as i64;
        known.synced = random.below(1_000_000) as i64 * 10;
        known
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    (directory, server, oracle, vectors, random)
}

#[test]
fn each_record_once() {
    let (_directory, server, oracle, _, mut random) = filled(20, 6_000);
    for round in 0..36 {
        let mut request = json!({ "form": (["uuid", "integer", "both"][round % 3]) });
        let name = SORTS[round % SORTS.len()];
        if !name.is_empty() {
            request["sort"] = sort(name, &mut random);
        }
        if random.chance(30) {
            let column = random.pick(&["colour", "size", "mixed", "never seen"]);
            request["distinct"] = json!({ "column": column, "counts": true });
        }
        if random.chance(50) {
            request["filter"] = random_filter(&mut random, 2);
        }
        let expected = oracle.query(&request);
        assert_same(
            &drain(&server, &request, &mut random, |_| ()),
            &expected,
            &request,
        );
        request["total"] = json!(true);
        request["limit"] = json!(1);
        assert_eq!(total(&server.query("db", &request)), expected.len() as u64);
    }
    server.close();
}

#[test]
fn each_record_that_stays_once_while_others_are_written() {
    let (_directory, server, oracle, vectors, mut random) = filled(21, 3_000);
    for name in ["", "size", "mixed", "created_at"] {
        let mut request = json!({ "form": "integer" });
        if !name.is_empty() {
            request["sort"] = sort(name, &mut random);
        }
        let mut found = drain(&server, &request, &mut random, |random| {
            let id = 1 + random.below(1_500) as u64 * 2;
            server.put(
                "db",
                &[Known::new(id, random_data(random), vectors.draw(random), 5)],
            );
            server
                .delete(
                    "db",
                    &json!({ "ids": [1 + random.below(1_500) as u64 * 2] }),
                )
                .expect("deleted");
        });
        let mut expected = oracle.query(&request);
        for results in [&mut found, &mut expected] {
            results.retain(|shown| shown["id"].as_u64().is_some_and(|id| id % 2 == 0));
        }
        assert_same(&found, &expected, &request);
    }
    server.close();
}

#[test]
fn and_an_invalid_cursor_is_refused() {
    let (_directory, server, ..) = filled(22, 5);
    for cursor in ["", "x", "t", "t1", "t1_", "q1_3", "s!_3", "n_3", "t5|3"] {
        let error = server
            .try_query("db", &json!({ "form": "integer", "cursor": cursor }))
            .expect_err(cursor);
        assert_eq!(error.code(), "invalid_cursor", "{cursor}");
    }
    server.close();
}

/// The request for the page after `page`; `None` after the last page.
fn after(request: &Value, page: &Value) -> Option<Value> {
    let cursor = page["pagination"]["next_cursor"].as_str()?;
    assert!(
        cursor.len() <= 2_000,
        "a cursor of {} characters",
        cursor.len()
    );
    let mut request = request.clone();
    request["cursor"] = json!(cursor);
    Some(request)
}

#[test]
fn by_texts_of_any_length_with_cursors_of_a_bounded_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    let mut random = Random::new(23);
    let shared = "x".repeat(20_000);
    let texts: Vec<Value> = (0..120)
        .map(|at| match at % 10 {
            // The same text many times, its prefixes, and texts that differ only at the end.
            0 | 1 => json!(shared),
            2 => json!(&shared[..19_000 + at]),
            3 => json!(format!("{}é", "x".repeat(1_023))),
            4 => json!("x".repeat(1_023 + at % 3)),
            5 => Value::Null,
            6 => json!(at),
            _ => json!(format!("{shared}{}", random.below(40))),
        })
        .collect();
    for (at, text) in texts.iter().enumerate() {
        let record = json!([{ "id": at + 1, "data": { "text": text }, "vector": [1, at] }]);
        server.upsert("db", &record).expect("written");
    }
    for (round, direction) in ["asc", "desc", "asc", "desc"].into_iter().enumerate() {
        let variant = ["uuid", "integer"][round / 2];
        let request = json!({
            "form": variant, "limit": 7, "sort": { "column": "text", "direction": direction } });
        let whole = json!({ "form": variant, "limit": 1000, "sort": request["sort"] });
        let expected = hits(&server.query("db", &whole));
        let kind = |shown: &Value| match &shown["data"]["text"] {
            Value::Number(_) => 0,
            Value::String(_) => 1,
            _ => 2,
        };
        let texts_in_order = expected.windows(2).all(|pair| {
            let text = |at: usize| pair[at]["data"]["text"].as_str().unwrap_or_default();
            let rising = direction == "asc";
            kind(&pair[0]) != kind(&pair[1])
                || if rising {
                    text(0) <= text(1)
                } else {
                    text(0) >= text(1)
                }
        });
        assert!(texts_in_order, "{request}");

        // All pages. Before each one, the cursor's record and some of its neighbours are deleted or changed.
        let mut deleted = Vec::new();
        let mut found = Vec::new();
        let mut next = Some(request.clone());
        while let Some(request) = next {
            let page = server.query("db", &request);
            let shown = hits(&page);
            next = after(&request, &page);
            let around = shown.iter().rev().take(1 + random.below(3)).chain(
                // The next record as well.
                expected
                    .iter()
                    .skip_while(|known| shown.last().is_some_and(|last| known["id"] != last["id"]))
                    .skip(1)
                    .take(random.below(2)),
            );
            for (at, known) in around.enumerate() {
                let id = known["id"].clone();
                if at % 2 == 0 {
                    server
                        .delete("db", &json!({ "ids": [id] }))
                        .expect("deleted");
                } else {
                    let member = if variant == "uuid" { "uuid" } else { "id" };
                    let data = json!({ "text": "x".repeat(random.below(3_000)) });
                    let record = json!([{ member: id, "data": data, "vector": [1, 1] }]);
                    server.upsert("db", &record).expect("written");
                }
                deleted.push(known["id"].clone());
            }
            found.extend(shown);
        }
        let stay = |results: &[Value]| -> Vec<Value> {
            let stays = results
                .iter()
                .filter(|shown| !deleted.contains(&shown["id"]));
            stays.cloned().collect()
        };
        assert_same(&stay(&found), &stay(&expected), &request);
        assert!(deleted.len() > 8, "{} deleted", deleted.len());
        // Restore all records for the next round.
        for (at, text) in texts.iter().enumerate() {
            let record = json!([{ "id": at + 1, "data": { "text": text }, "vector": [1, at] }]);
            server.upsert("db", &record).expect("written");
        }
    }

    // When every record that a cursor names has changed, the engine reports an error and does not guess a position.
    let request = json!({ "limit": 3, "sort": { "column": "text", "direction": "desc" } });
    let page = server.query("db", &request);
    let next = after(&request, &page).expect("more");
    let all: Vec<u64> = (1..=120).collect();
    server
        .delete("db", &json!({ "ids": all }))
        .expect("deleted");
    let error = server.try_query("db", &next).expect_err("no place is left");
    assert_eq!(error.code(), "invalid_cursor");
    server.close();
}
