//! Faults while a database is dropped.

use std::sync::Arc;

use crate::Engine;
use crate::disk_faults::support::{
    World, assert_names_a_path, assert_no_leftovers, assert_serves, create, exists, faults, open,
    put, sampled, wait,
};
use crate::error::Error;

fn world() -> (World, Arc<Engine>) {
    let world = World::new();
    let engine = world.open();
    for id in ["db", "other"] {
        create(&engine, id).expect("created");
        put(&engine, id, 1..4).expect("stored");
    }
    (world, engine)
}

fn drop_database(engine: &Arc<Engine>) -> Result<(), Error> {
    wait(|done| engine.drop_database("db".into(), done))
}

#[test]
fn a_failed_operation_leaves_a_whole_database_or_none() {
    let (rehearsal, engine) = world();
    let operations = rehearsal.rehearse(|| drop_database(&engine).expect("dropped"));
    engine.close();
    assert!(operations.len() > 3, "{operations:?}");
    for fault in sampled(faults(&operations), 3) {
        let (world, engine) = world();
        let what = format!("{fault:?}");
        let dropped = world.failing(fault, || drop_database(&engine));
        match &dropped {
            Ok(()) => assert!(!exists(&engine, "db"), "{what}"),
            Err(error) => {
                assert_names_a_path(error, &world.data(), &what);
                assert!(exists(&engine, "db"), "{what}: the id is not free");
                if fault.0 % 2 == 0 {
                    drop_database(&engine).unwrap_or_else(|error| panic!("{what}: {error}"));
                }
            }
        }
        let is_dropped = dropped.is_ok() || fault.0 % 2 == 0;
        engine.close();
        let engine = open(&world.data());
        assert_no_leftovers(&world.data(), &what);
        assert_serves(&engine, "other", 3, &what);
        assert!(!is_dropped || !exists(&engine, "db"), "{what}");
        if exists(&engine, "db") {
            assert_serves(&engine, "db", 3, &what);
        }
        engine.close();
    }
}

#[test]
fn a_power_cut_leaves_a_whole_database_or_none() {
    for after in sampled(0.., 3) {
        let (world, engine) = world();
        let what = format!("power cut after {after}");
        let (dropped, reached) = world.with_power_cut(after, "image", || drop_database(&engine));
        if !reached {
            dropped.expect("dropped");
        }
        let image = world.open_image("image");
        assert_serves(&image, "other", 3, &what);
        assert!(
            reached || !exists(&image, "db"),
            "an acknowledged drop survives"
        );
        if exists(&image, "db") {
            assert_serves(&image, "db", 3, &what);
        } else {
            create(&image, "db").unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_serves(&image, "db", 0, &what);
        }
        image.close();
        engine.close();
        if !reached {
            break;
        }
    }
}
