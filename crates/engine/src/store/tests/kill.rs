//! After `kill -9` at any moment, every acknowledged commit is stored, and no commit is stored partially.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write as _};
use std::ops::ControlFlow;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::store::tests::support::{Random, Record, child, create_store, open_store, task};
use crate::store::{PutKind, Write};

const KILLS: u32 = 30;
const DIMENSIONS: usize = 384;
const NEW_RECORDS: u64 = 40;

/// The ids that commit `version` creates. It also changes, touches and deletes some records of earlier commits.
fn created_by(version: u64) -> std::ops::Range<u64> {
    version * NEW_RECORDS..(version + 1) * NEW_RECORDS
}

enum Step {
    Put(Record, PutKind),
    Touch(u64, i64),
    Delete(u64),
}

/// The writes of commit `version`. They depend only on its number, so the parent process can compute them as well.
fn steps(version: u64) -> Vec<Step> {
    let record = |id, revision| Record::made(id, revision, DIMENSIONS);
    let mut steps: Vec<Step> = created_by(version)
        .map(|id| Step::Put(record(id, version), PutKind::Created))
        .collect();
    if version > 3 {
        let changed = created_by(version - 1).take(9);
        steps.extend(changed.map(|id| Step::Put(record(id, version), PutKind::Changed)));
        let touched = created_by(version - 2).skip(5).take(9);
        steps.extend(touched.map(|id| Step::Touch(id, version.cast_signed())));
        steps.extend(created_by(version - 3).take(3).map(Step::Delete));
    }
    steps
}

#[test]
fn acknowledged_commits_survive_kill() {
    const SEED: u64 = 90_210;
    println!("seed {SEED}");
    let mut random = Random(SEED);
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("records.sqlite");
    let mut model = BTreeMap::new();
    let (mut version, mut position) = (0, 0);
    let mut unacknowledged = 0;
    for kill in 0..KILLS {
        let mut child = child("store::tests::kill::child_that_commits", directory.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the child starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut acknowledged = version;
        let mut take = |line: std::io::Result<String>| {
            let line = line.expect("it is text");
            if let Some(number) = line.strip_prefix("acknowledged ") {
                acknowledged = number.parse().expect("it is a number");
            }
        };
        // The first kill may come before the file is complete.
        lines
            .by_ref()
            .take(random.below(40) as usize)
            .for_each(&mut take);
        let until = Instant::now() + Duration::from_micros(random.below(5_000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        child.kill().expect("the child is killed");
        // Lines that the child printed before its end count as well.
        lines.for_each(&mut take);
        child.wait().expect("the child ends");

        if !path.exists() {
            assert_eq!(acknowledged, 0);
            continue;
        }
        let store = open_store(&path).expect("it opens again");
        assert!(
            store.version() >= acknowledged,
            "kill {kill}: {} < {acknowledged}",
            store.version()
        );
        assert!(
            store.version() <= acknowledged + 1,
            "kill {kill}: at most one commit was not acknowledged"
        );
        unacknowledged += store.version() - acknowledged;
        for version in version + 1..=store.version() {
            for step in steps(version) {
                match step {
                    Step::Put(record, _) => drop(model.insert(record.id, record)),
                    Step::Touch(id, synced) => {
                        model
                            .get_mut(&id)
                            .expect("only what exists is touched")
                            .synced = synced;
                        continue;
                    }
                    Step::Delete(id) => drop(model.remove(&id)),
                }
                position += 1;
            }
        }
        version = store.version();
        assert_eq!(store.last_position(), position, "kill {kill}");
        let mut expected = model.values();
        let check = store.reader().load(0, |stored| {
            let record = expected.next().expect("no more than were written");
            assert_eq!(stored.header.id, record.id, "kill {kill}");
            assert_eq!(
                (stored.data, stored.vectors),
                (record.data.as_slice(), record.vectors.as_slice())
            );
            assert_eq!(
                (stored.header.changed, stored.header.synced),
                (record.changed, record.synced)
            );
            ControlFlow::Continue(())
        });
        check.expect("they are read");
        assert_eq!(expected.len(), 0, "kill {kill}: no record is lost");
    }
    println!(
        "{KILLS} kills, {version} commits, {unacknowledged} of them durable but not yet acknowledged"
    );
    assert!(version > u64::from(KILLS));
}

#[test]
#[ignore = "run in a process of its own by another test"]
fn child_that_commits() {
    let directory = task();
    let path = directory.join("records.sqlite");
    let opened = if path.exists() {
        open_store(&path)
    } else {
        create_store(&path, b"{}")
    };
    let mut store = opened.expect("it opens");
    // The harness prints the start of a line before it runs a test.
    println!();
    loop {
        let steps = steps(store.version() + 1);
        let writes: Vec<Write<'_>> = steps
            .iter()
            .map(|step| match step {
                Step::Put(record, kind) => record.put(*kind),
                Step::Touch(id, synced) => Write::Touch {
                    id: *id,
                    synced: *synced,
                },
                Step::Delete(id) => Write::Delete { id: *id, at: 5 },
            })
            .collect();
        store.commit(&writes).expect("the commit succeeds");
        println!("acknowledged {}", store.version());
        std::io::stdout().flush().expect("the parent listens");
        if store.version() % 16 == 0 {
            store.checkpoint().expect("it succeeds");
        }
    }
}
