use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cosift_engine::{Error, Format};
use serde_json::{Value, json};

use crate::common::{
    Known, Model, Oracle, Random, Server, Vectors, elements, embed, embedded, fingerprint,
    random_data, settings,
};

const DIMENSIONS: usize = 8;

/// Stores exported lines in another database. Returns the number of records.
fn import(server: &Server, id: &str, lines: &[u8]) -> usize {
    let prepared = server.prepare_lines(id, lines.to_vec(), 1).expect("lines");
    assert!(prepared.problems.is_empty(), "{:?}", prepared.problems);
    assert!(prepared.texts().is_empty(), "nothing is embedded");
    let committed = server.commit(id, prepared).wait().expect("committed");
    assert!(committed.problems.is_empty(), "{:?}", committed.problems);
    committed.results.len()
}

fn records(lines: &[u8]) -> Vec<Value> {
    let lines = lines.split(|&byte| byte == b'\n');
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).expect("a line is JSON"))
        .collect()
}

fn known(random: &mut Random, count: usize) -> Vec<Known> {
    let vectors = Vectors::new(DIMENSIONS, random);
    // Each id once, in an order that is not theirs: 7,919 is prime.
    let ids = (0..count).map(|n| 3 * (1 + (n * 7_919) % count) as u64);
    ids.map(|id| Known::new(id, random_data(random), vectors.draw(random), id as i64))
        .collect()
}

#[test]
fn an_exported_database_imported_elsewhere_has_equal_pages() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", DIMENSIONS);
    server.create("copy", DIMENSIONS);
    let mut random = Random::new(20);
    let mut oracle = Oracle::default();
    let all = known(&mut random, 6_000);
    server.put_known("db", &mut oracle, all);
    let lines = server.export("db", &json!({ "vectors": true }));
    let exported = records(&lines);
    let ids: Vec<u64> = exported
        .iter()
        .map(|record| record["id"].as_u64().expect("an id"))
        .collect();
    assert_eq!(ids, oracle.records.keys().copied().collect::<Vec<_>>());
    assert_eq!(import(&server, "copy", &lines), 6_000);
    assert_eq!(
        server.export("copy", &json!({ "vectors": true })),
        lines,
        "equal, bit for bit"
    );
    for _ in 0..30 {
        let variant = *random.pick(&["uuid", "integer"]);
        let request = json!({ "form": variant, "limit": 200, "threshold": 0 });
        let vector = oracle.records[&(3 * (1 + random.below(6_000) as u64))]
            .vector
            .clone();
        assert_eq!(
            server.search("db", &request, &vector),
            server.search("copy", &request, &vector),
        );
    }
}

#[test]
fn writes_drops_and_filters_do_not_change_an_open_export() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", DIMENSIONS);
    let mut random = Random::new(21);
    let all = known(&mut random, 5_000);
    server.put("db", &all);
    let before = server.export("db", &json!({ "vectors": true }));
    let open = server
        .open_export("db", &json!({ "vectors": true }))
        .expect("opened");
    let mut read = server.export_chunk(&open).expect("a chunk");
    assert!(read.len() < before.len() / 4, "there is more than a chunk");

    // The half that has even ids is deleted, everything else is written again.
    let rewritten: Vec<Known> = all
        .iter()
        .filter(|record| record.id % 2 == 1)
        .map(|record| {
            Known::new(
                record.id,
                random_data(&mut random),
                vec![1.0; DIMENSIONS],
                1,
            )
        })
        .collect();
    let ids: Vec<u64> = (1..=5_000)
        .map(|id| id * 3)
        .filter(|id| id % 2 == 0)
        .collect();
    for ids in ids.chunks(1000) {
        server
            .delete("db", &json!({ "ids": ids }))
            .expect("deleted");
    }
    server.put("db", &rewritten);
    read.extend(server.export_rest(&open).expect("the rest"));
    assert_eq!(
        read, before,
        "the export shows the moment at which it began"
    );

    let filter = json!({ "rules": [{ "column": "size", "operator": "greater_than", "value": 0 }] });
    let some = records(&server.export("db", &json!({ "filter": filter })));
    let is_positive = |size: &Value| {
        let mut elements = elements(size).iter();
        elements.any(|element| element.as_f64() > Some(0.0))
    };
    assert!(
        some.iter()
            .all(|record| is_positive(&record["data"]["size"]))
    );
    let forced = json!({ "rules": [{ "column": "size", "operator": "less_than", "value": 5 }] });
    let both = records(&server.export("db", &json!({ "filter": filter, "forced_filter": forced })));
    assert!(both.len() < some.len());
    assert!(some.iter().all(|record| record.get("vector").is_none()));

    // A database of the same id that is created meanwhile is another one.
    let open = server.open_export("db", &json!({})).expect("opened");
    server.drop_database("db").wait().expect("dropped");
    let error = server
        .export_chunk(&open)
        .expect_err("the database is gone");
    assert_eq!(error.code(), "database_not_found");
    server.create("db", DIMENSIONS);
    let error = server.export_chunk(&open).expect_err("another database");
    assert_eq!(error.code(), "database_not_found");
    open.close();

    let open = server.open_export("db", &json!({})).expect("opened");
    open.close();
    assert!(matches!(server.export_chunk(&open), Err(Error::Stopped)));
    let open = server.open_export("db", &json!({})).expect("opened");
    server.engine.close();
    assert!(matches!(server.export_chunk(&open), Err(Error::Closed)));
}

/// Flips bits in the vectors of all full blocks but the first.
fn damage_vectors(directory: &Path) {
    let entries = fs::read_dir(directory.join("databases/db/vectors")).expect("vector files");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert_eq!(paths.len(), 2, "two full blocks are in files");
    for path in &paths[1..] {
        let mut bytes = fs::read(path).expect("read");
        let end = bytes.len();
        (end / 2..end).step_by(4).for_each(|at| bytes[at] ^= 0x10);
        let file = fs::File::options().write(true).open(path).expect("opened");
        std::io::Write::write_all(&mut &file, &bytes).expect("written in place");
    }
}

#[test]
fn a_damaged_vector_file_ends_an_export_until_all_of_its_records_have_other_vectors() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", DIMENSIONS);
    let mut random = Random::new(22);
    let mut all = known(&mut random, 9_000);
    // The export begins in the first block.
    all.sort_by_key(|record| record.id);
    server.put("db", &all);
    let request = json!({ "vectors": true });
    let before = server.export("db", &request);
    damage_vectors(directory.path());

    let open = server.open_export("db", &request).expect("opened");
    let begun = server.export_chunk(&open).expect("a chunk");
    assert_eq!(begun, before[..begun.len()]);
    // Data and times stay the same, so that only the vectors show the later write.
    let rewritten: Vec<Known> = all
        .iter()
        .map(|record| {
            let vector = vec![1.0; DIMENSIONS];
            Known::new(record.id, record.data.clone(), vector, record.id as i64)
        })
        .collect();
    server.put("db", &rewritten);
    let error = server
        .export_rest(&open)
        .expect_err("the vectors of the snapshot are lost");
    assert_eq!(error.code(), "store_failed");
    assert!(error.to_string().contains(".vectors is damaged"), "{error}");

    // A new export has the records of now.
    let after = records(&server.export("db", &request));
    let before = records(&before);
    assert!(
        after
            .iter()
            .zip(&before)
            .all(|(record, before)| record["vector"] != before["vector"])
    );
    assert_eq!(after.len(), 9_000);
}

const MODEL: Model = [8, 1];

fn put_texts(server: &Server, id: &str, ids: std::ops::Range<u64>) {
    let records: Vec<Value> = ids
        .map(|id| match id % 10 {
            0 => json!({ "id": id, "data": { "n": id } }),
            _ => json!({ "id": id, "data": { "text": format!("text {id}"), "n": id } }),
        })
        .collect();
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = server
        .prepare(id, body, Vec::new(), Format::Batch)
        .expect("good records");
    let embedded = embedded(&prepared.texts(), MODEL);
    server
        .commit_with(id, Arc::new(prepared), embedded)
        .expect("committed");
}

#[test]
fn vectors_of_the_same_model_are_stored_as_they_are() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    for id in ["db", "copy"] {
        server.create_with(id, &settings(MODEL)).expect("created");
    }
    put_texts(&server, "db", 1..500);
    let lines = server.export("db", &json!({ "vectors": true }));
    assert_eq!(import(&server, "copy", &lines), 499);
    assert_eq!(server.export("copy", &json!({ "vectors": true })), lines);
    let query = embed(&["text: text 77".into()], MODEL);
    let request = json!({ "limit": 100, "threshold": 0 });
    let page = server.search("db", &request, &query);
    assert_eq!(page["results"][0]["id"], 77);
    assert_eq!(server.search("copy", &request, &query), page);

    // A vector of the model says no more than the text: with it or without, the record is the same.
    for copy in ["copy", "db"] {
        let prepared = server.prepare_lines(copy, lines.clone(), 1).expect("lines");
        let committed = server.commit(copy, prepared).wait().expect("committed");
        assert_eq!(committed.count(cosift_engine::Status::Unchanged), 499);
    }
    put_texts(&server, "copy", 1..500);
    assert_eq!(
        records(&server.export("copy", &json!({})))[7]["timestamps"]["changed_at"],
        records(&lines)[7]["timestamps"]["changed_at"]
    );
}

#[test]
fn a_vector_of_another_model_or_of_none_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create_with("db", &settings(MODEL)).expect("created");
    server.create("own", DIMENSIONS);
    let vector = vec![1; DIMENSIONS];
    let right = fingerprint(MODEL);
    let refused = |id: &str, record: Value| {
        let error = server.upsert(id, &json!([record])).expect_err("refused");
        (error.code(), error.problems()[0].pointer.clone())
    };
    let data = json!({ "text": "a text" });
    assert_eq!(
        refused("db", json!({ "data": data, "vector": vector })),
        ("invalid_vector", "/records/0/vector".into())
    );
    assert_eq!(
        refused(
            "db",
            json!({ "data": data, "vector": vector, "embedded_by": "f9" })
        ),
        ("invalid_vector", "/records/0/embedded_by".into())
    );
    assert_eq!(
        refused("db", json!({ "data": data, "embedded_by": right })),
        ("invalid_vector", "/records/0/embedded_by".into())
    );
    assert_eq!(
        refused(
            "db",
            json!({ "data": data, "vector": [1], "embedded_by": right })
        ),
        ("invalid_dimensions", "/records/0/vector".into())
    );
    assert_eq!(
        refused("own", json!({ "data": data, "embedded_by": right })),
        ("invalid_vector", "/records/0/embedded_by".into())
    );
    // In a database without a model, every vector is the caller's own.
    server
        .upsert(
            "own",
            &json!([{ "data": data, "vector": vector, "embedded_by": right }]),
        )
        .expect("stored");

    // A switch to another model between preparation and commit.
    let line = json!({ "id": 1, "data": data, "vector": vector, "embedded_by": right }).to_string();
    let prepared = server
        .prepare_lines("db", line.into_bytes(), 1)
        .expect("lines");
    server
        .begin_reembedding("db", &settings([8, 2]))
        .expect("begun");
    let batch = server.prepare_reembedding("db").expect("a batch");
    server
        .commit_reembedding("db", batch, embedded(&[], [8, 2]))
        .expect("stored");
    let open = server
        .open_export("db", &json!({ "vectors": true }))
        .expect("opened");
    server.switch_reembedding("db").expect("switched");
    assert!(
        server.export_rest(&open).is_ok(),
        "an export continues after the switch"
    );
    let prepared = Arc::new(prepared);
    let committed = loop {
        let embedded = embedded(&prepared.texts(), [8, 2]);
        match server.commit_with("db", Arc::clone(&prepared), embedded) {
            Err(Error::Stale) => {}
            outcome => break outcome.expect("answered"),
        }
    };
    assert_eq!(committed.results.len(), 0);
    assert_eq!(committed.problems[0].problem.pointer, "/embedded_by");
}
