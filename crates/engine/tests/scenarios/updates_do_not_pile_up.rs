use std::fs;
use std::path::Path;

use serde_json::json;

use crate::common::{Known, Oracle, Random, Server, Vectors, in_full, random_data};

/// Bytes of codes and columns in memory.
fn memory(server: &Server) -> u64 {
    let sizes = &server.describe("db")["sizes"];
    let size = |name: &str| sizes[name].as_u64().expect("a size");
    size("codes_bytes") + size("columns_bytes")
}

/// Bytes of the main file of the database and of its vector files.
fn file_bytes(directory: &Path) -> u64 {
    let database = directory.join("databases/db");
    let main_file = fs::metadata(database.join("records.sqlite")).expect("the file is there");
    let files = fs::read_dir(database.join("vectors")).into_iter().flatten();
    // A file may be removed meanwhile.
    let bytes = files.filter_map(|file| Some(file.ok()?.metadata().ok()?.len()));
    main_file.len() + bytes.sum::<u64>()
}

#[test]
fn when_all_records_change_again_and_again() {
    let mut random = Random::new(70);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    let mut once = 0;
    for round in 0..in_full(6, 4) {
        // Each batch updates records in another order, so that it replaces a few records of every block.
        let mut ids: Vec<u64> = (1..=12_000).collect();
        (1..ids.len()).for_each(|at| ids.swap(at, random.below(at + 1)));
        let records = ids.iter().map(|&id| {
            Known::new(
                id,
                random_data(&mut random),
                vectors.draw(&mut random),
                round as i64,
            )
        });
        let records = records.collect();
        server.put_known("db", &mut oracle, records);
        let request = json!({ "threshold": 0.3, "limit": 100, "total": true });
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
        let memory = memory(&server);
        once = if round == 0 { memory } else { once };
        assert!(
            memory < once * 5 / 2,
            "round {round}: {memory} bytes, {once} after the first round"
        );
    }
    server.close();
    let server = Server::open(directory.path());
    server.check(
        "db",
        &oracle,
        &json!({ "threshold": 0, "limit": 100, "total": true }),
        &vectors.draw(&mut random),
    );
    server.close();
}

#[test]
fn when_most_records_are_deleted() {
    let mut random = Random::new(71);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 96);
    let vectors = Vectors::new(96, &mut random);
    let mut oracle = Oracle::default();
    let records = (1..=40_960).map(|id| {
        Known::new(
            id,
            random_data(&mut random),
            vectors.draw(&mut random),
            id as i64,
        )
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    let before = memory(&server);
    let disk = file_bytes(directory.path());
    let deleted: Vec<u64> = (1..=40_960).filter(|id| id % 10 != 0).collect();
    for ids in deleted.chunks(20_000) {
        assert_eq!(
            server
                .delete("db", &json!({ "ids": ids }))
                .expect("deleted"),
            ids.len()
        );
    }
    oracle.records.retain(|id, _| id % 10 == 0);
    // Compaction runs in the background; searches during it are correct at every step.
    let start = std::time::Instant::now();
    loop {
        server.check(
            "db",
            &oracle,
            &json!({ "threshold": 0.3, "limit": 50, "total": true }),
            &vectors.draw(&mut random),
        );
        let memory = memory(&server);
        if memory < before / 4 {
            break;
        }
        assert!(
            start.elapsed().as_secs() < 300,
            "{memory} bytes of {before} are still held"
        );
    }
    // Disk space is also returned after a pause in writing, and the records survive a restart.
    server.close();
    let server = Server::open(directory.path());
    let start = std::time::Instant::now();
    while file_bytes(directory.path()) > disk * 2 / 3 {
        server.check(
            "db",
            &oracle,
            &json!({ "threshold": 0, "limit": 100, "total": true }),
            &vectors.draw(&mut random),
        );
        assert!(
            start.elapsed().as_secs() < 60,
            "{} bytes of {disk} are still in use",
            file_bytes(directory.path())
        );
    }
    server.close();
    let server = Server::open(directory.path());
    server.check(
        "db",
        &oracle,
        &json!({ "threshold": 0, "limit": 100, "total": true }),
        &vectors.draw(&mut random),
    );
    server.close();
}
