//! Faults while a database is created.

use crate::disk_faults::faulty::IO_ERROR;
use crate::disk_faults::support::{
    World, assert_names_a_path, assert_no_leftovers, assert_serves, create, exists, faults, open,
    put, sampled,
};

/// A data directory with one database, which no fault may touch.
fn world() -> (World, std::sync::Arc<crate::Engine>) {
    let world = World::new();
    let engine = world.open();
    create(&engine, "other").expect("created");
    put(&engine, "other", 1..4).expect("stored");
    (world, engine)
}

#[test]
fn a_failed_operation_leaves_no_half_created_database() {
    let (rehearsal, engine) = world();
    let operations = rehearsal.rehearse(|| drop(create(&engine, "db").expect("created")));
    engine.close();
    assert!(operations.len() > 20, "{operations:?}");
    for fault in sampled(faults(&operations), 3) {
        let (world, engine) = world();
        let what = format!("{fault:?}");
        let created = world.failing(fault, || create(&engine, "db"));
        let mut records = 0;
        match &created {
            Ok(_) => {
                put(&engine, "db", 1..3).expect("stored");
                records = 2;
            }
            Err(error) => {
                assert_names_a_path(error, &world.data(), &what);
                assert!(!exists(&engine, "db"), "{what}");
                if fault.0 % 2 == 0 {
                    create(&engine, "db").unwrap_or_else(|error| panic!("{what}: {error}"));
                }
            }
        }
        let is_expected = created.is_ok() || fault.0 % 2 == 0;
        // When nothing works any more, the new directory cannot be renamed back.
        let may_exist = matches!(fault, (_, IO_ERROR, true));
        engine.close();
        let engine = open(&world.data());
        assert_no_leftovers(&world.data(), &what);
        assert_serves(&engine, "other", 3, &what);
        let found = exists(&engine, "db");
        assert!(found == is_expected || found && may_exist, "{what}");
        if found {
            assert_serves(&engine, "db", records, &what);
        }
        engine.close();
    }
}

#[test]
fn a_power_cut_leaves_a_whole_database_or_none() {
    for after in sampled(0.., 3) {
        let (world, engine) = world();
        let what = format!("power cut after {after}");
        let (created, reached) = world.with_power_cut(after, "image", || create(&engine, "db"));
        if !reached {
            created.expect("created");
            put(&engine, "db", 1..3).expect("stored");
        }
        let image = world.open_image("image");
        assert_serves(&image, "other", 3, &what);
        assert!(
            reached || exists(&image, "db"),
            "an acknowledged database survives"
        );
        if exists(&image, "db") {
            assert_serves(&image, "db", if reached { 0 } else { 2 }, &what);
        } else {
            create(&image, "db").unwrap_or_else(|error| panic!("{what}: {error}"));
        }
        put(&image, "db", 3..4).unwrap_or_else(|error| panic!("{what}: {error}"));
        image.close();
        engine.close();
        if !reached {
            break;
        }
    }
}
