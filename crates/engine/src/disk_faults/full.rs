//! A start while the disk is full.

use std::sync::Arc;

use crate::disk_faults::faulty::{Fault, NO_SPACE};
use crate::disk_faults::support::{World, assert_serves, create, put, wait};
use crate::{Engine, Limits};

/// An engine whose database "db" has five records, opened on a disk that is full since. No database is loaded yet.
fn start_on_a_full_disk() -> (World, Arc<Engine>) {
    let world = World::new();
    let engine = world.open();
    create(&engine, "db").expect("created");
    put(&engine, "db", 1..6).expect("stored");
    engine.close();
    let disk = Arc::clone(&world.disk) as _;
    let engine = Engine::open_on(disk, &world.data(), Some(1), Limits::default());
    let engine = engine.expect("it opens");
    let full = Fault::Error {
        at: 0,
        code: NO_SPACE,
        lasting: true,
    };
    world.disk.set(Some(full));
    (world, engine)
}

#[test]
fn a_database_is_opened_when_there_is_room_again() {
    let (world, engine) = start_on_a_full_disk();
    wait(|done| engine.load(done)).expect("loaded");
    for _ in 0..2 {
        let error = engine.database("db").err().expect("it could not be opened");
        assert_eq!(error.facts()["reason"], "disk_full");
        let progress = engine.progress();
        assert_eq!(progress["databases"][0]["problem"]["code"], "disk_full");
        engine.catalog.open_waiting();
    }
    world.disk.set(None);
    while engine.catalog.has_waiting() {
        std::thread::yield_now();
    }
    assert_serves(&engine, "db", 5, "with room again");
    put(&engine, "db", 6..7).expect("stored");
    assert_eq!(engine.progress()["databases"][0].get("problem"), None);
    engine.close();
}

#[test]
fn others_are_created_while_a_database_is_opened_again() {
    let (world, engine) = start_on_a_full_disk();
    engine.catalog.load_all().expect("loaded");
    world.disk.set(None);
    create(&engine, "other").expect("created");
    let other = engine.database("other").expect("it is there");
    let settings = other.current_settings();
    std::thread::scope(|threads| {
        world.disk.stall();
        threads.spawn(|| engine.catalog.open_waiting());
        world.disk.wait_for_stall();
        // Finds the database of the same settings, which needs no file.
        let created = engine.catalog.create("other", &settings).expect("found");
        assert!(!created.0);
        let dropped = threads.spawn(|| wait(|done| engine.drop_database("db".into(), done)));
        world.disk.resume();
        dropped.join().expect("no panic").expect("dropped");
    });
    assert_eq!(engine.catalog.ids(), ["other"]);
    assert!(!world.data().join("databases/db").exists());
    engine.close();
}
