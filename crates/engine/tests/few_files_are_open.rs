//! A process that may open 1,024 files serves any number of databases. The test has its own binary because it limits the
//! files of its process. `COSIFT_DATABASES=5000` makes the long run.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

use cosift_engine::{Done, Embedded, Engine, Error, Format, Limits, StopFlag};
use rustix::process::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

/// Without the bound, this number would need more than 1,024 files.
const DATABASES: usize = 200;
const MAX_FILES: u64 = 1_024;
/// The files and connections of the clients of a service need the rest.
const MAX_OPEN: usize = 700;

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

fn open_files() -> usize {
    fs::read_dir("/proc/self/fd").expect("listed").count()
}

fn put(engine: &Arc<Engine>, database: &str, id: u64) {
    let record = json!({ "id": id, "data": { "n": id }, "vector": [1, id] });
    let body = json!({ "records": [record] }).to_string().into_bytes();
    let prepared =
        wait(|done| engine.prepare(database, body, Vec::new(), Format::Batch, done)).expect("good");
    wait(|done| engine.commit(database, Arc::new(prepared), Embedded::default(), done))
        .expect("committed");
}

/// The ids of all records, by a search.
fn found(engine: &Arc<Engine>, database: &str) -> Vec<u64> {
    let request = json!({ "form": "integer", "threshold": 0, "limit": 10 }).to_string();
    let stop = StopFlag::default();
    let page = wait(|done| engine.search(database, &request, &[1.0_f32, 0.0], stop, done));
    let page: Value = serde_json::from_slice(&page.expect("found").body).expect("JSON");
    let results = page["results"].as_array().expect("results");
    let ids = results
        .iter()
        .map(|result| result["id"].as_u64().expect("an id"));
    ids.collect()
}

#[test]
fn whatever_the_number_of_databases() {
    let number = std::env::var("COSIFT_DATABASES").map_or(DATABASES, |number| {
        number.parse().expect("a number of databases")
    });
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(MAX_FILES);
    setrlimit(Resource::Nofile, limit).expect("a lower limit is allowed");
    let names: Vec<String> = (0..number).map(|number| format!("db{number}")).collect();
    let directory = tempfile::tempdir().expect("a directory");
    let engine = open(directory.path());
    let check = |when| {
        let open = open_files();
        assert!(open <= MAX_OPEN, "{open} files are open {when}");
    };
    let settings = json!({ "model": null, "dimensions": 2 }).to_string();
    for name in &names {
        wait(|done| engine.create_database(name.clone(), settings.clone(), done)).expect("made");
        put(&engine, name, 1);
        put(&engine, name, 2);
        check("while databases are made");
    }
    for name in &names {
        assert_eq!(found(&engine, name), [1, 2], "{name}");
        check("while databases are searched");
    }
    engine.close();

    let engine = open(directory.path());
    check("after a start");
    for name in &names {
        put(&engine, name, 3);
        assert_eq!(found(&engine, name), [1, 2, 3], "{name}");
        check("while databases are checked, written and searched");
    }
    let is_checked = |database: &Value| database["checked"] == true;
    while !engine.progress()["databases"]
        .as_array()
        .is_some_and(|databases| databases.iter().all(is_checked))
    {
        check("while databases are checked");
    }
    let listed = wait(|done| engine.list_databases(done)).expect("listed");
    let listed: Value = serde_json::from_slice(&listed).expect("JSON");
    assert_eq!(listed.as_array().map(Vec::len), Some(number));

    let copies = directory.path().join("copies");
    fs::create_dir(&copies).expect("made");
    let backup = wait(|done| engine.begin_backup(None, done)).expect("begun");
    check("when a backup begins");
    let databases = backup.databases();
    // Written after the moment of the backup, and so not part of it. The writer may pause until its copy begins.
    let (sender, written) = channel();
    for name in &names {
        let record = json!({ "id": 4, "data": {}, "vector": [1, 4] });
        let body = json!({ "records": [record] }).to_string().into_bytes();
        let prepared = wait(|done| engine.prepare(name, body, Vec::new(), Format::Batch, done));
        let sender = sender.clone();
        let done = Box::new(move |result| sender.send(result).expect("the test waits"));
        let prepared = Arc::new(prepared.expect("good"));
        engine.commit(name, prepared, Embedded::default(), done);
    }
    for at in 0..number {
        let path = copies.join(databases[at]["id"].as_str().expect("an id"));
        wait(|done| backup.copy(&engine, at, path, StopFlag::default(), done)).expect("copied");
        check("during a backup");
    }
    for _ in &names {
        let written = written.recv().expect("every call is answered");
        assert_eq!(written.expect("committed").results.len(), 1);
    }
    for (at, database) in databases.as_array().expect("databases").iter().enumerate() {
        assert_eq!(database["records"], 3, "database {at}");
        let id = database["id"].as_str().expect("an id");
        assert!(fs::metadata(copies.join(id)).expect("a copy").len() > 0);
    }
    drop(backup);
    for name in &names {
        assert_eq!(found(&engine, name), [1, 2, 3, 4], "{name}");
    }
    engine.close();
    let events = engine.take_events().to_json();
    let mut events = events["events"].as_array().expect("events").clone();
    // All databases are written to at once, and a disk may be slow.
    events.retain(|event| event["code"] != "slow_commit");
    assert_eq!(events, [] as [Value; 0]);
    fs::remove_dir_all(&copies).expect("removed");

    // The names of the logs: a close leaves none.
    for name in &names {
        let files = directory.path().join("databases").join(name);
        assert!(!files.join("records.sqlite-wal").exists(), "{name}");
    }
}
