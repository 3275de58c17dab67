use std::fs;

use cosift_engine::Embedded;
use serde_json::{Map, Value, json};

use crate::common::{
    Faults, Known, Random, Server, Vectors, assert_names_are_synced, run_with_faults,
};

const THIS: &str = "the_disk_may_stall_fail_or_lose_power";

fn records(ids: std::ops::Range<u64>) -> Vec<Known> {
    let mut random = Random::new(90);
    let vectors = Vectors::new(2, &mut random);
    let known = |id| {
        let data = Map::from_iter([("at".into(), json!(id))]);
        Known::new(id, data, vectors.draw(&mut random), 0)
    };
    ids.map(known).collect()
}

fn count(server: &Server, id: &str) -> usize {
    let page = server.query(id, &json!({ "limit": 100 }));
    page["results"].as_array().expect("a list").len()
}

#[test]
fn a_create_on_a_stalled_disk_keeps_nobody_from_searching() {
    run_with_faults(&format!("{THIS}::child_creates_on_a_stalled_disk"));
}

#[test]
#[ignore = "run in a process of its own, whose disk stalls"]
fn child_creates_on_a_stalled_disk() {
    let faults = Faults::of_child();
    let data = faults.directory.join("data");
    let server = Server::open(&data);
    server.create("db", 2);
    server.put("db", &records(1..20));
    faults.begin("stall");
    let created = server.start_create("other");
    // The directory of the new database exists, so the create call is still running.
    while !data.join("databases/.new-other").exists() {
        std::thread::yield_now();
    }
    let page = server.search("db", &json!({ "threshold": 0, "limit": 5 }), &[1.0, 0.0]);
    assert_eq!(page["results"].as_array().expect("a list").len(), 5);
    assert!(matches!(server.state("other"), Value::Null));
    faults.end("stall");
    created.wait().expect("created");
    assert_eq!(server.state("other")["loaded"], true);
    server.close();
}

#[test]
fn a_create_without_file_descriptors_leaves_nothing() {
    run_with_faults(&format!("{THIS}::child_creates_without_descriptors"));
}

#[test]
#[ignore = "run in a process of its own, whose files cannot be opened"]
fn child_creates_without_descriptors() {
    let faults = Faults::of_child();
    let data = faults.directory.join("data");
    let mut refused = 0;
    loop {
        let server = Server::open(&data);
        let created = faults.with_descriptors(refused, || server.start_create("db").wait());
        if created.is_ok() {
            assert_eq!(server.state("db")["loaded"], true);
            break;
        }
        assert!(
            matches!(server.state("db"), Value::Null),
            "after {refused} files"
        );
        server.close();
        let server = Server::open(&data);
        assert!(
            matches!(server.state("db"), Value::Null),
            "after {refused} files"
        );
        let left: Vec<_> = fs::read_dir(data.join("databases"))
            .expect("read")
            .collect();
        assert!(left.is_empty(), "after {refused} files: {left:?}");
        server.close();
        refused += 1;
    }
    assert!(refused > 5, "a create opens more files than {refused}");
}

#[test]
fn a_failed_sync_ends_the_writes_of_its_database_only_and_is_reported() {
    run_with_faults(&format!("{THIS}::child_whose_syncs_fail"));
}

#[test]
#[ignore = "run in a process of its own, whose syncs fail"]
fn child_whose_syncs_fail() {
    let faults = Faults::of_child();
    let server = Server::open(&faults.directory.join("data"));
    server.create("db", 2);
    server.create("other", 2);
    server.put("db", &records(1..20));
    assert_eq!(server.state("db")["writable"], true);
    let put = |id: &str| server.put_batch(id, &records(20..21)).wait();
    // A database that was just written to does not move its log while syncs fail.
    put("other").expect("committed");
    server.events();
    faults.during("sync", || put("db").expect_err("nothing is acknowledged"));
    for _ in 0..3 {
        assert_eq!(put("db").expect_err("no write").code(), "store_failed");
    }
    assert_eq!(server.state("db")["writable"], false);
    assert_eq!(server.state("db")["loaded"], true);
    assert!(count(&server, "db") >= 19, "reads continue");
    put("other").expect("another database accepts writes");
    assert_eq!(server.state("other")["writable"], true);
    let mut events = server.events();
    events.retain(|(code, ..)| *code != "slow_commit");
    let [(code, database, cause)] = &events[..] else {
        panic!("one event: {events:?}")
    };
    assert_eq!((*code, database.as_deref()), ("writes_refused", Some("db")));
    assert!(cause.contains("SQLite failed"), "{cause}");
    server.close();
    let server = Server::open(&faults.directory.join("data"));
    assert_eq!(server.state("db")["writable"], true);
    server
        .put_batch("db", &records(21..22))
        .wait()
        .expect("writes continue");
}

#[test]
fn what_is_acknowledged_is_there_after_a_power_cut() {
    run_with_faults(&format!("{THIS}::child_whose_syncs_are_recorded"));
}

#[test]
#[ignore = "run in a process of its own, whose syncs are recorded"]
fn child_whose_syncs_are_recorded() {
    let faults = Faults::of_child();
    let data = faults.directory.join("some/new/data");
    let mut server = None;
    let journal = faults.recorded(|| server = Some(Server::open(&data)));
    assert!(journal.iter().any(|line| line[0] == "mkdir"));
    assert_names_are_synced(&journal, "opening");
    let server = server.expect("opened");
    let journal = faults.recorded(|| server.create("db", 2));
    assert!(journal.iter().any(|line| line[0] == "rename"));
    assert_names_are_synced(&journal, "creating");
    server.put("db", &records(1..20));
    let journal = faults.recorded(|| {
        (20..40).for_each(|id| server.put("db", &records(id..id + 1)));
    });
    let lists = journal.iter().filter(|line| line[0] == "list");
    assert_eq!(lists.count(), 0, "no write lists a directory");
    server
        .create_with(
            "texts",
            &json!({ "model": "a", "fingerprint": "f", "dimensions": 2 }),
        )
        .expect("created");
    let other = json!({ "model": "b", "fingerprint": "g", "dimensions": 2 });
    let journal = faults.recorded(|| {
        server.begin_reembedding("texts", &other).expect("started");
        let batch = server.prepare_reembedding("texts").expect("prepared");
        server
            .commit_reembedding(
                "texts",
                batch,
                Embedded {
                    fingerprint: Some("g".into()),
                    ..Embedded::default()
                },
            )
            .expect("committed");
        server.warm_reembedding("texts").expect("warm");
        server.switch_reembedding("texts").expect("switched");
    });
    assert!(
        journal
            .iter()
            .any(|line| line[0] == "rename" && line[2].ends_with("/texts/derived"))
    );
    assert_names_are_synced(&journal, "switching");
    let journal = faults.recorded(|| server.drop_database("db").wait().expect("dropped"));
    let renamed = |line: &Vec<String>| line[0] == "rename" && line[1].ends_with("databases/db");
    assert!(journal.iter().any(renamed), "{journal:?}");
    assert_names_are_synced(&journal, "dropping");
    let journal = faults.recorded(|| server.close());
    assert_names_are_synced(&journal, "closing");
}

#[test]
fn a_drop_that_fails_is_shown_and_can_be_repeated() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    server.put("db", &records(1..20));
    // A file at the path that the directory is renamed to.
    let obstacle = directory.path().join("databases/.dropped-db");
    fs::write(&obstacle, "").expect("written");
    for _ in 0..2 {
        server.events();
        server.drop_database("db").wait().expect_err("it fails");
        let state = server.state("db");
        assert_eq!(state["loaded"], false);
        assert_eq!(state["problem"]["code"], "drop_failed");
        let events = server.events();
        assert_eq!(
            (events[0].0, events[0].1.as_deref()),
            ("drop_failed", Some("db"))
        );
    }
    assert_eq!(
        server
            .start_create("db")
            .wait()
            .expect_err("the id is in use")
            .code(),
        "not_ready"
    );
    fs::remove_file(&obstacle).expect("removed");
    server.drop_database("db").wait().expect("dropped");
    assert!(matches!(server.state("db"), Value::Null));
    server.create("db", 2);
    assert_eq!(count(&server, "db"), 0);
    server.close();
}

#[test]
fn temporary_files_of_a_killed_process_are_removed_and_reported() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::open(directory.path());
    server.create("db", 2);
    server.put("db", &records(1..20));
    server.close();
    let databases = directory.path().join("databases");
    fs::write(databases.join("db/derived/17.rows.tmp"), "half").expect("written");
    fs::create_dir_all(databases.join(".new-other")).expect("made");
    let server = Server::open(directory.path());
    assert!(!databases.join("db/derived/17.rows.tmp").exists());
    assert!(!databases.join(".new-other").exists());
    let events = server.events();
    let removed: Vec<_> = events
        .iter()
        .map(|(code, database, _)| (*code, database.as_deref()))
        .collect();
    assert_eq!(
        removed,
        [
            ("temporary_files_removed", None),
            ("temporary_files_removed", Some("db"))
        ]
    );
    assert!(events[1].2.ends_with("17.rows.tmp"));
    assert_eq!(count(&server, "db"), 19);
    server.close();
}
