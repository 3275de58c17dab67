//! Faults while vectors leave the store for the file of a full block, and while the file of an emptied block is removed.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::columns::BLOCK_RECORDS;
use crate::disk_faults::support::{World, assert_has_vectors, faults, open, put, sampled, wait};
use crate::{Engine, Error, StopFlag};

const BLOCK: u64 = BLOCK_RECORDS as u64;

/// The records of the template: a full block, and one that is nearly full.
const BEFORE: u64 = 2 * BLOCK - 90;

const LAST: u64 = BEFORE + 100;

/// Deletes the records of the first block, whose file is then left, and fills the second one. Returns what was acknowledged:
/// the deletion, and the records.
fn change_and_close(engine: &Arc<Engine>) -> (bool, bool) {
    let deleted = delete(engine, 1..=BLOCK).is_ok();
    let stored = put(engine, "db", BEFORE + 1..LAST + 1).is_ok();
    engine.close();
    (deleted, stored)
}

fn delete(engine: &Arc<Engine>, ids: RangeInclusive<u64>) -> Result<usize, Error> {
    let request = json!({ "ids": ids.collect::<Vec<_>>() }).to_string();
    wait(|done| engine.delete("db", &request, StopFlag::default(), done))
}

/// Checks at two starts that what was acknowledged is there, each record with its vector, and that no file is there that
/// the store does not name.
fn assert_survives(
    mut engine: Arc<Engine>,
    directory: &Path,
    (deleted, stored): (bool, bool),
    what: &str,
) {
    for start in 0..2 {
        let database = engine.database("db").expect("opened");
        assert!(database.is_writable(), "{what}");
        let mut ids = Vec::new();
        let read = database.reader.load(0, |record| {
            ids.push(record.header.id);
            std::ops::ControlFlow::Continue(())
        });
        read.unwrap_or_else(|error| panic!("{what}: {error}"));
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        assert!(
            first == BLOCK + 1 || first == 1 && !deleted,
            "{what}: {first}"
        );
        assert!(last == LAST || last == BEFORE && !stored, "{what}: {last}");
        assert!(ids.into_iter().eq(first..=last), "{what}");
        assert_has_vectors(&engine, "db", what);
        let named = database.reader.named_files().expect("read");
        let mut named: Vec<String> = named.keys().map(|file| format!("{file}.vectors")).collect();
        let files = std::fs::read_dir(directory.join("databases/db/vectors")).expect("read");
        let name =
            |entry: std::io::Result<std::fs::DirEntry>| entry.ok()?.file_name().into_string().ok();
        let mut files: Vec<String> = files.filter_map(name).collect();
        named.sort();
        files.sort();
        // The second start follows a close.
        assert!(start == 0 || files == named, "{what}: {files:?} {named:?}");
        drop(database);
        engine.close();
        engine = open(directory);
    }
    engine.close();
}

#[test]
fn a_failed_operation_loses_no_vector() {
    let template = World::filled(BEFORE);
    let (world, engine) = template.open_copy();
    let operations = world.rehearse(|| assert_eq!(change_and_close(&engine), (true, true)));
    assert!(operations.contains(&"remove"), "{operations:?}");
    for fault in sampled(faults(&operations), 7) {
        let (world, engine) = template.open_copy();
        let done = world.failing(fault, || change_and_close(&engine));
        let what = format!("{fault:?}");
        assert_survives(open(&world.data()), &world.data(), done, &what);
    }
}

#[test]
fn a_power_cut_loses_no_vector() {
    let template = World::filled(BEFORE);
    for after in sampled(0.., 5) {
        let (world, engine) = template.open_copy();
        let what = format!("power cut after {after}");
        let (done, reached) = world.with_power_cut(after, "image", || change_and_close(&engine));
        // What was acknowledged after the power cut is not in the image.
        let done = if reached { (false, false) } else { done };
        let directory = world.data().with_file_name("image");
        assert_survives(world.open_image("image"), &directory, done, &what);
        if !reached {
            break;
        }
    }
}
