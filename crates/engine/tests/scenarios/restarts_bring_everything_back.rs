use std::fs;

use serde_json::json;

use crate::common::{Known, Oracle, Random, Server, Vectors, image, random_data};

fn check(server: &Server, oracle: &Oracle, vectors: &Vectors, random: &mut Random) {
    for threshold in [0.0, 0.4] {
        let request = json!({ "threshold": threshold, "limit": 100, "total": true });
        server.check("db", oracle, &request, &vectors.draw(random));
    }
    assert_eq!(
        server.describe("db")["records"],
        json!(oracle.records.len())
    );
}

fn some(ids: impl Iterator<Item = u64>, vectors: &Vectors, random: &mut Random) -> Vec<Known> {
    ids.map(|id| Known::new(id, random_data(random), vectors.draw(random), id as i64))
        .collect()
}

#[test]
fn from_a_snapshot_and_the_commits_after_it() {
    let mut random = Random::new(50);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(64, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 64);
    server.put_known("db", &mut oracle, some(1..=9_000, &vectors, &mut random));
    server.close();

    let server = Server::open(directory.path());
    check(&server, &oracle, &vectors, &mut random);
    // After the snapshot, a whole block is replaced, and records are changed, upserted unchanged, deleted and
    // created again.
    server.put_known("db", &mut oracle, some(1..=4_200, &vectors, &mut random));
    let mut touched: Vec<Known> = (5_000..5_300)
        .map(|id| oracle.records[&id].clone())
        .collect();
    touched
        .iter_mut()
        .for_each(|known| known.synced += 1_000_000);
    server.put_known("db", &mut oracle, touched);
    let deleted: Vec<u64> = (4_100..4_400).chain(8_990..=9_000).collect();
    server
        .delete("db", &json!({ "ids": deleted }))
        .expect("deleted");
    oracle.records.retain(|id, _| !deleted.contains(id));
    server.put_known("db", &mut oracle, some(4_150..4_160, &vectors, &mut random));
    server.put_known("db", &mut oracle, some(9_001..9_050, &vectors, &mut random));
    check(&server, &oracle, &vectors, &mut random);
    let crashed = tempfile::tempdir().expect("a directory");
    image(directory.path(), crashed.path());
    let position = server.changes("db", 0, 1)["position"].clone();
    server.close();

    for directory in [crashed.path(), directory.path()] {
        for _ in 0..2 {
            let server = Server::open(directory);
            check(&server, &oracle, &vectors, &mut random);
            let late = json!({ "threshold": 0, "time_range": { "start_time": "2026-01-01T00:16:40.000Z" }, "total": true });
            server.check("db", &oracle, &late, &vectors.draw(&mut random));
            assert_eq!(server.changes("db", 0, 1)["position"], position);
            server.close();
        }
    }
}

#[test]
fn however_often_with_however_few_records_between() {
    let mut random = Random::new(51);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(8, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 8);
    server.close();
    for round in 0..60 {
        let server = Server::open(directory.path());
        for _ in 0..random.below(4) {
            let first = oracle.records.len() as u64 + 1;
            let count = 1 + random.below(3) as u64;
            server.put_known(
                "db",
                &mut oracle,
                some(first..first + count, &vectors, &mut random),
            );
            let changed = 1 + random.below(oracle.records.len()) as u64;
            server.put_known(
                "db",
                &mut oracle,
                some(changed..changed + 1, &vectors, &mut random),
            );
        }
        if round % 5 == 0 {
            check(&server, &oracle, &vectors, &mut random);
        }
        server.close();
    }
    // Blocks of similar size are merged, so the number of blocks is about log2 of the number of records.
    let files = fs::read_dir(directory.path().join("databases/db/derived")).expect("index files");
    let blocks = files.filter(|entry| {
        let path = entry.as_ref().expect("an entry").path();
        path.extension().is_some_and(|kind| kind == "rows")
    });
    let blocks = blocks.count();
    assert!(
        (1..=9).contains(&blocks),
        "{blocks} blocks for {} records",
        oracle.records.len()
    );
}

#[test]
fn also_when_all_records_of_a_block_among_small_ones_are_gone() {
    let mut random = Random::new(52);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(8, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 8);
    // Three blocks whose sizes differ too much to be merged. The middle block becomes empty.
    server.put_known("db", &mut oracle, some(1..=500, &vectors, &mut random));
    server.close();
    let server = Server::open(directory.path());
    server.put_known("db", &mut oracle, some(501..=600, &vectors, &mut random));
    server.close();
    let server = Server::open(directory.path());
    server.put_known("db", &mut oracle, some(601..=620, &vectors, &mut random));
    let deleted: Vec<u64> = (501..=600).collect();
    server
        .delete("db", &json!({ "ids": deleted }))
        .expect("deleted");
    oracle.records.retain(|id, _| !deleted.contains(id));
    // New records must still fill blocks correctly.
    let mut next = 621;
    for _ in 0..12 {
        let count = 400 + random.below(600) as u64;
        server.put_known(
            "db",
            &mut oracle,
            some(next..next + count, &vectors, &mut random),
        );
        next += count;
        check(&server, &oracle, &vectors, &mut random);
    }
    server.close();
    let server = Server::open(directory.path());
    check(&server, &oracle, &vectors, &mut random);
    server.close();
}
