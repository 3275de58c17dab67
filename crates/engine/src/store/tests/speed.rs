//! Prints times and sizes of the store (`cargo test --release store::tests::speed -- --nocapture`) and checks results.

use std::ops::ControlFlow;
use std::time::Instant;

use crate::store::tests::support::{Record, create_store, open_store, scratch};
use crate::store::{PutKind, Store, Write};

const RECORDS: u64 = 20_000;
const BATCH: usize = 1_000;
const DIMENSIONS: usize = 384;

#[test]
fn speed() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    let records: Vec<Record> = (1..=RECORDS)
        .map(|id| Record::made(id, 1, DIMENSIONS))
        .collect();
    let mut slowest = 0.0_f64;
    let start = Instant::now();
    for batch in records.chunks(BATCH) {
        let writes: Vec<Write<'_>> = batch
            .iter()
            .map(|record| record.put(PutKind::Created))
            .collect();
        let start = Instant::now();
        store.commit(&writes).expect("the commit succeeds");
        slowest = slowest.max(start.elapsed().as_secs_f64());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "create: {:.0} records/s in commits of {BATCH}, slowest commit {:.1} ms, {} bytes a record on disk",
        RECORDS as f64 / seconds,
        slowest * 1e3,
        store.file_bytes() / RECORDS,
    );

    // First in the order of a full sync, then spread so that no two records of a commit share a page.
    let batches = RECORDS / BATCH as u64;
    time_touches("neighbouring", &mut store, |batch, step| {
        1 + batch * BATCH as u64 + step
    });
    time_touches("scattered", &mut store, |batch, step| {
        1 + batch + step * batches
    });

    let ids: Vec<u64> = (1..=BATCH as u64).map(|step| step * 17).collect();
    let start = Instant::now();
    let known = store.reader().identities(&ids).expect("they are read");
    println!(
        "identities: {BATCH} in {:.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    assert!(known.iter().flatten().count() == BATCH);

    let start = Instant::now();
    store
        .reader()
        .records(&ids[..50], |record| {
            assert_eq!(record.vectors.len(), DIMENSIONS)
        })
        .expect("they are read");
    println!(
        "records: a page of 50 in {:.2} ms",
        start.elapsed().as_secs_f64() * 1e3
    );

    drop(store);
    let start = Instant::now();
    let store = open_store(&path).expect("it opens again");
    println!("open: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let mut found = records.iter();
    store
        .reader()
        .load(0, |stored| {
            assert_eq!(
                Some(stored.vectors),
                found.next().map(|record| record.vectors.as_slice())
            );
            ControlFlow::Continue(())
        })
        .expect("they are read");
    assert_eq!(found.len(), 0);
    println!(
        "load: {:.0} records/s",
        RECORDS as f64 / start.elapsed().as_secs_f64()
    );
}

fn time_touches(order: &str, store: &mut Store, id: impl Fn(u64, u64) -> u64) {
    let mut times_ms: Vec<f64> = (0..RECORDS / BATCH as u64)
        .map(|batch| {
            let writes: Vec<Write<'_>> = (0..BATCH as u64)
                .map(|step| Write::Touch {
                    id: id(batch, step),
                    synced: 5,
                })
                .collect();
            let start = Instant::now();
            store.commit(&writes).expect("the commit succeeds");
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times_ms.sort_by(f64::total_cmp);
    println!(
        "touch: commits of {BATCH} {order} ids, p50 {:.2} ms, slowest {:.2} ms",
        times_ms[times_ms.len() / 2],
        times_ms[times_ms.len() - 1]
    );
}
