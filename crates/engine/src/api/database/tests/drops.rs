//! Calls that run while their database is dropped.

use std::ops::ControlFlow;

use super::*;
use crate::api::changes::Changes;
use crate::store::StoreError;

#[test]
fn a_call_that_a_drop_overtakes_says_that_there_is_no_such_database() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..2, &json!({})).expect("committed");
    // A call that began before the drop still has the database.
    let database = engine.database("db").expect("it is there");
    let refused = || {
        let request = json!({ "form": "integer" }).to_string();
        let changes = Changes::parse(&request, &engine.limits).expect("a request");
        let read = changes.run(&database, &StopFlag::default());
        let checked = database.reader.begin_check(0).map(|_| ());
        let written = wait(|done| {
            let settings = Box::new(database.settings.clone());
            database.send(Command::Configure(settings, database.reply(done)));
        });
        [
            read.expect_err("it was dropped").code(),
            checked.expect_err("it was dropped").code(),
            written.expect_err("it was dropped").code(),
        ]
    };
    wait(|done| engine.drop_database("db".into(), done)).expect("dropped");
    assert_eq!(refused(), ["database_not_found"; 3]);
    // The path leads to the file of another database now.
    let settings = json!({ "model": null, "dimensions": 2 }).to_string();
    wait(|done| engine.create_database("db".into(), settings, done)).expect("created");
    assert_eq!(refused(), ["database_not_found"; 3]);
    engine.close();
}

#[test]
fn a_read_that_runs_when_its_database_is_dropped_reads_all_of_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    put(&engine, 1..4, &json!({})).expect("committed");
    let database = engine.database("db").expect("it is there");
    let mut ids = Vec::new();
    let read = database.reader.load(0, |record| {
        if ids.is_empty() {
            wait(|done| engine.drop_database("db".into(), done)).expect("dropped");
        }
        ids.push(record.header.id);
        ControlFlow::Continue(())
    });
    read.expect("the connection was open");
    assert_eq!(ids, [1, 2, 3]);
    assert!(matches!(database.reader.state(), Err(StoreError::Dropped)));
    engine.close();
}

#[test]
fn an_examination_that_a_drop_overtakes_reports_no_damage() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    let database = engine.database("db").expect("it is there");
    let examine = |examined| {
        let report = b"damaged".to_vec();
        wait(|done| engine.unless_dropped("db".into(), examined, done)(Ok(report)))
    };
    assert!(examine(Some(Arc::clone(&database))).is_ok());
    wait(|done| engine.drop_database("db".into(), done)).expect("dropped");
    for examined in [Some(database), None] {
        let refused = examine(examined);
        assert!(
            matches!(refused, Err(Error::DatabaseNotFound { .. })),
            "{refused:?}"
        );
    }
    engine.close();
}

#[test]
fn no_reembedding_begins_while_its_database_is_dropped() {
    let directory = tempfile::tempdir().expect("a directory");
    let engine = with_database(directory.path());
    let (go_on, gate) = channel::<()>();
    let stalled = call(|done| {
        engine.threads.admin.run(done, move || {
            let _ = gate.recv();
            Ok(())
        });
    });
    let dropped = call(|done| engine.drop_database("db".into(), done));
    let settings = json!({ "model": "m", "fingerprint": "f", "dimensions": 2 }).to_string();
    let begun = call(|done| engine.begin_reembedding("db", settings, done));
    drop(go_on);
    stalled.recv().expect("answered").expect("resumed");
    dropped.recv().expect("answered").expect("dropped");
    let refused = begun.recv().expect("answered");
    assert!(
        matches!(refused, Err(Error::DatabaseNotFound { .. })),
        "{refused:?}"
    );
    engine.close();
}
