//! A start while the disk is full.

use std::sync::Arc;

use crate::disk_faults::faulty::{Fault, NO_SPACE};
use crate::disk_faults::support::{World, assert_serves, create, put, wait};
use crate::{Engine, Limits};

#[test]
fn a_database_is_opened_when_there_is_room_again() {
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
