//! All databases share a bounded number of threads. The test has its own binary because it counts the
//! threads of its process.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cosift_engine::{Done, Embedded, Engine, Error, Format, Limits};
use serde_json::{Value, json};

const DATABASES: usize = 50;
/// Far longer than a thread takes to end.
const LIMIT: Duration = Duration::from_secs(60);

/// How long the system may list a thread that has ended. An idle writer thread lives several times as long.
const LISTED: Duration = Duration::from_secs(2);

/// The threads of all writers, and of all background jobs.
const MAX_WRITERS: usize = 16;
const MAX_JOBS: usize = 2;

fn wait<T: Send + 'static>(call: impl FnOnce(Done<T>)) -> Result<T, Error> {
    let (sender, receiver) = channel();
    call(Box::new(move |result| {
        sender.send(result).expect("the caller waits")
    }));
    receiver.recv().expect("every call is answered")
}

fn open(directory: &Path) -> Arc<Engine> {
    let engine = Engine::open(directory, Some(1), Limits::default()).expect("nobody else has it");
    wait(|done| engine.load(done)).expect("loaded");
    engine
}

/// The number of threads of the process. A thread counts from its start on; its name is set only once it runs.
fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("listed").count()
}

/// Waits until the process has `expected` threads: the system lists a thread for a moment after it was joined.
fn wait_for_threads(expected: usize) {
    wait_until_threads(LIMIT, |threads| threads == expected);
}

/// Checks that the process has at most `max` threads.
fn check_threads(max: usize) {
    wait_until_threads(LISTED, |threads| threads <= max);
}

fn wait_until_threads(limit: Duration, is_expected: impl Fn(usize) -> bool) {
    let start = Instant::now();
    while !is_expected(threads()) {
        assert!(start.elapsed() < limit, "{} threads", threads());
        std::thread::yield_now();
    }
}

fn fill(engine: &Arc<Engine>, id: &str, batches: u64) {
    let settings = json!({ "model": null, "dimensions": 2 }).to_string();
    wait(|done| engine.create_database(id.into(), settings, done)).expect("created");
    let record = |id: u64| json!({ "id": id, "data": { "n": id }, "vector": [1, id] });
    for batch in 0..batches {
        let records: Vec<Value> = (1..=1_000).map(|id| record(batch * 1_000 + id)).collect();
        let body = json!({ "records": records }).to_string().into_bytes();
        let prepared =
            wait(|done| engine.prepare(id, body, Vec::new(), Format::Batch, done)).expect("good");
        wait(|done| engine.commit(id, Arc::new(prepared), Embedded::default(), done))
            .expect("committed");
    }
}

fn all_are_checked(engine: &Engine) -> bool {
    let progress = engine.progress();
    let databases = progress["databases"].as_array().expect("databases");
    assert_eq!(databases.len(), DATABASES);
    databases.iter().all(|database| database["checked"] == true)
}

#[test]
fn and_every_database_is_checked_after_a_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let without = threads();
    let engine = open(directory.path());
    // More records than a check reads in one step.
    fill(&engine, "db0", 5);
    let with_one = threads();
    for number in 1..DATABASES {
        fill(&engine, &format!("db{number}"), 1);
    }
    // The first database has started one thread of the writers and one of the jobs, at least.
    let max = with_one + (MAX_WRITERS - 1) + (MAX_JOBS - 1);
    check_threads(max);
    engine.close();
    wait_for_threads(without);

    // Every database now has its records checked.
    let engine = open(directory.path());
    while !all_are_checked(&engine) {
        check_threads(max);
    }
    engine.close();
    let events = engine.take_events().to_json();
    assert_eq!(events["events"], json!([]));
}
