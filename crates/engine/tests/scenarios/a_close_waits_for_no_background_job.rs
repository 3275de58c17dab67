use std::time::{Duration, Instant};

use serde_json::Map;

use crate::common::{Known, Random, Server};

/// Learning a basis of this many dimensions, and encoding all records in it, takes seconds.
const DIMENSIONS: usize = 4096;

/// A close saves several hundred megabytes. It does not wait for the basis.
const CLOSED: Duration = Duration::from_secs(120);

fn closed_in_time(server: Server) {
    let start = Instant::now();
    server.close();
    let took = start.elapsed();
    assert!(took < CLOSED, "{took:?}");
}

#[test]
fn however_many_dimensions_the_vectors_have() {
    let mut random = Random::new(95);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", DIMENSIONS);
    // The engine learns a basis once a database has 8,192 records.
    for first in (1..8_400).step_by(400) {
        let known = |id| {
            let vector = (0..DIMENSIONS).map(|_| random.normal()).collect();
            Known::new(id, Map::new(), vector, 0)
        };
        let batch: Vec<Known> = (first..first + 400).map(known).collect();
        server.put_batch("db", &batch).wait().expect("committed");
    }
    closed_in_time(server);
    // The engine starts learning the basis again after the next start.
    let server = Server::open(directory.path());
    assert_eq!(server.state("db")["records"], 8_400);
    closed_in_time(server);
}
