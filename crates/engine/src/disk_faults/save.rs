//! Faults while index files are written: of a full block while records are stored, and of all blocks at the close.

use std::sync::Arc;

use serde_json::json;

use crate::Engine;
use crate::columns::BLOCK_RECORDS;
use crate::disk_faults::support::{
    World, assert_has_vectors, assert_serves, faults, open, put, sampled, wait,
};
use crate::runtime::EventCode;

/// The records of the template: its only block is nearly full.
const BEFORE: u64 = BLOCK_RECORDS as u64 - 10;
const LAST: u64 = BLOCK_RECORDS as u64 + 10;

/// Stores records so that a block becomes full, and closes. Returns how many records were acknowledged.
fn fill_and_close(engine: &Arc<Engine>) -> u64 {
    let stored = put(engine, "db", BEFORE + 1..LAST + 1);
    engine.close();
    if stored.is_ok() { LAST } else { BEFORE }
}

/// Checks what was stored, twice: the first start may rebuild the index files that the second one reads.
fn assert_survives(mut engine: Arc<Engine>, directory: &std::path::Path, last: u64, what: &str) {
    for _ in 0..2 {
        let found = engine.database("db").expect("opened").snapshot().records() as u64;
        assert!(found >= last, "{what}: {found} records");
        assert_serves(&engine, "db", found, what);
        assert_has_vectors(&engine, "db", what);
        engine.close();
        engine = open(directory);
    }
    engine.close();
}

#[test]
fn a_failed_operation_loses_no_record_and_is_reported_with_its_path() {
    let template = World::filled(BEFORE);
    let mut reported = 0;
    let (world, engine) = template.open_copy();
    let operations = world.rehearse(|| assert_eq!(fill_and_close(&engine), LAST));
    assert!(operations.len() > 10, "{operations:?}");
    for fault in sampled(faults(&operations), 7) {
        let (world, engine) = template.open_copy();
        let what = format!("{fault:?}");
        let last = world.failing(fault, || fill_and_close(&engine));
        for event in engine.take_events().events {
            if matches!(event.code, EventCode::JobFailed) {
                let path = world.data().display().to_string();
                assert!(event.text.contains(&path), "{what}: {}", event.text);
                reported += 1;
            }
        }
        assert_survives(open(&world.data()), &world.data(), last, &what);
    }
    assert!(reported > 10, "{reported} failures were reported");
}

#[test]
fn a_power_cut_loses_no_record() {
    let template = World::filled(BEFORE);
    for after in sampled(0.., 5) {
        let (world, engine) = template.open_copy();
        let what = format!("power cut after {after}");
        let (last, reached) = world.with_power_cut(after, "image", || fill_and_close(&engine));
        // Records that were acknowledged after the power cut are not in the image.
        let last = if reached { BEFORE } else { last };
        let directory = world.data().with_file_name("image");
        assert_survives(world.open_image("image"), &directory, last, &what);
        if !reached {
            break;
        }
    }
}

#[test]
fn records_are_read_while_index_files_stall() {
    let template = World::filled(BEFORE);
    let (world, engine) = template.open_copy();
    world.disk.stall();
    let stored = std::thread::spawn({
        let engine = Arc::clone(&engine);
        move || fill_and_close(&engine)
    });
    world.disk.wait_for_stall();
    let request = json!({ "form": "integer" }).to_string();
    wait(|done| engine.record("db", "7".into(), request, done)).expect("read");
    assert!(!stored.is_finished(), "the write waits for the disk");
    world.disk.resume();
    assert_eq!(stored.join().expect("stored"), LAST);
    assert_survives(open(&world.data()), &world.data(), LAST, "after a stall");
}
