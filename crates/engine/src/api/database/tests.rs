use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::disk::{DataLock, RealDisk};
use crate::error::Done;
use crate::record::RecordRow;
use crate::snapshot::{Coding, Published, Snapshot};
use crate::write::{Command, Deletion, DeletionMatches, Format, replay};
use crate::{Committed, Embedded, Engine, EventCode, Limits, StopFlag};

mod drops;
mod followed;

fn call<T: Send + 'static>(start: impl FnOnce(Done<T>)) -> Receiver<Result<T, Error>> {
    let (sender, outcome) = channel();
    start(Box::new(move |result| drop(sender.send(result))));
    outcome
}

fn wait<T: Send + 'static>(start: impl FnOnce(Done<T>)) -> Result<T, Error> {
    call(start).recv().expect("every call is answered")
}

fn open(directory: &Path) -> Arc<Engine> {
    let engine =
        Engine::open(directory, Some(2), Limits::default()).expect("the directory is free");
    wait(|done| engine.load(done)).expect("loaded");
    engine
}

/// An engine with a database `db` of two dimensions.
fn with_database(directory: &Path) -> Arc<Engine> {
    let engine = open(directory);
    let settings = json!({ "model": null, "dimensions": 2 }).to_string();
    wait(|done| engine.create_database("db".into(), settings, done)).expect("created");
    engine
}

fn put(engine: &Arc<Engine>, ids: std::ops::Range<u64>, data: &Value) -> Result<Committed, Error> {
    let records: Vec<Value> = ids
        .map(|id| json!({ "id": id, "data": data, "vector": [1, id] }))
        .collect();
    let body = json!({ "records": records }).to_string().into_bytes();
    let prepared = wait(|done| engine.prepare("db", body, Vec::new(), Format::Batch, done))?;
    wait(|done| engine.commit("db", Arc::new(prepared), Embedded::default(), done))
}

fn read(engine: &Arc<Engine>, id: u64) -> Result<Value, Error> {
    let request = json!({ "form": "integer" }).to_string();
    let record = wait(|done| engine.record("db", id.to_string(), request, done))?;
    Ok(serde_json::from_slice(&record).expect("JSON"))
}

#[test]
fn a_panic_after_a_commit_loses_none_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..2, &json!({ "name": "first" })).expect("committed");
    engine.close();

    let engine = open(directory.path());
    let database = engine.database("db").expect("it is there");
    database.shared.panic_after_commit.store(true, Relaxed);
    let error = put(&engine, 2..3, &json!({ "name": "second" })).expect_err("a panic");
    assert_eq!(error.code(), "internal");
    database.shared.panic_after_commit.store(false, Relaxed);
    let error = put(&engine, 3..4, &json!({ "name": "third" })).expect_err("no more writes");
    assert_eq!(error.code(), "store_failed");
    assert!(!database.is_writable());
    assert_eq!(
        read(&engine, 1).expect("reads continue")["data"]["name"],
        "first"
    );
    let codes: Vec<EventCode> = engine
        .take_events()
        .events
        .iter()
        .map(|event| event.code)
        .collect();
    assert_eq!(codes, [EventCode::Panic, EventCode::WritesRefused]);
    drop(database);
    engine.close();

    let engine = open(directory.path());
    assert_eq!(
        read(&engine, 2).expect("it was committed")["data"]["name"],
        "second"
    );
    assert_eq!(
        engine
            .database("db")
            .expect("it is there")
            .snapshot()
            .records(),
        2
    );
    put(&engine, 2..4, &json!({ "name": "third" })).expect("writes continue");
    engine.close();
}

#[test]
fn row_numbers_do_not_run_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    for start in (1..5_001).step_by(1000) {
        put(&engine, start..start + 1000, &json!({ "round": 0 })).expect("committed");
    }
    // The writer executes this deletion after the cleanup of the last commit. It makes no further changes on its own.
    let request = json!({ "ids": [9_999] }).to_string();
    assert_eq!(
        wait(|done| engine.delete("db", &request, StopFlag::default(), done)).expect("deleted"),
        0
    );
    let database = engine.database("db").expect("it is there");
    let deletion =
        json!({ "filter": { "rules": [{ "column": "round", "operator": "equals", "value": 0 }] } });
    let deletion = Deletion::parse(&deletion.to_string(), &Limits::default()).expect("valid");
    let found = DeletionMatches::untested(deletion, StopFlag::default()).bind(database.published());
    let found = found.test().expect("nobody stops it");
    assert_eq!(found.records().count(), 5_000);
    // The state after four billion changed records: with ten more rows, the numbers wrap.
    database.published().update(|published| {
        let snapshot = published.snapshot.renumbered(RecordRow(u32::MAX - 5_010));
        *published = Published::of(snapshot);
    });
    let old = database.snapshot();
    for round in 1..4 {
        let committed = put(&engine, 1..21, &json!({ "round": round })).expect("committed");
        assert_eq!(committed.count(crate::Status::Changed), 20);
        assert!(database.snapshot().next_row() < RecordRow(10_000));
    }
    assert_eq!(old.records(), 5_000, "the old snapshot stays readable");
    assert_eq!(database.snapshot().records(), 5_000);
    for id in [1, 20, 21, 4_096, 4_097, 5_000] {
        let round = if id < 21 { 3 } else { 0 };
        assert_eq!(
            read(&engine, id).expect("it is there")["data"]["round"],
            round,
            "{id}"
        );
    }
    // Matches with old row numbers are looked up again.
    let found = found
        .bind(database.published())
        .test()
        .expect("nobody stops it");
    let ids: Vec<u64> = found.records().map(|(id, _)| id.0).collect();
    assert_eq!(ids.len(), 4_980);
    assert!(ids.iter().all(|&id| id > 20));
    drop(database);
    engine.close();
    let engine = open(directory.path());
    assert_eq!(read(&engine, 20).expect("it is there")["data"]["round"], 3);
    engine.close();
}

#[test]
fn an_engine_that_is_dropped_without_close_ends_its_threads_before_it_releases_the_directory() {
    for by_a_worker in [false, true] {
        let directory = tempfile::tempdir().expect("a directory");
        let engine = with_database(directory.path());
        put(&engine, 1..20, &json!({})).expect("committed");
        let shared = {
            let database = engine.database("db").expect("it is there");
            Arc::downgrade(&database.shared)
        };
        if by_a_worker {
            // A running call holds the last reference to the engine, so a worker thread drops the engine.
            let (resume, resumed) = channel::<()>();
            let response = call(|done| {
                engine.with("db", done, move |_, _| {
                    let _ = resumed.recv();
                    Ok(())
                });
            });
            drop(engine);
            drop(resume);
            response.recv().expect("answered").expect("done");
        } else {
            drop(engine);
        }
        assert_eq!(shared.strong_count(), 0, "the writer has ended");
        drop(DataLock::acquire(&RealDisk, directory.path()).expect("the directory is free"));
        let engine = open(directory.path());
        assert_eq!(
            engine
                .database("db")
                .expect("it is there")
                .snapshot()
                .records(),
            19
        );
        engine.close();
    }
}

#[test]
fn reads_wait_for_no_creation_or_drop() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..2, &json!({ "name": "first" })).expect("committed");
    // A drop that waits for the writer of its database holds the same lock.
    let files = engine.catalog.lock_files();
    let created: Vec<_> = (0..8)
        .map(|at| {
            let settings = json!({ "model": null, "dimensions": 2 }).to_string();
            call(|done| engine.create_database(format!("other-{at}"), settings, done))
        })
        .collect();
    assert_eq!(read(&engine, 1).expect("read")["id"], 1);
    drop(files);
    for created in created {
        created.recv().expect("answered").expect("created");
    }
    engine.close();
}

#[test]
fn a_write_behind_the_close_of_its_database_no_longer_counts_as_waiting() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    let database = engine.database("db").expect("it is there");
    // The writer waits in the reply of the deletion until the close and another deletion are in its queue.
    let (go_on, gate) = channel::<()>();
    let (replying, reached) = channel();
    let nothing = json!({ "ids": [9] }).to_string();
    let stall: Done<usize> = Box::new(move |_| {
        replying.send(()).expect("the test waits");
        let _ = gate.recv();
    });
    engine.delete("db", &nothing, StopFlag::default(), stall);
    reached.recv().expect("the writer replies");
    database.send(Command::Close);
    let behind = call(|done| engine.delete("db", &nothing, StopFlag::default(), done));
    assert_eq!(engine.metrics().writes_waiting, 1);
    drop(go_on);
    let refused = behind.recv().expect("every call is answered");
    assert!(matches!(refused, Err(Error::Closed)), "{refused:?}");
    assert_eq!(engine.metrics().writes_waiting, 0);
    drop(database);
    engine.close();
}

#[test]
fn a_database_without_records_closes_without_a_failure() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let engine = open(directory.path());
    let settings = json!({ "dimensions": 2 }).to_string();
    wait(|done| engine.create_database("empty".into(), settings, done)).expect("created");
    engine.close();
    assert!(engine.take_events().events.is_empty(), "nothing went wrong");
}

#[test]
fn a_load_reports_its_progress_and_ends_when_told_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..101, &json!({})).expect("committed");
    let database = engine.database("db").expect("it is there");
    let load = |progress: &dyn Fn(usize) -> bool| {
        let coding = Coding::untrained(2);
        let nothing = Snapshot::empty();
        let reader = &database.reader;
        reader.at_one_commit(|moment| replay(&coding, None, nothing, moment, progress))
    };
    let told = RefCell::new(Vec::new());
    load(&|records| {
        told.borrow_mut().push(records);
        true
    })
    .expect("loaded");
    assert_eq!(told.take(), (0..=100).collect::<Vec<usize>>());
    assert!(matches!(load(&|records| records < 50), Err(Error::Closed)));
}

#[test]
fn a_writer_with_nothing_to_publish_waits_for_no_reader() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..2, &json!({})).expect("committed");
    let database = engine.database("db").expect("it is there");
    let reading = database.published().read();
    // The second call is answered after all that the writer does because of the first.
    for _ in 0..2 {
        let request = json!({ "form": "integer", "ids": [7] }).to_string();
        let outcome = call(|done| engine.delete("db", &request, StopFlag::default(), done));
        let deleted = outcome.recv_timeout(Duration::from_secs(60));
        let deleted = deleted.expect("the writer does not wait for the reader");
        assert_eq!(deleted.expect("deleted"), 0);
    }
    drop(reading);
}
