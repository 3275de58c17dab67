//! A vector exists once, so damage of a vector file loses vectors. No search ever returns a wrong score: it fails while it needs
//! a vector that is lost, and the next start or its check refuses the database.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Known, Oracle, Random, Server, Vectors, assert_same, hits, random_data};

const DIMENSIONS: usize = 64;

fn vector_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("databases/db/vectors")).expect("vector files");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

/// A closed directory with a database of two full blocks and a growing one.
fn written(directory: &Path, random: &mut Random, vectors: &Vectors) -> Oracle {
    let mut oracle = Oracle::default();
    let server = Server::open(directory);
    server.create("db", DIMENSIONS);
    let record = |id| Known::new(id, random_data(random), vectors.draw(random), id as i64);
    server.put_known("db", &mut oracle, (1..=9_000).map(record).collect());
    server.close();
    oracle
}

/// Flips bits all over the second half of a file, in place.
fn damage(path: &Path) -> fs::File {
    let mut bytes = fs::read(path).expect("read");
    let end = bytes.len();
    (end / 2..end).step_by(97).for_each(|at| bytes[at] ^= 0x10);
    let file = fs::File::options().write(true).open(path).expect("opened");
    std::io::Write::write_all(&mut &file, &bytes).expect("written in place");
    file
}

/// Searches, and checks the page unless the search fails because of the file at `path`. Returns whether it failed.
fn fails(server: &Server, oracle: &Oracle, query: &[f32], path: &Path) -> bool {
    let request = json!({ "threshold": 0.1, "limit": 100, "total": true });
    match server.try_search("db", &request, query) {
        Ok(page) => {
            let expected = oracle.ranking(&request, query);
            assert_same(&hits(&page), &expected.shown(100), &request);
            false
        }
        Err(error) => {
            let name = path.file_name().expect("a name").to_string_lossy();
            // Once the check of all records has found it, the database is refused.
            let is_refused = error.facts()["reason"] == "damaged";
            assert!(is_refused || error.to_string().contains(&*name), "{error}");
            true
        }
    }
}

/// The problem that the next start or its check finds.
fn problem_of(directory: &Path) -> Value {
    let server = Server::open(directory);
    let start = Instant::now();
    let problem = loop {
        let database = server.engine.progress()["databases"][0].clone();
        if database["checked"] == true || !database["problem"].is_null() {
            break database["problem"].clone();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{database}");
        std::thread::yield_now();
    };
    server.close();
    problem
}

#[test]
fn while_the_engine_runs_and_at_the_next_start() {
    let mut random = Random::new(61);
    let vectors = Vectors::new(DIMENSIONS, &mut random);
    let directory = tempfile::tempdir().expect("a directory");
    let oracle = written(directory.path(), &mut random, &vectors);
    let files = vector_files(directory.path());
    assert!(files.len() > 2, "{files:?}");
    let server = Server::open(directory.path());
    let mut failed = 0;
    let path = &files[0];
    let file = damage(path);
    for _ in 0..10 {
        failed += usize::from(fails(&server, &oracle, &vectors.draw(&mut random), path));
    }
    file.set_len(1_000).expect("cut");
    for _ in 0..10 {
        failed += usize::from(fails(&server, &oracle, &vectors.draw(&mut random), path));
    }
    assert!(failed > 5, "{failed}");
    server.close();
    for _ in 0..2 {
        let problem = problem_of(directory.path());
        assert_eq!(problem["code"], "damaged", "{problem}");
        let left = vector_files(directory.path());
        assert_eq!(left, files, "nothing is left of a start that failed");
    }
}

#[test]
fn of_a_file_that_is_missing() {
    let mut random = Random::new(62);
    let vectors = Vectors::new(DIMENSIONS, &mut random);
    let directory = tempfile::tempdir().expect("a directory");
    let oracle = written(directory.path(), &mut random, &vectors);
    let path = &vector_files(directory.path())[1];
    let kept = path.with_extension("kept");
    fs::rename(path, &kept).expect("renamed");
    assert_eq!(problem_of(directory.path())["code"], "damaged");
    fs::rename(&kept, path).expect("put back");
    assert_eq!(problem_of(directory.path()), Value::Null);
    let server = Server::open(directory.path());
    let request = json!({ "threshold": 0.1, "limit": 100, "total": true });
    server.check("db", &oracle, &request, &vectors.draw(&mut random));
    server.close();
}
