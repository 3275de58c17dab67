use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};

use cosift_engine::{Embedded, Format};

use crate::common::{Random, Server, image, stop_flag};

const DIMENSIONS: usize = 8;

/// Vectors of texts from a fake model. A text without a token, here one of zero-width spaces, has no vector.
fn embed(texts: &[String], dimensions: usize) -> Vec<f32> {
    let one = |text: &String| {
        if text.chars().all(|c| c == '\u{200b}') {
            return vec![0.0; dimensions];
        }
        let mut state = text.bytes().fold(7_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (0..dimensions)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                (state >> 40) as f32 - (1 << 23) as f32
            })
            .collect::<Vec<f32>>()
    };
    texts.iter().flat_map(one).collect()
}

/// Content without text in the column `text`, in every possible form.
fn without_text(random: &mut Random, id: u64) -> Value {
    let data = json!({ "n": id, "other": "words that are not embedded" });
    let text = match random.below(6) {
        0 => return data,
        1 => json!(null),
        2 => json!(""),
        3 => json!(" \t\n\u{a0}\u{3000}"),
        4 => json!("\u{200b}\u{200b}"),
        _ => json!("\u{0}\u{7f}"),
    };
    json!({ "n": id, "other": "words that are not embedded", "text": text })
}

fn with_text(random: &mut Random, id: u64) -> Value {
    let text = match random.below(4) {
        0 => json!(random.below(100)),
        1 => json!(false),
        _ => json!(format!("text {}", random.below(10_000))),
    };
    json!({ "n": id, "text": text })
}

/// The vectors of `texts` with the model that made them.
fn embedded(texts: &[String], dimensions: usize) -> Embedded {
    Embedded {
        vectors: embed(texts, dimensions),
        fingerprint: Some(format!("f{dimensions}")),
        ..Embedded::default()
    }
}

fn put(server: &Server, records: &[Value]) {
    for batch in records.chunks(1_000) {
        let body = json!({ "records": batch }).to_string().into_bytes();
        let prepared = server
            .prepare("db", body, Vec::new(), Format::Batch)
            .expect("good records");
        let embedded = embedded(&prepared.texts(), DIMENSIONS);
        server
            .commit_with("db", Arc::new(prepared), embedded)
            .expect("committed");
    }
}

fn record(id: u64, data: Value) -> Value {
    json!({ "id": id, "data": data })
}

fn ids(page: &Value) -> Vec<u64> {
    let results = page["results"].as_array().expect("results");
    results
        .iter()
        .map(|record| record["id"].as_u64().expect("an id"))
        .collect()
}

/// Checks that searches of every kind find `expected` and nothing else, and that listings show `all` records.
fn check(server: &Server, dimensions: usize, expected: &[u64], all: usize) {
    let query = embed(&["text 1".to_owned()], dimensions);
    for request in [
        json!({}),
        json!({ "filter": { "rules": [{ "column": "n", "operator": "is_not_empty" }] } }),
        json!({ "filter": { "rules": [{ "column": "text", "operator": "is_empty" }] } }),
        json!({ "time_range": { "start_time": "2000-01-01" } }),
    ] {
        let is_empty = request["filter"]["rules"][0]["operator"] == "is_empty";
        let expected: &[u64] = if is_empty { &[] } else { expected };
        let (mut found, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut request = request.clone();
            request["threshold"] = json!(0);
            request["limit"] = json!(997);
            if cursor.is_string() {
                request["cursor"] = cursor.clone();
            }
            let page = server.search("db", &request, &query);
            found.extend(ids(&page));
            cursor = page["pagination"]["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        found.sort_unstable();
        assert_eq!(found.len(), expected.len(), "{request}");
        assert_eq!(found, expected, "{request}");
    }
    let request = json!({
        "threshold": 0, "total": true, "explain": true,
        "facets": [{ "column": "other", "type": "values" }],
    });
    let page = server.search("db", &request, &query);
    assert_eq!(page["total"]["value"], json!(expected.len()));
    assert_eq!(page["explain"]["scanned"], json!(expected.len()));
    assert_eq!(page["facets"][0]["values"], json!([]), "{page}");
    let listed = server.query("db", &json!({ "total": true, "limit": 1 }));
    assert_eq!(listed["total"]["value"], json!(all));
    assert_eq!(server.describe("db")["records"], json!(all));
    // Many concurrent searches share one scan.
    let together: Vec<_> = (0..8)
        .map(|_| {
            let request = json!({ "threshold": 0, "limit": 5, "total": true });
            server.start_search("db", &request, &query, stop_flag())
        })
        .collect();
    for pending in together {
        let page: Value =
            serde_json::from_slice(&pending.wait().expect("a page").body).expect("JSON");
        assert_eq!(page["total"]["value"], json!(expected.len()));
    }
}

fn create(server: &Server, settings: &Value) {
    server.create_with("db", settings).expect("created");
}

fn settings(dimensions: usize) -> Value {
    json!({
        "model": "m", "fingerprint": format!("f{dimensions}"), "dimensions": dimensions,
        "embed": { "columns": ["text"] },
    })
}

#[test]
fn by_any_search_at_any_threshold() {
    let mut random = Random::new(110);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, &settings(DIMENSIONS));
    // Records with text, records without text, and records that gained or lost their text.
    let all = 9_500;
    let mut texts: Vec<bool> = (1..=all).map(|_| random.below(3) > 0).collect();
    let write = |random: &mut Random, texts: &[bool], from: u64, step: usize| {
        let records: Vec<Value> = (from..=all)
            .step_by(step)
            .map(|id| {
                let data = if texts[id as usize - 1] {
                    with_text(random, id)
                } else {
                    without_text(random, id)
                };
                record(id, data)
            })
            .collect();
        put(&server, &records);
    };
    write(&mut random, &texts, 1, 1);
    for id in (3..=all).step_by(7) {
        texts[id as usize - 1] ^= true;
    }
    write(&mut random, &texts, 3, 7);
    let expected =
        |texts: &[bool]| -> Vec<u64> { (1..=all).filter(|&id| texts[id as usize - 1]).collect() };
    check(&server, DIMENSIONS, &expected(&texts), all as usize);
    let feed = server.changes("db", 0, 1_000);
    assert_eq!(feed["changes"].as_array().map(Vec::len), Some(1_000));

    // A crash image, then a clean restart with saved files, then a restart without saved files.
    let crashed = tempfile::tempdir().expect("a directory");
    image(directory.path(), crashed.path());
    server.close();
    let after_crash = Server::open(crashed.path());
    check(&after_crash, DIMENSIONS, &expected(&texts), all as usize);
    after_crash.close();
    for saved in [true, false] {
        if !saved {
            fs::remove_dir_all(directory.path().join("databases/db/derived")).expect("removed");
        }
        let server = Server::open(directory.path());
        check(&server, DIMENSIONS, &expected(&texts), all as usize);
        // Upserting the same records again leaves them unchanged, with or without text.
        let again = record(
            1,
            server.record("db", "1").expect("a record")["data"].clone(),
        );
        let body = json!({ "records": [again] }).to_string().into_bytes();
        let prepared = server
            .prepare("db", body, Vec::new(), Format::Batch)
            .expect("good");
        assert!(prepared.texts().is_empty());
        server.close();
    }

    // Switch to another model.
    let server = Server::open(directory.path());
    let other = 12;
    server
        .begin_reembedding("db", &settings(other))
        .expect("begun");
    loop {
        let batch = server.prepare_reembedding("db").expect("a batch");
        let last = batch.is_last();
        assert!(batch.texts().iter().all(|text| !text.trim().is_empty()));
        let embedded = embedded(&batch.texts(), other);
        server
            .commit_reembedding("db", batch, embedded)
            .expect("stored");
        if last {
            break;
        }
    }
    server.switch_reembedding("db").expect("switched");
    check(&server, other, &expected(&texts), all as usize);
    server.close();
}

#[test]
fn not_even_those_that_come_with_a_vector() {
    let mut random = Random::new(111);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    create(&server, &settings(DIMENSIONS));
    let mut expected = Vec::new();
    let mut records = Vec::new();
    for id in 1..=5_000 {
        let has_text = random.below(3) > 0;
        let data = if has_text {
            with_text(&mut random, id)
        } else {
            json!({ "n": id, "text": "" })
        };
        let vector = embed(&[format!("vector {}", random.below(50))], DIMENSIONS);
        let mut record = record(id, data);
        record["vector"] = json!(vector);
        record["embedded_by"] = settings(DIMENSIONS)["fingerprint"].clone();
        records.push(record);
        expected.extend(has_text.then_some(id));
    }
    put(&server, &records);
    check(&server, DIMENSIONS, &expected, 5_000);
    server.close();
    let server = Server::open(directory.path());
    check(&server, DIMENSIONS, &expected, 5_000);
    server.close();
}
