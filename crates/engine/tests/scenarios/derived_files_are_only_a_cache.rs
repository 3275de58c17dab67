use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::common::{Known, Oracle, Random, Server, Vectors, random_data};

fn index_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory.join("databases/db/derived")).expect("index files");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    paths
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("read");
    let at = at % bytes.len();
    bytes[at] ^= 1 << (at % 8);
    fs::write(path, bytes).expect("written");
}

/// Flips bits all over the vectors of a block, which are read when a record is scored, in place.
fn damage_vectors(path: &Path) -> fs::File {
    let mut bytes = fs::read(path).expect("read");
    let end = bytes.len();
    (end / 2..end).step_by(97).for_each(|at| bytes[at] ^= 0x10);
    let file = fs::File::options().write(true).open(path).expect("opened");
    std::io::Write::write_all(&mut &file, &bytes).expect("written in place");
    file
}

fn is_of_rows(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "rows")
}

#[test]
fn whatever_happens_to_them() {
    let mut random = Random::new(60);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(8, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 8);
    let records = (1..=9_500).map(|id| {
        Known::new(
            id,
            random_data(&mut random),
            vectors.draw(&mut random),
            id as i64,
        )
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    server.close();
    for round in 0..30 {
        let files = index_files(directory.path());
        assert!(
            files.len() >= 8,
            "blocks, codes, a basis and the snapshot are saved again: {files:?}"
        );
        let path = if round % 4 == 0 {
            &files[files.len() - 1]
        } else {
            random.pick(&files)
        };
        match round % 5 {
            0 => fs::remove_file(path).expect("removed"),
            1 => {
                let length = fs::metadata(path).expect("a file").len();
                let file = fs::File::options().write(true).open(path).expect("opened");
                file.set_len(random.below(length as usize) as u64)
                    .expect("cut");
            }
            2 => fs::write(path, b"").expect("emptied"),
            _ => flip(path, random.next() as usize >> 1),
        }
        let server = Server::open(directory.path());
        let request = json!({ "threshold": 0.2, "limit": 100, "total": true, "form": "uuid" });
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
        // A write afterwards, so that the next start must not read the damaged snapshot.
        let id = 1 + random.below(9_500) as u64;
        server.put_known(
            "db",
            &mut oracle,
            vec![Known::new(
                id,
                random_data(&mut random),
                vectors.draw(&mut random),
                round,
            )],
        );
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
        server.close();
    }
    fs::remove_dir_all(directory.path().join("databases/db/derived")).expect("removed");
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
fn also_while_the_engine_runs() {
    let mut random = Random::new(61);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(64, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 64);
    let records = (1..=9_000).map(|id| {
        Known::new(
            id,
            random_data(&mut random),
            vectors.draw(&mut random),
            id as i64,
        )
    });
    let records = records.collect();
    server.put_known("db", &mut oracle, records);
    let request = json!({ "threshold": 0.1, "limit": 100, "total": true });
    for path in index_files(directory.path())
        .iter()
        .filter(|path| is_of_rows(path))
    {
        let file = damage_vectors(path);
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
        file.set_len(1_000).expect("cut");
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
        fs::remove_file(path).expect("removed");
        server.check("db", &oracle, &request, &vectors.draw(&mut random));
    }
    server.close();
    let server = Server::open(directory.path());
    server.check("db", &oracle, &request, &vectors.draw(&mut random));
    server.close();
}

#[test]
fn also_where_few_vectors_are_read_at_once() {
    let mut random = Random::new(62);
    let directory = tempfile::tempdir().expect("a directory");
    let mut oracle = Oracle::default();
    let vectors = Vectors::new(64, &mut random);
    let server = Server::open(directory.path());
    server.create("db", 64);
    let record = |id| Known::new(id, random_data(&mut random), vectors.draw(&mut random), 0);
    server.put_known("db", &mut oracle, (1..=300).map(record).collect());
    server.close();
    // After a restart, the first search that reads a vector reads all of its block.
    let server = Server::open(directory.path());
    let files = index_files(directory.path());
    let rows: Vec<&PathBuf> = files.iter().filter(|path| is_of_rows(path)).collect();
    assert_eq!(rows.len(), 1);
    let file = damage_vectors(rows[0]);
    let request = json!({ "threshold": 0, "limit": 100 });
    server.check("db", &oracle, &request, &vectors.draw(&mut random));
    file.set_len(1_000).expect("cut");
    server.check("db", &oracle, &request, &vectors.draw(&mut random));
    server.close();
    let server = Server::open(directory.path());
    server.check("db", &oracle, &request, &vectors.draw(&mut random));
    server.close();
}
