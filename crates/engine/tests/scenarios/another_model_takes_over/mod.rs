//! A database is embedded with another model while it is written, and then switches to it.

mod cut_off;
mod earlier_state;
mod failed_commit;
mod written_meanwhile;

use std::sync::Arc;

use serde_json::{Value, json};

use cosift_engine::{Error, Format, ReembeddingBatch};

use crate::common::{Model, Random, Server, assert_same, embed, embedded, settings, uuid_of_key};

const OLD: Model = [8, 1];
const NEW: Model = [12, 2];

fn create(server: &Server) {
    server
        .create_with("db", &settings(OLD))
        .expect("a new database");
}

fn put(server: &Server, records: &Value, model: Model) {
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = server
        .prepare("db", body, Vec::new(), Format::Batch)
        .expect("good records");
    let embedded = embedded(&prepared.texts(), model);
    server
        .commit_with("db", Arc::new(prepared), embedded)
        .expect("committed");
}

/// One random write: a few records, sometimes many, are created, changed, touched or deleted.
fn write(server: &Server, random: &mut Random, model: Model) {
    let count = if random.below(12) == 0 { 300 } else { 4 };
    let mut ids: Vec<u64> = (0..count).map(|_| 1 + random.below(1_500) as u64).collect();
    ids.sort_unstable();
    ids.dedup();
    if random.below(5) == 0 {
        server
            .delete("db", &json!({ "ids": ids }))
            .expect("deleted");
        return;
    }
    let mut record = |id: &u64| {
        // Two contents per id, so that many records are unchanged.
        let data = json!({ "text": format!("{id} {}", random.below(2)), "n": id });
        let mut record = json!({ "id": id, "data": data });
        if id.is_multiple_of(3) {
            // The record gets its key with one of its writes.
            let key = format!("SKU-{id}");
            match random.below(2) {
                0 => record["key"] = json!(key),
                _ => record["uuid"] = json!(uuid_of_key(&key)),
            }
        }
        record
    };
    let records: Vec<Value> = ids.iter().map(&mut record).collect();
    put(server, &json!(records), model);
}

/// Embeds one batch. Returns whether no other record lacked vectors.
fn step(server: &Server) -> bool {
    let batch = server.prepare_reembedding("db").expect("a batch");
    let last = batch.is_last();
    commit(server, batch).expect("stored");
    last
}

fn commit(server: &Server, batch: ReembeddingBatch) -> Result<u64, Error> {
    let embedded = embedded(&batch.texts(), NEW);
    server.commit_reembedding("db", batch, embedded)
}

fn finish(server: &Server) {
    while !step(server) {}
    server.warm_reembedding("db").expect("warm");
    while !step(server) {}
    server.switch_reembedding("db").expect("switched");
}

/// What a switch must not change: the records with their times, the feed, and the time of creation.
fn contents(server: &Server) -> (Value, Value, Value) {
    let records = ["uuid", "integer"].map(|variant| {
        let query = json!({ "limit": 10_000, "form": variant });
        server.query("db", &query)["results"]
            .as_array()
            .expect("results")
            .clone()
    });
    let (mut feed, mut position) = (Vec::new(), 0);
    loop {
        let changes = server.changes("db", position, 1_000);
        position = changes["position"].as_u64().expect("a position");
        match changes["changes"].as_array().expect("changes") {
            none if none.is_empty() => break,
            some => feed.extend_from_slice(some),
        }
    }
    let changes = json!({ "changes": feed, "position": position });
    (
        records.concat().into(),
        changes,
        server.describe("db")["times"]["created_at"].clone(),
    )
}

fn check_contents(server: &Server, before: &(Value, Value, Value)) {
    let now = contents(server);
    let [before_records, records] =
        [&before.0, &now.0].map(|list| list.as_array().expect("records"));
    assert_same(records, before_records, &json!("records"));
    let [before_feed, feed] =
        [&before.1, &now.1].map(|feed| feed["changes"].as_array().expect("changes"));
    assert_same(feed, before_feed, &json!("feed"));
    assert_eq!(now.2, before.2);
}

/// Checks that every record is found by its own text with a score of 1, so that its vector is of this model.
fn check_vectors(server: &Server, model: Model) {
    let (records, ..) = contents(server);
    let records = records.as_array().expect("results");
    assert!(records.len() > 100, "{} records", records.len());
    for record in records.iter().rev().take(records.len() / 2).step_by(7) {
        let data = &record["data"];
        let text = format!("text: {}", data["text"].as_str().expect("a text"));
        let request = json!({
            "threshold": 0.9999, "embedded_by": format!("f{}", model[1]),
            "filter": { "rules": [{ "column": "n", "operator": "equals", "value": data["n"] }] },
        });
        let page = server.search("db", &request, &embed(&[text], model));
        assert_eq!(page["results"][0]["id"], record["id"], "{record}");
    }
}
