use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use cosift_engine::Limits;
use cosift_kernels::Layout;
use serde_json::{Value, json};

use crate::common::{
    Known, Oracle, Random, Server, Vectors, hits, in_full, random_boosts, random_data,
    random_filter, time,
};

const HOUR: i64 = 3_600_000;

/// Far longer than learning a basis takes.
const LIMIT: Duration = Duration::from_secs(300);

/// `count` records with ids from `first`. Every seventh has the vector of another record, so that scores tie.
fn records(first: u64, count: usize, vectors: &Vectors, random: &mut Random) -> Vec<Known> {
    let mut made: Vec<Known> = Vec::with_capacity(count);
    for id in first..first + count as u64 {
        let vector = match made.len() {
            len if len > 0 && random.chance(15) => made[random.below(len)].vector.clone(),
            _ => vectors.draw(random),
        };
        let at = random.below(600) as i64 * HOUR;
        made.push(Known::new(id, random_data(random), vector, at));
    }
    made
}

fn random_request(random: &mut Random) -> Value {
    let threshold = [0.0, 0.1, 0.2, 0.5, 0.7, 0.9, 1.0][random.below(7)];
    let mut request = json!({
        "form": random.pick(&["uuid", "integer", "both"]),
        "threshold": threshold,
        "limit": random.pick(&[1, 2, 10, 50, 100]),
        "total": random.chance(40),
    });
    if random.chance(60) {
        request["filter"] = random_filter(random, 3);
    }
    if random.chance(30) {
        request["boosts"] = random_boosts(random, 1.0);
    }
    if random.chance(30) {
        let column = random.pick(&["colour", "size", "mixed", "rare", "never seen"]);
        request["distinct"] = json!({ "column": column, "counts": true });
    }
    if random.chance(25) {
        let start = random.below(600) as i64 * HOUR;
        request["time_range"] = json!({ "start_time": time(start) });
        if random.chance(50) {
            request["time_range"]["end_time"] = json!(time((start + 100 * HOUR).min(700 * HOUR)));
        }
    }
    request
}

/// A random query, which is sometimes the vector of a record or its negation.
fn random_query(oracle: &Oracle, vectors: &Vectors, random: &mut Random) -> Vec<f32> {
    let any = |random: &mut Random| {
        let at = random.below(oracle.records.len());
        oracle
            .records
            .values()
            .nth(at)
            .expect("not empty")
            .vector
            .clone()
    };
    match random.below(4) {
        0 => any(random),
        1 => any(random).iter().map(|component| -component).collect(),
        _ => vectors.draw(random),
    }
}

fn check(server: &Server, oracle: &Oracle, vectors: &Vectors, random: &mut Random, rounds: usize) {
    for _ in 0..rounds {
        let request = random_request(random);
        let query = random_query(oracle, vectors, random);
        server.check("db", oracle, &request, &query);
    }
}

#[test]
fn in_few_dimensions() {
    let mut random = Random::new(1);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    assert_eq!(
        server.search("db", &json!({}), &[1.0; 8])["results"],
        json!([])
    );
    for first in [1, 2, 50, 3_000, 9_000] {
        let count = if first < 3_000 { first as usize } else { 4_500 };
        let new = records(first, count, &vectors, &mut random);
        server.put_known("db", &mut oracle, new);
        check(&server, &oracle, &vectors, &mut random, in_full(40, 20));
    }
    server.close();
}

#[test]
fn in_64_dimensions_with_changes_and_deletions() {
    let mut random = Random::new(2);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 64);
    let vectors = Vectors::new(64, &mut random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 10_000, &vectors, &mut random));
    for round in 0..6 {
        let changed = records(1 + round * 1_500, 1_500, &vectors, &mut random);
        server.put_known("db", &mut oracle, changed);
        let deleted: Vec<u64> = (0..400).map(|_| 1 + random.below(10_000) as u64).collect();
        let existing = deleted
            .iter()
            .filter(|id| oracle.records.remove(id).is_some())
            .count();
        assert_eq!(
            server
                .delete("db", &json!({ "ids": deleted }))
                .expect("deleted"),
            existing
        );
        check(&server, &oracle, &vectors, &mut random, in_full(25, 7));
    }
    server.close();
}

/// All blocks may be encoded again between two searches. Then another database is tried.
#[test]
fn before_while_and_after_blocks_are_encoded_again() {
    let mut random = Random::new(3);
    let met = (0..20).any(|_| meets_blocks_of_both_bases(&mut random));
    assert!(met, "no search met blocks of both bases");
}

fn meets_blocks_of_both_bases(random: &mut Random) -> bool {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 384);
    let vectors = Vectors::new(384, random);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, records(1, 8_000, &vectors, random));
    check(&server, &oracle, &vectors, random, in_full(20, 5));
    assert_eq!(
        rotated(&server, 384),
        0,
        "too few records to learn a basis from"
    );
    // From here on, the engine learns a basis and encodes block after block in it while searches run.
    server.put_known("db", &mut oracle, records(8_001, 6_000, &vectors, random));
    let mut mixed = false;
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < LIMIT, "the blocks are not encoded again");
        let coded = rotated(&server, 384);
        mixed |= coded > 0 && coded < oracle.records.len() as u64;
        // Write while old blocks are encoded again: the newest block then uses the new basis before the old blocks do.
        let one = records(oracle.records.len() as u64 + 1, 1, &vectors, random);
        server.put_known("db", &mut oracle, one);
        check(&server, &oracle, &vectors, random, 2);
        if coded > 0 && rotated(&server, 384) == oracle.records.len() as u64 {
            break;
        }
    }
    // New and changed records are encoded in the new basis at once.
    server.put_known("db", &mut oracle, records(13_000, 2_000, &vectors, random));
    assert_eq!(rotated(&server, 384), oracle.records.len() as u64);
    check(&server, &oracle, &vectors, random, in_full(60, 10));
    server.close();
    let server = Server::open(directory.path());
    assert_eq!(
        rotated(&server, 384),
        oracle.records.len() as u64,
        "the basis is kept"
    );
    check(&server, &oracle, &vectors, random, in_full(20, 5));
    server.close();
    without_and_with_low_nibbles(directory.path(), &oracle, &vectors, random);
    mixed
}

/// Low nibbles of codes are not in memory after a start, until searches have missed them, and never without a budget.
fn without_and_with_low_nibbles(
    directory: &Path,
    oracle: &Oracle,
    vectors: &Vectors,
    random: &mut Random,
) {
    let codes_bytes = |server: &Server| server.describe("db")["sizes"]["codes_bytes"].as_u64();
    let limits = Limits {
        vector_bytes: 0,
        ..Limits::default()
    };
    let server = Server::with_limits(directory, limits);
    let least = codes_bytes(&server).expect("a number of bytes");
    check(&server, oracle, vectors, random, in_full(60, 10));
    assert_eq!(codes_bytes(&server), Some(least));
    server.close();
    let server = Server::open(directory);
    assert_eq!(codes_bytes(&server), Some(least));
    let low = Layout::new(384, 64, 128).expect("valid bands").low_bytes() as u64;
    let all = least + low * oracle.records.len() as u64;
    let start = Instant::now();
    while codes_bytes(&server).is_none_or(|bytes| bytes < all) {
        assert!(start.elapsed() < LIMIT, "the low nibbles are not read");
        check(&server, oracle, vectors, random, 1);
    }
    check(&server, oracle, vectors, random, in_full(20, 5));
    server.close();
    let server = Server::open(directory);
    let unreadable = |report: Value| report.to_string().contains("on cannot be read");
    assert!(!unreadable(server.examine("db")));
    damage_codes(directory);
    assert!(unreadable(server.examine("db")), "the doctor reads codes");
    check(&server, oracle, vectors, random, in_full(20, 5));
    server.close();
}

/// Changes the last byte of each file of codes, which a checksum covers.
fn damage_codes(directory: &Path) {
    let files = fs::read_dir(directory.join("databases/db/derived")).expect("index files");
    for path in files.map(|entry| entry.expect("an entry").path()) {
        if path.extension().is_some_and(|kind| kind == "codes") {
            let mut bytes = fs::read(&path).expect("read");
            *bytes.last_mut().expect("not empty") ^= 1;
            fs::write(&path, bytes).expect("written");
        }
    }
}

#[test]
fn in_600_dimensions_before_and_after_a_basis_is_learned() {
    let mut random = Random::new(12);
    let vectors = Vectors::new(600, &mut random);
    in_600_dimensions(&mut random, &vectors, |first, count, random| {
        records(first, count, &vectors, random)
    });
}

/// Components of embeddings may be hundreds of times longer than the others. Here they are up to a million times longer, and
/// some vectors have no others.
#[test]
fn where_a_few_components_are_far_longer_than_the_others() {
    let mut random = Random::new(13);
    let vectors = Vectors::new(600, &mut random);
    in_600_dimensions(&mut random, &vectors, |first, count, random| {
        let longer = |known: Known| {
            let mut vector = known.vector;
            let factor = if known.id.is_multiple_of(5) {
                1e6
            } else {
                30.0
            };
            for at in [7, 300, 599] {
                vector[at] *= factor;
            }
            if known.id.is_multiple_of(50) {
                vector.fill(0.0);
                vector[known.id as usize % 600] = 1.0;
            }
            Known::new(known.id, known.data, vector, known.synced)
        };
        let made = records(first, count, &vectors, random);
        made.into_iter().map(longer).collect()
    });
}

/// `make` makes a number of records from an id on.
fn in_600_dimensions(
    random: &mut Random,
    vectors: &Vectors,
    make: impl Fn(u64, usize, &mut Random) -> Vec<Known>,
) {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 600);
    let mut oracle = Oracle::default();
    server.put_known("db", &mut oracle, make(1, 1_000, random));
    check(&server, &oracle, vectors, random, in_full(20, 5));
    assert_eq!(
        rotated(&server, 600),
        0,
        "too few records to learn a basis from"
    );
    server.put_known("db", &mut oracle, make(1_001, 7_400, random));
    let start = Instant::now();
    while rotated(&server, 600) < oracle.records.len() as u64 {
        assert!(start.elapsed().as_secs() < 120, "no basis is learned");
        check(&server, &oracle, vectors, random, 2);
    }
    check(&server, &oracle, vectors, random, in_full(30, 10));
    server.close();
    let server = Server::open(directory.path());
    let records = oracle.records.len() as u64;
    assert_eq!(rotated(&server, 600), records, "the basis is kept");
    check(&server, &oracle, vectors, random, in_full(20, 5));
    server.close();
}

#[test]
fn and_finds_every_copy_at_a_threshold_of_1() {
    let mut random = Random::new(4);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 384);
    let vectors = Vectors::new(384, &mut random);
    let records: Vec<Known> = (1..=300)
        .map(|id| Known::new(id, random_data(&mut random), vectors.draw(&mut random), 0))
        .collect();
    server.put("db", &records);
    for known in &records {
        let page = server.search("db", &json!({ "threshold": 1 }), &known.vector);
        assert_eq!(page["results"][0]["id"], json!(known.id), "{page}");
        assert_eq!(page["results"][0]["relevance_score"], json!(1));
    }
    server.close();
}

/// Records whose codes are in a learned basis.
fn rotated(server: &Server, dimensions: usize) -> u64 {
    let page = server.search(
        "db",
        &json!({ "explain": true, "threshold": 1, "limit": 1 }),
        &vec![1.0; dimensions],
    );
    page["explain"]["rotated"].as_u64().expect("a number")
}

/// The best records lie in the blocks that a scan reads first, and are too few to fill the page. The score-floor
/// estimate for the other blocks is then wrong, and must not exclude a match.
#[test]
fn where_the_first_blocks_mislead() {
    const BLOCK: usize = 4096;
    let mut random = Random::new(12);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let mut oracle = Oracle::default();
    for block in 0..8 {
        let records = (0..BLOCK).map(|at| {
            // In half of the blocks, twelve records have a very high score. In the others, eleven have a high score.
            let near = match at {
                0..12 if [0, 2, 5, 7].contains(&block) => 4.0,
                0..11 => 1.0,
                _ => 0.3,
            };
            let mut vector: Vec<f32> = (0..8).map(|_| random.normal()).collect();
            vector[0] = near + 0.1 * vector[0];
            Known::new(
                (block * BLOCK + at) as u64 + 1,
                Default::default(),
                vector,
                0,
            )
        });
        server.put_known("db", &mut oracle, records.collect());
    }
    let query = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for limit in [20, 47, 50, 60, 100] {
        let request = json!({ "form": "integer", "threshold": 0.1, "limit": limit });
        server.check("db", &oracle, &request, &query);
    }
}

/// The selection of a filter is cached. Records are inserted, changed and deleted between the searches of a filter.
#[test]
fn for_repeated_filters() {
    let mut random = Random::new(13);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 8);
    let vectors = Vectors::new(8, &mut random);
    let mut oracle = Oracle::default();
    let first = records(1, 9_000, &vectors, &mut random);
    server.put_known("db", &mut oracle, first);
    let filters: Vec<Value> = (0..6).map(|_| random_filter(&mut random, 3)).collect();
    for round in 0..60 {
        let mut request = random_request(&mut random);
        request["filter"] = filters[random.below(filters.len())].clone();
        let query = random_query(&oracle, &vectors, &mut random);
        server.check("db", &oracle, &request, &query);
        if round % 3 == 0 {
            // Some records are new, some replace others.
            let from = 1 + random.below(9_000) as u64;
            let changed = records(from, 300, &vectors, &mut random);
            server.put_known("db", &mut oracle, changed);
        }
        if round % 7 == 0 {
            let deleted: Vec<u64> = oracle
                .records
                .keys()
                .copied()
                .filter(|id| id % 97 == round)
                .collect();
            for id in &deleted {
                oracle.records.remove(id);
            }
            server
                .delete("db", &json!({ "form": "integer", "ids": deleted }))
                .expect("deleted");
        }
    }
    server.close();
}

#[test]
fn on_a_page_by_a_cursor_that_no_cache_knows() {
    let mut random = Random::new(21);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 32);
    let vectors = Vectors::new(32, &mut random);
    let mut oracle = Oracle::default();
    // So many that a search estimates the lowest score of its page from the first blocks.
    let made = records(1, 36_000, &vectors, &mut random);
    server.put_known("db", &mut oracle, made);
    for round in 0..in_full(6, 3) {
        let query = random_query(&oracle, &vectors, &mut random);
        let mut request = json!({ "form": "integer", "threshold": 0.0 });
        if round % 3 == 2 {
            request["filter"] = random_filter(&mut random, 2);
        }
        let expected = oracle.search(&request, &query);
        for depth in [1, 50, 1_000, 5_000] {
            request["limit"] = json!(depth);
            let before = server.search("db", &request, &query);
            let mut page = request.clone();
            page["limit"] = json!(50);
            page["cursor"] = before["pagination"]["next_cursor"].clone();
            if page["cursor"].is_null() {
                continue;
            }
            let found = hits(&server.search("db", &page, &query));
            assert_eq!(
                found,
                expected[depth..expected.len().min(depth + 50)],
                "{page}"
            );
        }
    }
}
