use std::process::Command;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::common::{Known, Random, Server, Vectors, child, skipped};

/// Environment variables that pass the data directory and the number of threads to the child process.
const DIRECTORY: &str = "COSIFT_TEST_DIRECTORY";
const THREADS: &str = "COSIFT_TEST_THREADS";

fn vectors(random: &mut Random) -> Vectors {
    Vectors::new(384, random)
}

/// The scores of all records to a few queries, by search alone, with filters, and a page at a time.
fn all_scores(server: &Server) -> Vec<String> {
    let mut random = Random::new(91);
    let drawn = vectors(&mut random);
    let mut lines = Vec::new();
    for _ in 0..3 {
        let query = drawn.draw(&mut random);
        let filter = json!({ "condition": "AND", "rules": [{ "column": "third", "operator": "equals", "value": true }] });
        for (filter, limit, total) in [
            (Value::Null, 10_000, false),
            (Value::Null, 10_000, true),
            (filter.clone(), 10_000, false),
            (Value::Null, 700, false),
        ] {
            let mut request =
                json!({ "threshold": 0.25, "limit": limit, "total": total, "filter": filter });
            let mut scores = Map::new();
            loop {
                let page = server.search("db", &request, &query);
                for hit in page["results"].as_array().expect("results") {
                    scores.insert(hit["id"].to_string(), hit["relevance_score"].clone());
                }
                match page["pagination"]["next_cursor"].as_str() {
                    Some(cursor) => request["cursor"] = json!(cursor),
                    None => break,
                }
            }
            let filtered = !request["filter"].is_null();
            lines.push(format!("{filtered} {}", Value::Object(scores)));
        }
    }
    // All searches without a filter agree, whatever their plan.
    for same in lines.chunks(4) {
        assert_eq!((&same[0], &same[0]), (&same[1], &same[3]));
    }
    lines
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_process() {
    let directory = std::env::var_os(DIRECTORY).expect("a directory");
    let threads = std::env::var(THREADS)
        .expect("a number")
        .parse()
        .expect("a number");
    let server = Server::with_threads(directory.as_ref(), threads);
    println!("kernel {}", cosift_engine::kernel_name());
    for line in all_scores(&server) {
        println!("scores {line}");
    }
    server.close();
}

fn run(directory: &std::path::Path, kernel: &str, threads: usize) -> Vec<String> {
    let mut command: Command = child("scores_are_canonical::child_process");
    let output = command
        .env(DIRECTORY, directory)
        .env(THREADS, threads.to_string())
        .env("COSIFT_KERNEL", kernel)
        .output();
    let output = output.expect("the child runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let text = String::from_utf8(output.stdout).expect("text");
    let scores = text.lines().filter_map(|line| {
        line.split_once("scores ")
            .map(|(_, scores)| scores.to_owned())
    });
    let scores: Vec<String> = scores.collect();
    assert_eq!(scores.len(), 12, "{text}");
    let used = text
        .lines()
        .find_map(|line| line.split_once("kernel ").map(|(_, name)| name));
    if !kernel.is_empty() && used != Some(kernel) {
        skipped(&format!("this CPU lacks the kernel {kernel}"));
    }
    scores
}

#[test]
fn on_any_kernel_threads_plan_and_basis() {
    let mut random = Random::new(90);
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 384);
    let drawn = vectors(&mut random);
    let records = |first: u64, count: u64, random: &mut Random| -> Vec<Known> {
        (first..first + count)
            .map(|id| {
                let data = [("third".to_owned(), json!(id % 3 == 0))]
                    .into_iter()
                    .collect();
                Known::new(id, data, drawn.draw(random), 0)
            })
            .collect()
    };
    // All runs must give the same scores, several in the first basis and the last ones in a learned basis.
    server.put("db", &records(1, 8_000, &mut random));
    let before = all_scores(&server);
    server.close();
    assert_eq!(run(directory.path(), "scalar", 1), before);

    let server = Server::open(directory.path());
    let more = records(20_001, 1_000, &mut random);
    server.put("db", &more);
    let explain = json!({ "threshold": 1, "explain": true });
    let start = Instant::now();
    while server.search("db", &explain, &more[0].vector)["explain"]["rotated"] != json!(9_000) {
        assert!(
            start.elapsed().as_secs() < 60,
            "the blocks are not encoded again"
        );
    }
    let ids: Vec<u64> = more.iter().map(|known| known.id).collect();
    assert_eq!(
        server
            .delete("db", &json!({ "ids": ids }))
            .expect("deleted"),
        1_000
    );
    assert_eq!(all_scores(&server), before, "in the learned basis");
    server.close();
    // A kernel that this CPU lacks falls back to the best available kernel; that run is reported as skipped.
    for (kernel, threads) in [
        ("scalar", 2),
        ("avx2", 1),
        ("avx-vnni", 2),
        ("avx512-vnni", 8),
        ("amx-int8", 1),
        ("", 8),
    ] {
        assert_eq!(
            run(directory.path(), kernel, threads),
            before,
            "{kernel} on {threads} threads"
        );
    }
}
