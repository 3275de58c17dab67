//! Background jobs of all databases share a fixed number of threads. The test has its own binary because it counts the
//! threads of its process.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

use cosift_engine::{Done, Embedded, Engine, Error, Format, Limits};
use serde_json::{Value, json};

const DATABASES: usize = 50;

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

/// Threads of the engine by kind: those of the jobs, the writers, and all others.
fn threads() -> [usize; 3] {
    let mut counts = [0; 3];
    for task in fs::read_dir("/proc/self/task").expect("listed") {
        // A thread may end while the list is read.
        let Ok(name) = fs::read_to_string(task.expect("an entry").path().join("comm")) else {
            continue;
        };
        if name.starts_with("cosift-job") {
            counts[0] += 1;
        } else if name.starts_with("cosift-write") {
            counts[1] += 1;
        } else if name.starts_with("cosift-") {
            counts[2] += 1;
        }
    }
    counts
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
    let engine = open(directory.path());
    // More records than a check reads in one step.
    fill(&engine, "db0", 5);
    let [jobs, writers, others] = threads();
    assert_eq!((jobs, writers), (2, 1));
    for number in 1..DATABASES {
        fill(&engine, &format!("db{number}"), 1);
    }
    assert_eq!(threads(), [jobs, DATABASES, others]);
    engine.close();
    assert_eq!(threads(), [0, 0, 0], "a close ends all threads");

    // Every database now has its records checked.
    let engine = open(directory.path());
    while !all_are_checked(&engine) {
        assert_eq!(threads(), [jobs, DATABASES, others]);
    }
    engine.close();
    let events = engine.take_events().to_json();
    assert_eq!(events["events"], json!([]));
}
