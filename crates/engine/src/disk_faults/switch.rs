//! Faults while the vectors of another model take the place of the former.

use std::sync::Arc;

use serde_json::json;

use crate::disk_faults::support::{
    World, assert_names_a_path, assert_no_leftovers, assert_serves, commit, faults, sampled, wait,
};
use crate::error::Error;
use crate::{Embedded, Engine};

const RECORDS: u64 = 5;

fn settings(model: &str, fingerprint: &str) -> String {
    json!({ "model": model, "fingerprint": fingerprint, "dimensions": 2 }).to_string()
}

/// Stores the record `id`, which has no text and so no vector.
fn put(engine: &Arc<Engine>, id: u64) -> Result<(), Error> {
    let record = json!({ "id": id, "data": { "number": id } });
    let fingerprint = fingerprint(engine);
    commit(engine, "db", vec![record], Some(&fingerprint)).map(drop)
}

fn fingerprint(engine: &Arc<Engine>) -> String {
    let database = engine.database("db").expect("it is served");
    database.settings.fingerprint.clone().expect("a model")
}

/// A closed database whose re-embedding is complete, so that only the switch is left.
fn template() -> World {
    let world = World::new();
    let engine = world.open();
    wait(|done| engine.create_database("db".into(), settings("a", "f"), done)).expect("created");
    (1..=RECORDS).for_each(|id| put(&engine, id).expect("stored"));
    begin(&engine);
    loop {
        let batch = wait(|done| engine.prepare_reembedding("db", done)).expect("prepared");
        let (end, batch) = (batch.is_last(), Arc::new(batch));
        let embedded = Embedded {
            fingerprint: Some("g".into()),
            ..Embedded::default()
        };
        wait(|done| engine.commit_reembedding("db", batch, embedded, done)).expect("committed");
        if end {
            break;
        }
    }
    engine.close();
    world
}

fn begin(engine: &Arc<Engine>) {
    wait(|done| engine.begin_reembedding("db", settings("b", "g"), done)).expect("begun");
}

/// A copy of the template, opened, with its re-embedding.
fn open_copy(template: &World) -> (World, Arc<Engine>) {
    let (world, engine) = template.open_copy();
    begin(&engine);
    (world, engine)
}

fn switch(engine: &Arc<Engine>) -> Result<(), Error> {
    wait(|done| engine.switch_reembedding("db".into(), done))
}

#[test]
fn a_failed_operation_loses_no_record() {
    let template = template();
    let (world, engine) = open_copy(&template);
    let operations = world.rehearse(|| switch(&engine).expect("switched"));
    engine.close();
    assert!(operations.len() > 5, "{operations:?}");
    let mut waited = 0;
    for fault in sampled(faults(&operations), 5) {
        let (world, engine) = open_copy(&template);
        let what = format!("{fault:?}");
        let switched = world.failing(fault, || switch(&engine));
        let mut last = RECORDS;
        match &switched {
            Ok(()) => assert_eq!(fingerprint(&engine), "g", "{what}"),
            Err(error) => assert_names_a_path(error, &world.data(), &what),
        }
        if engine.catalog.has_waiting() {
            // It could not be opened again, because the disk was full. It is read meanwhile.
            let database = engine.database("db").expect("it is read");
            assert_eq!(database.snapshot().records() as u64, RECORDS, "{what}");
            engine.catalog.open_waiting();
            assert!(!engine.catalog.has_waiting(), "{what}");
            waited += 1;
        }
        // Another database that could not be opened again takes no writes until the next start.
        if engine.database("db").is_ok() {
            put(&engine, RECORDS + 1).unwrap_or_else(|error| panic!("{what}: {error}"));
            last += 1;
        }
        let image = world.open_image("image");
        assert_serves(&image, "db", last, &format!("{what}, then a power cut"));
        image.close();
        engine.close();
        let engine = world.open();
        assert_serves(&engine, "db", last, &what);
        if switched.is_ok() {
            assert_no_leftovers(&world.data(), &what);
        }
        put(&engine, last + 1).unwrap_or_else(|error| panic!("{what}: {error}"));
        let image = world.open_image("image after the next start");
        assert_serves(
            &image,
            "db",
            last + 1,
            &format!("{what}, then a start and a power cut"),
        );
        image.close();
        engine.close();
    }
    assert!(waited > 0, "no switch ended on a full disk");
}

#[test]
fn a_power_cut_leaves_the_former_or_the_new_database() {
    let template = template();
    for after in sampled(0.., 3) {
        let (world, engine) = open_copy(&template);
        let what = format!("power cut after {after}");
        let (switched, reached) = world.with_power_cut(after, "image", || switch(&engine));
        let image = world.open_image("image");
        assert_serves(&image, "db", RECORDS, &what);
        if !reached {
            switched.expect("switched");
            assert_eq!(fingerprint(&image), "g");
        }
        put(&image, RECORDS + 1).unwrap_or_else(|error| panic!("{what}: {error}"));
        image.close();
        engine.close();
        if !reached {
            break;
        }
    }
}
