use std::sync::Arc;

use cosift_engine::{Embedded, Format};
use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Server, Vectors, fingerprint, hits, in_full, random_boosts, random_data,
    random_filter, settings,
};

const DIMENSIONS: usize = 16;
const MODEL: [usize; 2] = [DIMENSIONS, 1];

/// Records of which `percent` in a hundred have 2 to 9 passages. Vectors are often those of another passage, so that
/// scores tie within records and between them.
fn records(first: u64, count: usize, percent: usize, random: &mut Random) -> Vec<Known> {
    let vectors = Vectors::new(DIMENSIONS, random);
    let mut drawn: Vec<Vec<f32>> = Vec::new();
    let mut draw = |random: &mut Random| {
        let vector = match drawn.len() {
            len if len > 0 && random.chance(15) => drawn[random.below(len)].clone(),
            _ => vectors.draw(random),
        };
        drawn.push(vector.clone());
        vector
    };
    (first..first + count as u64)
        .map(|id| {
            let mut data = random_data(random);
            data.insert("text".into(), json!(format!("😀 a long text, {id}")));
            let record = Known::new(id, data, draw(random), 0);
            if random.chance(percent) {
                let later = (0..1 + random.below(8)).map(|_| draw(random));
                record.with_later(later.collect())
            } else {
                record
            }
        })
        .collect()
}

/// Upserts records in the engine and in the oracle, with their vectors and passages as an embedder gives them.
fn put(server: &Server, oracle: &mut Oracle, records: Vec<Known>) {
    for batch in records.chunks(1000) {
        let sent: Vec<Value> = batch.iter().map(Known::to_json).collect();
        let body = json!({ "records": sent }).to_string().into_bytes();
        let prepared = server.prepare("db", body, Vec::new(), Format::Batch);
        let prepared = Arc::new(prepared.expect("good records"));
        assert_eq!(
            prepared.texts().len(),
            batch.len(),
            "all are new or changed"
        );
        let mut embedded = Embedded {
            fingerprint: Some(fingerprint(MODEL)),
            ..Embedded::default()
        };
        for (text, record) in batch.iter().enumerate() {
            embedded.vectors.extend(&record.vector);
            embedded.vectors.extend(record.later.iter().flatten());
            if record.later.is_empty() {
                continue;
            }
            let lines = prepared.lines(text);
            let line = lines.iter().position(|line| line.column == "text");
            let count = 1 + record.later.len() as u32;
            embedded.splits.extend([text as u32, count, count]);
            for passage in 0..count {
                let line = line.expect("a text") as u32;
                embedded.splits.extend([line, passage, passage + 2]);
            }
        }
        server
            .commit_with("db", prepared, embedded)
            .expect("committed");
    }
    let known = records.into_iter().map(|record| (record.id, record));
    oracle.records.extend(known);
}

/// A vector of the query: often that of a passage.
fn query(oracle: &Oracle, random: &mut Random) -> Vec<f32> {
    let at = random.below(oracle.records.len());
    let record = oracle.records.values().nth(at).expect("not empty");
    let passages = [std::slice::from_ref(&record.vector), &record.later].concat();
    let passage = random.pick(&passages).clone();
    match random.below(3) {
        0 => passage,
        1 => passage
            .iter()
            .map(|part| part + 0.1 * random.normal())
            .collect(),
        _ => (0..DIMENSIONS).map(|_| random.normal()).collect(),
    }
}

fn check(server: &Server, oracle: &Oracle, random: &mut Random, rounds: usize) {
    let lexical = server.describe("db")["lexical"] == true;
    for _ in 0..rounds {
        let mut request = json!({
            "form": random.pick(&["uuid", "integer", "both"]),
            "threshold": random.pick(&[0.0, 0.2, 0.5, 0.8, 0.95, 1.0]),
            "limit": random.pick(&[1, 2, 10, 50, 100]),
            "total": random.chance(30),
            "passages": random.chance(50),
        });
        if random.chance(50) {
            request["filter"] = random_filter(random, 3);
        }
        let mut left = 1.0;
        if lexical && random.chance(50) {
            let weight = *random.pick(&[0.1, 0.3, 0.7, 1.0]);
            left -= weight;
            let id = random.below(9_000);
            request["lexical"] = json!({ "weight": weight, "text": format!("long {id}") });
        }
        if random.chance(20) {
            request["boosts"] = random_boosts(random, left);
        }
        let vector = query(oracle, random);
        if random.chance(30) {
            server.check_facet(oracle, &request, &vector, "colour");
        }
        server.check("db", oracle, &request, &vector);
    }
}

/// Follows the cursors to the end and compares all pages with the oracle. `between` runs after each page.
fn check_pages(
    server: &Server,
    oracle: &Oracle,
    request: &Value,
    vector: &[f32],
    mut between: impl FnMut(usize),
) {
    let expected = oracle.search(request, vector);
    let (mut found, mut request) = (Vec::new(), request.clone());
    loop {
        let page = server.search("db", &request, vector);
        found.extend(hits(&page));
        match page["pagination"]["next_cursor"].as_str() {
            Some(cursor) => request["cursor"] = json!(cursor),
            None => break,
        }
        between(found.len());
    }
    assert!(found == expected, "{} of {}", found.len(), expected.len());
}

#[test]
fn with_filters_ties_totals_writes_and_restarts() {
    let mut random = Random::new(41);
    let directory = tempfile::tempdir().expect("a directory");
    let mut server = Server::open(directory.path());
    let mut settings = settings(MODEL);
    settings["lexical"] = json!(true);
    server.create_with("db", &settings).expect("created");
    let mut oracle = Oracle::default();
    for (first, count, percent) in [(1, 40, 50), (41, 3_000, 30), (3_041, 6_000, 60)] {
        put(
            &server,
            &mut oracle,
            records(first, count, percent, &mut random),
        );
        check(&server, &oracle, &mut random, in_full(25, 8));
    }
    // Records change from one vector to several and back, and enough are deleted to make blocks sparse.
    for first in [1, 2_000, 5_000] {
        put(&server, &mut oracle, records(first, 700, 50, &mut random));
        let ids: Vec<u64> = (first..first + 2_600).filter(|id| id % 4 > 0).collect();
        for ids in ids.chunks(1000) {
            server
                .delete("db", &json!({ "ids": ids }))
                .expect("deleted");
        }
        oracle.records.retain(|id, _| !ids.contains(id));
        check(&server, &oracle, &mut random, in_full(25, 8));
        server.close();
        server = Server::open(directory.path());
        check(&server, &oracle, &mut random, in_full(25, 8));
    }
    let described = server.describe("db");
    let vectors: usize = oracle
        .records
        .values()
        .map(|record| 1 + record.later.len())
        .sum();
    assert_eq!(described["passages"], json!(vectors));
    assert_eq!(described["without_text"], json!(0));
    server.close();
}

#[test]
fn also_where_every_record_is_long() {
    let mut random = Random::new(43);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create_with("db", &settings(MODEL)).expect("created");
    let mut oracle = Oracle::default();
    put(&server, &mut oracle, records(1, 5_000, 100, &mut random));
    check(&server, &oracle, &mut random, 20);
    server.close();
}

#[test]
fn over_all_pages_also_when_others_are_written() {
    let mut random = Random::new(42);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create_with("db", &settings(MODEL)).expect("created");
    let mut oracle = Oracle::default();
    put(&server, &mut oracle, records(1, 4_500, 50, &mut random));
    for threshold in [0.0, 0.6] {
        let request = json!({ "threshold": threshold, "limit": 100, "passages": true });
        let vector = query(&oracle, &mut random);
        let mut extra = Oracle::default();
        check_pages(&server, &oracle, &request, &vector, |found| {
            // Records that the filter of the next request leaves out are written and deleted between the pages.
            if found % 500 == 0 {
                let first = 100_000 + found as u64;
                let mut written = records(first, 50, 50, &mut Random::new(found as u64));
                for record in &mut written {
                    record.vector.iter_mut().for_each(|part| *part = -*part);
                }
                let ids: Vec<u64> = written.iter().map(|record| record.id).collect();
                put(&server, &mut extra, written);
                server
                    .delete("db", &json!({ "ids": ids }))
                    .expect("deleted");
            }
        });
    }
    server.close();
}

#[test]
fn an_export_with_vectors_gives_the_same_scores() {
    let mut random = Random::new(44);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create_with("db", &settings(MODEL)).expect("created");
    let mut oracle = Oracle::default();
    put(&server, &mut oracle, records(1, 4_200, 40, &mut random));
    let exported = server.export("db", &json!({ "vectors": true }));
    server
        .create_with("copy", &settings(MODEL))
        .expect("created");
    let lines = server.prepare_lines("copy", exported.clone(), 1);
    let lines = lines.expect("good lines");
    assert!(lines.problems.is_empty(), "{:?}", lines.problems.first());
    assert!(lines.texts().is_empty(), "nothing is embedded");
    server.commit("copy", lines).wait().expect("committed");
    assert!(server.export("copy", &json!({ "vectors": true })) == exported);
    for _ in 0..10 {
        let vector = query(&oracle, &mut random);
        let request = json!({ "threshold": 0, "limit": 100, "passages": true });
        server.check("copy", &oracle, &request, &vector);
    }
    // The same records again are unchanged.
    let again = server.prepare_lines("copy", exported, 1);
    let again = server.commit("copy", again.expect("good lines")).wait();
    let count = again.expect("committed").results.len();
    assert_eq!(count, oracle.records.len());
    server.close();
}

#[test]
fn a_patch_of_other_columns_keeps_the_passages() {
    let mut random = Random::new(45);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let mut settings = settings(MODEL);
    settings["embed"] = json!({ "columns": ["text"] });
    server.create_with("db", &settings).expect("created");
    let mut oracle = Oracle::default();
    put(&server, &mut oracle, records(1, 20, 100, &mut random));
    let before = server.export("db", &json!({ "vectors": true }));
    for id in 1..=20 {
        let patch = server.prepare_patch("db", &id.to_string(), &json!({ "patched": 1 }));
        let patch = patch.expect("prepared");
        assert!(patch.texts().is_empty());
        server.commit("db", patch).wait().expect("patched");
    }
    let after = server.export("db", &json!({ "vectors": true }));
    let passages = |lines: &[u8]| -> Vec<Value> {
        let lines = lines
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        lines
            .map(|line| serde_json::from_slice::<Value>(line).expect("JSON")["passages"].clone())
            .collect()
    };
    assert!(passages(&before).iter().all(Value::is_array));
    assert_eq!(passages(&before), passages(&after));
    let patch = server
        .prepare_patch("db", "7", &json!({ "text": "" }))
        .expect("prepared");
    server.commit("db", patch).wait().expect("patched");
    assert_eq!(server.describe("db")["without_text"], json!(1));
    let page = server.search(
        "db",
        &json!({ "threshold": 0, "limit": 100 }),
        &[1.0; DIMENSIONS],
    );
    assert!(hits(&page).iter().all(|hit| hit["id"] != 7));
    server.close();
}

#[test]
fn too_many_passages_are_refused_with_the_place_of_each_record() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let mut settings = settings(MODEL);
    settings["embed"]["passages"] = json!({ "per_record": 3 });
    server.create_with("db", &settings).expect("created");
    let embedded = || Embedded {
        vectors: vec![1.0; DIMENSIONS],
        splits: vec![1, 80, 0],
        fingerprint: Some(fingerprint(MODEL)),
    };
    let body = br#"{"records":[{"data":{"text":"short"}},{"data":{"text":"long"}}]}"#;
    let batch = server.prepare("db", body.to_vec(), Vec::new(), Format::Batch);
    let batch = Arc::new(batch.expect("prepared"));
    let refused = server
        .commit_with("db", batch, embedded())
        .expect_err("refused");
    let text = format!("{refused:?}");
    assert!(text.contains("/records/1/data"), "{text}");
    assert!(text.contains("80 passages, at most 3"), "{text}");
    assert_eq!(server.describe("db")["records"], json!(0));
    let body =
        br#"{"records":[{"data":{"text":"a"}},{"data":{"text":"b"}},{"data":{"text":"c"}}]}"#;
    let batch = server.prepare("db", body.to_vec(), Vec::new(), Format::Batch);
    let several = Embedded {
        splits: vec![0, 4, 0, 2, 4, 0],
        ..embedded()
    };
    let refused = server
        .commit_with("db", Arc::new(batch.expect("prepared")), several)
        .expect_err("refused");
    let text = format!("{refused:?}");
    assert!(text.contains("/records/0/data"), "{text}");
    assert!(!text.contains("/records/1/data"), "{text}");
    assert!(text.contains("/records/2/data"), "{text}");
    let lines = b"{\"data\":{\"text\":\"short\"}}\n\n{\"data\":{\"text\":\"long\"}}\n";
    let lines = server.prepare_lines("db", lines.to_vec(), 5);
    let lines = Arc::new(lines.expect("prepared"));
    let committed = server
        .commit_with("db", lines, embedded())
        .expect("committed");
    assert_eq!(committed.results.len(), 1);
    assert_eq!(committed.problems[0].line, 7);
    assert_eq!(committed.problems[0].problem.pointer, "/data");
}
