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
