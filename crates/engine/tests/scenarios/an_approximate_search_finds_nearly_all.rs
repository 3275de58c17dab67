use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cosift_engine::Limits;
use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Ranking, Server, Vectors, examined, hits, in_full, random_data,
    random_filter,
};

const DIMENSIONS: usize = 32;
const BLOCK: u64 = 4_096;

/// Records from which on the databases of this file have an index. By default, there are too many for a test.
const FROM: u64 = 2 * BLOCK;

/// Timeout. Every build in this file takes a small fraction of it.
const NEVER: Duration = Duration::from_secs(120);

struct Filled {
    directory: tempfile::TempDir,
    server: Server,
    oracle: Oracle,
    vectors: Vectors,
    random: Random,
}

fn some(ids: impl Iterator<Item = u64>, vectors: &Vectors, random: &mut Random) -> Vec<Known> {
    ids.map(|id| {
        let mut data = random_data(random);
        data.insert("third".to_owned(), json!(id % 3));
        data.insert("hundredth".to_owned(), json!(id % 100));
        Known::new(id, data, vectors.draw(random), id as i64)
    })
    .collect()
}

fn settings() -> Value {
    json!({ "dimensions": DIMENSIONS, "approximate": true })
}

fn open(directory: &Path) -> Server {
    let limits = Limits {
        approximate_from: FROM as usize,
        ..Limits::default()
    };
    Server::with_limits(directory, limits)
}

fn filled(seed: u64, count: u64) -> Filled {
    let mut random = Random::new(seed);
    let directory = tempfile::tempdir().expect("a directory");
    let server = open(directory.path());
    server.create_with("db", &settings()).expect("created");
    let vectors = Vectors::new(DIMENSIONS, &mut random);
    let mut oracle = Oracle::default();
    let records = some(1..=count, &vectors, &mut random);
    server.put_known("db", &mut oracle, records);
    Filled {
        directory,
        server,
        oracle,
        vectors,
        random,
    }
}

fn request(members: Value) -> Value {
    let mut request =
        json!({ "threshold": 0.2, "limit": 50, "approximate": true, "explain": true });
    for (name, value) in members.as_object().expect("members") {
        request[name.as_str()] = value.clone();
    }
    request
}

/// A result without its `explain` member.
fn bare(hit: &Value) -> Value {
    let mut hit = hit.clone();
    hit.as_object_mut().expect("a result").remove("explain");
    hit
}

/// Checks everything except completeness: results are matches with their true score, in order, without duplicates.
/// Returns the share of the exact page that was found.
fn recall(found: &[Value], exact: &Ranking, request: &Value) -> f64 {
    let places = exact.matches.iter().enumerate();
    let place: HashMap<u64, usize> = places.map(|(at, (_, _, known))| (known.id, at)).collect();
    let mut last = None;
    for hit in found {
        let at = place.get(&hit["id"].as_u64().expect("an id"));
        let at = *at.unwrap_or_else(|| panic!("{hit} is no match of {request}"));
        assert_eq!(bare(hit), exact.result(at), "{request}");
        assert!(last < Some(at), "in order, none twice: {request}");
        last = Some(at);
    }
    let limit = request["limit"].as_u64().expect("a limit") as usize;
    let wanted = exact.matches.len().min(limit);
    let good = found
        .iter()
        .filter(|hit| place[&hit["id"].as_u64().expect("an id")] < wanted);
    good.count() as f64 / wanted.max(1) as f64
}

impl Filled {
    /// Searches until the index is complete and holds `records` live records. Every result must be correct, also during additions: the
    /// oracle checks one search of each state of the index, because more would take the processor from the build.
    fn wait_for(&mut self, records: u64) {
        let start = Instant::now();
        // A separate generator: the number of searches here depends on the clock, and the rest of the test must be
        // deterministic.
        let mut random = Random::new(records);
        let mut checked = None;
        loop {
            let query = self.vectors.draw(&mut random);
            let request = request(json!({ "limit": 10 }));
            let page = self.server.search("db", &request, &query);
            let indexed = page["explain"]["approximate"]["indexed"].as_u64();
            if checked != Some(indexed) {
                let exact = self.oracle.ranking(&request, &query);
                // Only the mean recall is checked: one search of thousands may end in a wrong cluster.
                recall(&hits(&page), &exact, &request);
                checked = Some(indexed);
            }
            let described = self.server.describe("db");
            let ready = described["approximate_records"].as_u64();
            assert!(ready <= described["records"].as_u64(), "{described}");
            if indexed >= Some(records) && described["approximate_records"] == described["records"]
            {
                let bytes = described["sizes"]["approximate_bytes"].as_u64();
                assert!(bytes > Some(records * DIMENSIONS as u64), "{described}");
                return;
            }
            thread::sleep(Duration::from_millis(2));
            assert!(start.elapsed() < NEVER, "{described}: {}", page["explain"]);
        }
    }

    /// Waits until the bytes of the index pass `test`.
    fn wait_for_bytes(&self, test: impl Fn(u64) -> bool) {
        let start = Instant::now();
        loop {
            let described = self.server.describe("db");
            let is_ready = described["approximate_records"] == described["records"];
            let bytes = described["sizes"]["approximate_bytes"].as_u64();
            if is_ready && test(bytes.expect("a number of bytes")) {
                return;
            }
            thread::sleep(Duration::from_millis(2));
            assert!(start.elapsed() < NEVER, "{described}");
        }
    }

    fn bytes(&self) -> u64 {
        let described = self.server.describe("db");
        let bytes = described["sizes"]["approximate_bytes"].as_u64();
        bytes.expect("a number of bytes")
    }

    fn delete(&mut self, ids: impl Iterator<Item = u64>) {
        let ids: Vec<u64> = ids.collect();
        for ids in ids.chunks(1_000) {
            for id in ids {
                self.oracle.records.remove(id).expect("a record");
            }
            let deletion = json!({ "ids": ids });
            self.server.delete("db", &deletion).expect("deleted");
        }
    }

    /// The mean recall of several searches. Each search must use `plan`.
    fn mean_recall(&mut self, members: Value, plan: &str) -> f64 {
        let request = request(members);
        // The oracle supports only one filter.
        let mut known = request.clone();
        if !request["forced_filter"].is_null() {
            known["filter"] = request["forced_filter"].clone();
        }
        let rounds = in_full(50, 25);
        let sum: f64 = (0..rounds)
            .map(|_| {
                let query = self.vectors.draw(&mut self.random);
                let page = self.server.search("db", &request, &query);
                assert_eq!(page["approximate"], json!(true), "{request}");
                assert_eq!(
                    page["explain"]["plan"], plan,
                    "{request}: {}",
                    page["explain"]
                );
                recall(&hits(&page), &self.oracle.ranking(&known, &query), &request)
            })
            .sum();
        sum / rounds as f64
    }
}

#[test]
fn and_only_matches_with_their_true_scores() {
    let mut all = filled(130, 11 * BLOCK + 300);
    all.wait_for(11 * BLOCK);
    let share = all.mean_recall(json!({}), "approximate");
    println!("recall {share}");
    assert!(share >= 0.99, "{share}");

    // Rules, a time range and a forced filter hold for every result of every plan. A graph search that ends in a wrong
    // cluster misses a whole small page, so the required mean is lower.
    let third = json!({ "rules": [{ "column": "third", "operator": "not_equals", "value": 0 }] });
    let share = all.mean_recall(json!({ "filter": third, "limit": 10 }), "approximate");
    assert!(share >= 0.9, "filtered: {share}");
    let share = all.mean_recall(
        json!({ "forced_filter": third, "limit": 10 }),
        "approximate",
    );
    assert!(share >= 0.9, "forced filter: {share}");
    let early = json!({ "end_time": "2026-01-01T00:00:30Z" });
    let share = all.mean_recall(json!({ "time_range": early, "limit": 10 }), "approximate");
    assert!(share >= 0.9, "time range: {share}");
    for _ in 0..20 {
        let filter = random_filter(&mut all.random, 2);
        let request = request(json!({ "filter": filter, "limit": 10 }));
        let query = all.vectors.draw(&mut all.random);
        let page = all.server.search("db", &request, &query);
        recall(
            &hits(&page),
            &all.oracle.ranking(&request, &query),
            &request,
        );
    }

    // If few records pass the filter, the engine scans them, and the result is exact.
    let few = json!({ "rules": [{ "column": "hundredth", "operator": "equals", "value": 7 }] });
    let share = all.mean_recall(json!({ "filter": few }), "filtered scan");
    assert_eq!(share, 1.0, "few pass");

    // The page after a cursor is exact, and so is a page that needs more candidates than a scan has records.
    let query = all.vectors.draw(&mut all.random);
    let page = all.server.search("db", &request(json!({})), &query);
    let cursor = &page["pagination"]["next_cursor"];
    for (members, reason) in [
        (json!({ "cursor": cursor }), "the page has a cursor"),
        (json!({ "limit": 10_000 }), "the database is small"),
    ] {
        let page = all.server.search("db", &request(members), &query);
        let not_used = page["explain"]["approximate"]["not_used"].to_string();
        assert!(not_used.contains(reason), "{not_used}");
    }

    // A search without `approximate` is exact.
    for _ in 0..5 {
        let request = json!({ "threshold": 0.2, "limit": 50, "total": true });
        let query = all.vectors.draw(&mut all.random);
        all.server.check("db", &all.oracle, &request, &query);
        let page = all.server.search("db", &request, &query);
        assert_eq!(page["approximate"], Value::Null);
    }
    all.server.close();
}

#[test]
fn page_after_page_with_none_twice() {
    let mut all = filled(131, 8 * BLOCK);
    all.wait_for(8 * BLOCK);
    for round in 0..3 {
        let variant = ["uuid", "integer"][round % 2];
        let mut request =
            json!({ "form": variant, "threshold": 0.3, "limit": 40, "approximate": true });
        let query = all.vectors.draw(&mut all.random);
        let exact = all.oracle.search(&request, &query);
        let mut found = Vec::new();
        for _ in 0..40 {
            let page = all.server.search("db", &request, &query);
            found.extend(hits(&page));
            match page["pagination"]["next_cursor"].as_str() {
                Some(cursor) => request["cursor"] = json!(cursor),
                None => break,
            }
        }
        let ids: HashSet<String> = found.iter().map(|hit| hit["id"].to_string()).collect();
        assert_eq!(ids.len(), found.len(), "none twice");
        let places: Vec<usize> = found
            .iter()
            .map(|hit| {
                exact
                    .iter()
                    .position(|known| known == hit)
                    .expect("a match")
            })
            .collect();
        assert!(places.is_sorted(), "in order over all pages");
        let end = places.last().expect("some") + 1;
        assert!(
            found.len() as f64 >= 0.95 * end as f64,
            "{} of {end}",
            found.len()
        );
        assert!(
            end >= exact.len().min(1_500),
            "pages end at {end} of {}",
            exact.len()
        );
    }
    all.server.close();
}

#[test]
fn as_soon_as_they_are_written() {
    let mut all = filled(132, 8 * BLOCK + 10);
    all.wait_for(8 * BLOCK);
    let request = request(json!({ "limit": 5 }));
    let first = |all: &Filled, query: &[f32]| {
        let page = all.server.search("db", &request, query);
        assert_eq!(page["explain"]["plan"], "approximate");
        hits(&page).first().map(bare)
    };
    // A new record, an indexed record that gets another vector, and a record that is deleted.
    for id in [900_000, 77] {
        let query = all.vectors.draw(&mut all.random);
        let known = Known::new(id, random_data(&mut all.random), query.clone(), 5);
        all.server.put_known("db", &mut all.oracle, vec![known]);
        let found = first(&all, &query).expect("a result");
        assert_eq!(
            (&found["id"], &found["relevance_score"]),
            (&json!(id), &json!(1))
        );
    }
    let deleted = all.oracle.records.remove(&99).expect("a record");
    let before = first(&all, &deleted.vector).expect("a result");
    assert_eq!(before["id"], json!(99));
    all.server
        .delete("db", &json!({ "ids": [99] }))
        .expect("deleted");
    let after = first(&all, &deleted.vector).expect("a result");
    assert_ne!(after["id"], json!(99));

    // All records are replaced: every record of the index becomes dead, and a new index of live records replaces it.
    let records = some(1..=8 * BLOCK, &all.vectors, &mut all.random);
    all.server.put_known("db", &mut all.oracle, records);
    all.wait_for(6 * BLOCK);
    let share = all.mean_recall(json!({ "limit": 10 }), "approximate");
    assert!(share >= 0.95, "{share}");
    all.server.close();
}

#[test]
fn in_an_index_without_the_records_that_died() {
    let mut all = filled(134, 8 * BLOCK);
    all.wait_for(8 * BLOCK);
    let bytes = all.bytes();
    // Fewer than a quarter are dead: the index stays.
    all.delete((1..=8 * BLOCK).filter(|id| id % 5 == 0));
    let page = all.server.search(
        "db",
        &request(json!({})),
        &all.vectors.draw(&mut all.random),
    );
    assert_eq!(page["explain"]["plan"], "approximate");
    assert_eq!(all.bytes(), bytes);
    // More than a quarter: the next index has only the living records.
    all.delete((1..=8 * BLOCK).filter(|id| id % 5 == 1));
    all.wait_for_bytes(|left| left < bytes * 7 / 10);
    let share = all.mean_recall(json!({}), "approximate");
    assert!(share >= 0.99, "{share}");
    // A database that has become small needs no index.
    all.delete((1..=8 * BLOCK).filter(|id| id % 5 > 1 && *id > BLOCK));
    let directory = all.directory.path().to_owned();
    all.wait_for_bytes(|left| left == 0 && graphs(&directory).is_empty());
    let share = all.mean_recall(json!({}), "full scan");
    assert_eq!(share, 1.0);
    all.server.close();
}

fn graphs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("databases/db/derived")).expect("index files");
    entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "graph"))
        .collect()
}

/// Flips a bit of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("read");
    bytes[at] ^= 4;
    fs::write(path, bytes).expect("written");
}

#[test]
fn with_the_index_that_was_saved() {
    let mut all = filled(133, 4 * BLOCK + 100);
    all.wait_for(4 * BLOCK);
    let reopen = |all: Filled| {
        all.server.close();
        let server = open(all.directory.path());
        let mut all = Filled { server, ..all };
        all.wait_for(4 * BLOCK);
        let share = all.mean_recall(json!({ "limit": 10 }), "approximate");
        assert!(share >= 0.95, "{share}");
        all
    };
    let mut all = reopen(all);
    let saved = graphs(all.directory.path());
    assert_eq!(saved.len(), 1);
    // An unchanged index is not written again.
    all = reopen(all);
    assert_eq!(graphs(all.directory.path()), saved);
    let reopened = all.server;
    reopened.close();
    let damage = "the graph does not match its list";
    for is_damaged in [false, true] {
        let report = examined(all.directory.path(), "db").to_string();
        assert_eq!(report.contains(damage), is_damaged, "{report}");
        flip(&saved[0], 5_000);
    }
    all.server = open(all.directory.path());
    for round in 0..4 {
        let graph = graphs(all.directory.path()).remove(0);
        let list = graph.with_file_name("approximate");
        match round {
            0 => fs::remove_file(&graph).expect("removed"),
            1 => fs::write(&graph, &fs::read(&graph).expect("read")[..5_000]).expect("cut"),
            2 => {
                let length = fs::metadata(&graph).expect("a file").len();
                flip(&graph, all.random.below(length as usize));
            }
            _ => fs::write(&list, b"{}").expect("written"),
        }
        all = reopen(all);
        all = reopen(all);
        let rebuilt = graphs(all.directory.path());
        assert_eq!(rebuilt.len(), 1, "the damaged one is gone");
        assert_ne!(rebuilt[0], graph, "built and saved again");
    }
    // Another index file is damaged: the blocks are then rebuilt, and so is the index.
    all.server.close();
    fs::remove_file(all.directory.path().join("databases/db/derived/snapshot")).expect("removed");
    let server = open(all.directory.path());
    let mut all = Filled { server, ..all };
    all.wait_for(4 * BLOCK);
    all.server.close();
}

#[test]
fn only_where_it_was_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    let parse = |body: Vec<u8>| serde_json::from_slice::<Value>(&body).expect("JSON");
    let made = parse(server.create_with("db", &settings()).expect("created"));
    assert_eq!(made["database"]["approximate"], json!(true));
    assert_eq!(made["database"]["approximate_records"], json!(0));
    let again = parse(server.create_with("db", &settings()).expect("found"));
    assert_eq!(again["created"], json!(false));
    server
        .create_with("db", &json!({ "dimensions": DIMENSIONS }))
        .expect_err("made with another setting");
    server.create("exact", DIMENSIONS);
    let exact = json!({ "dimensions": DIMENSIONS, "approximate": false });
    let again = parse(
        server
            .create_with("exact", &exact)
            .expect("the same settings"),
    );
    assert_eq!(again["created"], json!(false));
    assert_eq!(again["database"]["approximate"], json!(false));

    let query = vec![1.0; DIMENSIONS];
    let refused = |id: &str, request: Value| {
        let error = server
            .try_search(id, &request, &query)
            .expect_err("refused");
        let problem = &error.problems()[0];
        assert_eq!(
            (error.code(), &*problem.pointer),
            ("invalid_request", "/approximate")
        );
    };
    refused("exact", json!({ "approximate": true }));
    refused("db", json!({ "approximate": true, "total": true }));
    refused(
        "db",
        json!({ "approximate": true, "facets": [{ "column": "third" }] }),
    );
    // A small database has no index: all of its records are ready, and the search is exact.
    let vectors = Vectors::new(DIMENSIONS, &mut Random::new(135));
    let mut random = Random::new(136);
    let mut oracle = Oracle::default();
    server.put_known(
        "db",
        &mut oracle,
        some(1..=FROM + 10, &vectors, &mut random),
    );
    let request = request(json!({}));
    let query = vectors.draw(&mut random);
    let page = server.search("db", &request, &query);
    assert_eq!(page["approximate"], json!(true));
    assert_eq!(
        page["explain"]["approximate"],
        json!({ "not_used": "the database is small: a scan is faster" })
    );
    assert_eq!(
        recall(&hits(&page), &oracle.ranking(&request, &query), &request),
        1.0
    );
    let described = server.describe("db");
    assert_eq!(described["approximate_records"], json!(FROM + 10));
    assert_eq!(described["sizes"]["approximate_bytes"], json!(0));
    server.close();
}
