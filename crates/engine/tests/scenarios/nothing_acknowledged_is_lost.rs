use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Known, Oracle, Random, Server, Vectors, child, random_data, time};

const DIRECTORY: &str = "COSIFT_TEST_DIRECTORY";
const SEED: &str = "COSIFT_TEST_SEED";

/// Rounds of writing and being killed, on one data directory.
const ROUNDS: u64 = 16;

/// One write, which both the writer and the checking process derive from its seed.
fn write(seed: u64, vectors: &Vectors) -> Write {
    let mut random = Random::new(seed);
    match random.below(6) {
        0 => Write::Delete((0..3).map(|_| 1 + random.below(900) as u64).collect()),
        // There are few ids, so most records exist already and are changed or only get a new sync time.
        kind => Write::Put(
            (0..if kind == 1 { 600 } else { 5 })
                .map(|_| {
                    let id = 1 + random.below(900) as u64;
                    let mut of_record = Random::new(id * 1_000 + random.next() % 3);
                    let data = random_data(&mut of_record);
                    let mut known = Known::new(id, data, vectors.draw(&mut of_record), 0);
                    known.synced = (seed % 1_000_000) as i64;
                    known
                })
                .collect(),
        ),
    }
}

enum Write {
    Put(Vec<Known>),
    Delete(Vec<u64>),
}

fn vectors() -> Vectors {
    Vectors::new(8, &mut Random::new(1))
}

/// Writes until it is killed. Prints a line before each write and after its acknowledgement.
#[test]
#[ignore = "run in a process of its own by another test"]
fn child_process() {
    let directory = std::env::var_os(DIRECTORY).expect("a directory");
    let seed: u64 = std::env::var(SEED)
        .expect("a seed")
        .parse()
        .expect("a number");
    let vectors = vectors();
    let mut server = Server::open(directory.as_ref());
    for at in seed * 1_000.. {
        // Sometimes a snapshot is saved in between, and the next start continues from it.
        if at % 400 == 150 {
            server.close();
            server = Server::open(directory.as_ref());
        }
        println!("\nwrite {at}");
        match write(at, &vectors) {
            Write::Put(records) => server.put("db", &records),
            Write::Delete(ids) => drop(
                server
                    .delete("db", &json!({ "ids": ids }))
                    .expect("deleted"),
            ),
        }
        println!("\ndone {at}");
    }
}

/// Applies a write to the oracle. A record keeps its creation time, and its change time while its content is unchanged.
fn apply(oracle: &mut Oracle, write: Write) {
    match write {
        Write::Put(records) => oracle
            .records
            .extend(records.into_iter().map(|known| (known.id, known))),
        Write::Delete(ids) => oracle.records.retain(|id, _| !ids.contains(id)),
    }
}

/// UUID, data and last synced time of all records of the oracle.
fn state(oracle: &Oracle) -> BTreeMap<u64, Value> {
    let shown = |known: &Known| json!([known.uuid, known.data, time(known.synced)]);
    oracle
        .records
        .iter()
        .map(|(&id, known)| (id, shown(known)))
        .collect()
}

/// UUID, data and last synced time of all records of the engine.
fn found(server: &Server) -> BTreeMap<u64, Value> {
    let shown = |variant: &str| {
        let page = server.query(
            "db",
            &json!({ "form": variant, "limit": 10_000, "sort": { "column": "none" } }),
        );
        page["results"].as_array().expect("results").clone()
    };
    let by_uuid: BTreeMap<u64, Value> = shown("uuid")
        .into_iter()
        .map(|record| {
            let uuid = record["id"].as_str().expect("a UUID").to_owned();
            // The oracle's keys contain the id, and the UUIDs of its records without keys end in it.
            let id = match record["key"].as_str() {
                Some(key) => key
                    .trim_matches(|c: char| !c.is_ascii_digit())
                    .parse()
                    .expect("an id"),
                None => u64::from_str_radix(&uuid[24..], 16).expect("an id"),
            };
            (
                id,
                json!([uuid, record["data"], record["timestamps"]["synced_at"]]),
            )
        })
        .collect();
    let ids: Vec<u64> = by_uuid.keys().copied().collect();
    let mut other: Vec<u64> = shown("integer")
        .iter()
        .map(|record| record["id"].as_u64().expect("an id"))
        .collect();
    other.sort_unstable();
    assert_eq!(ids, other, "both variants show the same records");
    by_uuid
}

#[test]
fn when_the_process_is_killed_again_and_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let vectors = vectors();
    let mut random = Random::new(120);
    let mut oracle = Oracle::default();
    let server = Server::open(directory.path());
    server.create("db", 8);
    server.close();
    for round in 1..=ROUNDS {
        let (done, started) = killed(directory.path(), round, random.below(60) as u64);
        for at in round * 1_000..done {
            apply(&mut oracle, write(at, &vectors));
        }
        let server = Server::open(directory.path());
        let found = found(&server);
        // The write that was interrupted is stored completely or not at all.
        if found != state(&oracle) {
            assert_eq!(
                started,
                done + 1,
                "round {round}: no write was interrupted after write {done}"
            );
            apply(&mut oracle, write(done, &vectors));
        }
        for (id, expected) in state(&oracle) {
            assert_eq!(
                found.get(&id),
                Some(&expected),
                "round {round}, record {id}"
            );
        }
        assert_eq!(found.len(), oracle.records.len(), "round {round}");
        // The vectors are restored as well.
        let query = vectors.draw(&mut random);
        let page = server.search("db", &json!({ "threshold": 0, "limit": 10_000 }), &query);
        let scores = |hits: &[Value]| -> BTreeMap<u64, Value> {
            hits.iter()
                .map(|hit| {
                    (
                        hit["id"].as_u64().expect("an id"),
                        hit["relevance_score"].clone(),
                    )
                })
                .collect()
        };
        let expected = oracle.search(&json!({ "threshold": 0 }), &query);
        assert_eq!(
            scores(page["results"].as_array().expect("results")),
            scores(&expected),
            "round {round}"
        );
        server.close();
    }
}

/// Runs the writer and kills it once it has acknowledged `writes`. Returns one past the number of the last
/// acknowledged write and one past the number of the last started write.
fn killed(directory: &Path, seed: u64, writes: u64) -> (u64, u64) {
    let mut command = child("nothing_acknowledged_is_lost::child_process");
    let mut writer = command
        .env(DIRECTORY, directory)
        .env(SEED, seed.to_string())
        .spawn()
        .expect("the child runs");
    let lines = BufReader::new(writer.stdout.take().expect("its output")).lines();
    let (mut done, mut started) = (seed * 1_000, seed * 1_000);
    let mut alive = true;
    for line in lines.map_while(Result::ok) {
        let number = |name: &str| {
            line.strip_prefix(name)
                .and_then(|rest| rest.parse::<u64>().ok())
        };
        if let Some(at) = number("write ") {
            started = at + 1;
            // The kill comes in the middle of a write. Lines that the writer printed before its end count as well.
            if alive && at >= seed * 1_000 + writes {
                writer.kill().expect("killed");
                alive = false;
            }
        }
        if let Some(at) = number("done ") {
            done = at + 1;
        }
    }
    writer.wait().expect("the writer has ended");
    assert!(!alive, "the writer ended without being killed");
    (done, started)
}
