use std::time::{Duration, Instant};

use super::*;
use crate::limits::Limits;
use crate::record::{RecordId, RecordRow, RecordUuid, Vectors};
use crate::reply::Reply;
use crate::runtime::StopFlag;
use crate::search::request::Search;
use crate::search::running::Scope;
use crate::search::searchable::Searchable;
use crate::snapshot::{
    Basis, Block, IdentityIndex, NewRow, Published, PublishedCell, Snapshot, Times,
};

const VECTOR: [i32; 8] = [1 << 30, 0, 0, 0, 0, 0, 0, 0];

/// A database of `blocks` blocks of one record each.
pub(crate) fn database(blocks: u32) -> Arc<Searchable> {
    let basis = Arc::new(Basis::untrained(VECTOR.len()));
    let block = |row: u32| {
        let record = NewRow {
            id: RecordId(row.into()),
            uuid: RecordUuid([0; 16]),
            key: None,
            times: Times::default(),
            cells: Vec::new(),
            vectors: Vectors::one(VECTOR.to_vec()),
        };
        Block::build(RecordRow(row), VECTOR.len(), &[record], &basis)
    };
    let snapshot = Snapshot {
        blocks: (0..blocks).map(block).collect(),
        ..Snapshot::empty()
    };
    let published = Published {
        snapshot: Arc::new(snapshot),
        index: IdentityIndex::default(),
    };
    let published = Arc::new(PublishedCell::new(published));
    Arc::new(Searchable::new(published, None, None))
}

fn bound(database: &Arc<Searchable>, stop: &StopFlag) -> RunningSearch {
    bound_request(database, stop, "{}")
}

fn bound_request(database: &Arc<Searchable>, stop: &StopFlag, request: &str) -> RunningSearch {
    bind(waiting(database, stop, request))
}

pub(crate) fn waiting(database: &Arc<Searchable>, stop: &StopFlag, request: &str) -> WaitingSearch {
    WaitingSearch {
        database: Arc::clone(database),
        request: Search::parse(request, &Limits::default()).expect("a request"),
        vector: VECTOR.to_vec(),
        is_of_batch: false,
        stop: Arc::clone(stop),
        arrived: Instant::now(),
        masks: None,
        found: None,
        reply: Reply::new(Box::new(|_| ())),
    }
}

fn bind(mut waiting: WaitingSearch) -> RunningSearch {
    let scope = Scope::of(&mut waiting);
    RunningSearch::bind(scope, None, waiting)
}

/// Queues the 64 searches of a batch.
fn push_batch(queue: &mut Queue, database: &Arc<Searchable>) {
    for _ in 0..64 {
        let mut search = bound(database, &StopFlag::default());
        search.is_of_batch = true;
        queue.push_bound(search);
    }
}

/// A queue of so many threads that each part of a scan of 100 blocks is one block, except the first, which is four.
fn one_block_a_part() -> Queue {
    Queue::new(100)
}

/// The searches of the next scan part.
fn next_scan(queue: &mut Queue) -> Vec<Arc<RunningSearch>> {
    match queue.next_step() {
        Some(Step::Scan(scan, _)) => scan.searches.clone(),
        _ => panic!("another step"),
    }
}

#[test]
fn scans_of_databases_take_turns() {
    let (large, small) = (database(100), database(1));
    let mut queue = Queue::default();
    let stop = StopFlag::default();
    queue.push_bound(bound(&large, &stop));
    for _ in 0..3 {
        assert!(Arc::ptr_eq(&next_scan(&mut queue)[0].database, &large));
    }
    // These two wait for the end of the scan of their database, to share one of their own.
    queue.push_bound(bound(&large, &stop));
    queue.push_bound(bound(&large, &stop));
    queue.push_bound(bound(&small, &stop));
    let parts: Vec<_> = (0..2).map(|_| next_scan(&mut queue)).collect();
    let of_small = |part: &Vec<Arc<RunningSearch>>| Arc::ptr_eq(&part[0].database, &small);
    assert!(parts.iter().any(of_small));
    while queue
        .scans
        .iter()
        .any(|turns| turns.scan.searches.len() == 1)
    {
        next_scan(&mut queue);
    }
    assert!(queue.has_more());
    assert_eq!(next_scan(&mut queue).len(), 2);
}

#[test]
fn a_single_search_does_not_wait_for_those_of_a_batch() {
    let large = database(100);
    let mut queue = one_block_a_part();
    let stop = StopFlag::default();
    push_batch(&mut queue, &large);
    for _ in 0..3 {
        assert_eq!(next_scan(&mut queue).len(), 64);
    }
    // The next parts are those of the single searches, as many as have the work of one part of the batch.
    queue.push_bound(bound(&large, &stop));
    let sizes: Vec<usize> = (0..63).map(|_| next_scan(&mut queue).len()).collect();
    assert_eq!(sizes.iter().filter(|&&size| size == 64).count(), 1);
    assert_eq!(sizes[..60], [1; 60]);
}

#[test]
fn a_batch_gives_way_to_single_searches_only_in_their_turn() {
    let large = database(100);
    let mut queue = one_block_a_part();
    let stop = StopFlag::default();
    push_batch(&mut queue, &large);
    assert_eq!(next_scan(&mut queue).len(), 64);
    assert!(queue.next_single_step().is_none());
    queue.push_bound(bound(&large, &stop));
    let mut parts = 0;
    while let Some(Step::Scan(scan, _)) = queue.next_single_step() {
        assert_eq!(scan.searches.len(), 1);
        parts += 1;
    }
    // With another one it would have as much work as the batch with its next part.
    assert_eq!(parts, 60);
    assert_eq!(next_scan(&mut queue).len(), 64);
}

#[test]
fn the_binds_and_answers_of_a_batch_take_turns_with_scans() {
    let large = database(100);
    let mut queue = one_block_a_part();
    let stop = StopFlag::default();
    let of_batch = || {
        let mut search = waiting(&large, &stop, "{}");
        search.is_of_batch = true;
        search
    };
    queue.push_bound(bound(&large, &stop));
    for _ in 0..3 {
        queue.push_scanned(Arc::new(bind(of_batch())));
        assert!(queue.push(of_batch()).is_ok());
    }
    let mut steps = String::new();
    let mut sizes = Vec::new();
    while let Some(step) = queue.next_step() {
        steps.push(match &step {
            Step::Answer(_) => 'a',
            Step::Bind(_) => 'b',
            Step::Scan(..) => 's',
        });
        match step {
            Step::Bind(search) => queue.push_bound(bind(*search)),
            Step::Scan(scan, _) => sizes.push(scan.searches.len()),
            Step::Answer(_) => {}
        }
    }
    assert_eq!(steps[..12], *"asasasbsbsbs");
    // All searches of the batch share one scan.
    let of_batch = sizes.iter().filter(|&&size| size == 3).count();
    assert_eq!((of_batch, 2 * of_batch), (sizes.len() / 2, sizes.len()));
}

#[test]
fn a_search_with_many_words_is_alone_in_its_scan() {
    let large = database(1);
    let mut queue = Queue::default();
    let search = || bound(&large, &StopFlag::default());
    for _ in 0..2 {
        queue.push_bound(search());
        let mut words = search();
        words.scope.has_many_words = true;
        queue.push_bound(words);
    }
    let scans: Vec<_> = (0..3).map(|_| next_scan(&mut queue)).collect();
    let words = |scan: &Vec<Arc<RunningSearch>>| scan[0].scope.has_many_words;
    assert_eq!(scans.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(
        scans.iter().map(words).collect::<Vec<_>>(),
        [false, true, true]
    );
}

#[test]
fn searches_whose_words_take_long_share_scans_in_small_numbers() {
    let mut queue = Queue::default();
    let mut sizes_after = |times: usize, time: Duration| {
        // A database of its own, because a scan waits for the end of the one before.
        let database = database(1);
        for _ in 0..times {
            database.lexical_pace.observe(time, 1, 1);
        }
        let stop = StopFlag::default();
        for _ in 0..3 {
            let words = r#"{ "lexical": { "weight": 0.5, "text": "two words" } }"#;
            queue.push_bound(bound_request(&database, &stop, words));
        }
        queue.push_bound(bound(&database, &stop));
        let scan = next_scan(&mut queue);
        while queue.has_more() {
            next_scan(&mut queue);
        }
        let with_words = scan.iter().filter(|search| search.has_words()).count();
        (scan.len(), with_words)
    };
    assert_eq!(sizes_after(1, Duration::from_secs(1)), (2, 1));
    assert_eq!(sizes_after(1, Duration::from_micros(10)), (4, 3));
}

#[test]
fn a_stopped_search_does_not_wait_for_a_scan() {
    let large = database(100);
    let mut queue = Queue::default();
    queue.push_bound(bound(&large, &StopFlag::default()));
    next_scan(&mut queue);
    let stop = StopFlag::default();
    queue.push_bound(bound(&large, &stop));
    next_scan(&mut queue);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(queue.next_step(), Some(Step::Answer(_))));
    assert!(queue.bound.is_empty());
}
