//! The engine's own scan threads: they bind searches, scan blocks and write pages.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use parking_lot::Mutex;

use crate::runtime::{Metrics, StopFlag};
use crate::search::request::Search;
use crate::search::running::{Reply, WaitingSearch};
use crate::search::scheduler::stats::SearchStats;
use crate::search::scheduler::worker::Group;
use crate::search::searchable::Searchable;

/// The scan threads.
///
/// Searches whose filter takes long have threads of their own, so that no other search waits for them.
pub(crate) struct SearchScheduler {
    group: Arc<Group>,
    expensive: Arc<Group>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    expensive_threads: Mutex<Vec<JoinHandle<()>>>,
}

impl SearchScheduler {
    /// Starts `threads` scan threads, and as many for expensive searches.
    ///
    /// # Errors
    /// The system's error when a thread can't be started.
    pub(crate) fn start(threads: usize, metrics: Arc<Metrics>) -> std::io::Result<Self> {
        let expensive = Arc::new(Group::new(Arc::clone(&metrics), None));
        let group = Arc::new(Group::new(metrics, Some(Arc::clone(&expensive))));
        Ok(Self {
            threads: Mutex::new(start_threads(&group, threads, "cosift-scan")?),
            expensive_threads: Mutex::new(start_threads(&expensive, threads, "cosift-heavy")?),
            group,
            expensive,
        })
    }

    /// Queues a search. `reply` is called once: on a scan thread, or by this call when the search is refused.
    pub(crate) fn submit(
        &self,
        database: Arc<Searchable>,
        request: Search,
        vector: Vec<i32>,
        stop: StopFlag,
        reply: Reply,
    ) {
        self.group.submit(WaitingSearch {
            database,
            request,
            vector,
            stop,
            arrived: Instant::now(),
            masks: None,
            reply,
        });
    }

    pub(crate) fn stats(&self) -> SearchStats {
        let mut stats = SearchStats::default();
        self.group.add_to(&mut stats);
        self.expensive.add_to(&mut stats);
        stats
    }

    /// Answers the queued searches and ends the threads.
    pub(crate) fn close(&self) {
        // The first group hands searches to the second until its threads end, so it is closed first.
        for (group, threads) in [
            (&self.group, &self.threads),
            (&self.expensive, &self.expensive_threads),
        ] {
            group.close();
            let threads = std::mem::take(&mut *threads.lock());
            for thread in threads {
                // One of these threads may drop the last handle of the engine. It can't join itself, and ends afterwards.
                if thread.thread().id() == std::thread::current().id() {
                    continue;
                }
                // A scan thread catches every panic of a step, so joining it can't fail.
                let _ = thread.join();
            }
        }
    }
}

fn start_threads(
    group: &Arc<Group>,
    threads: usize,
    name: &str,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    (0..threads.max(1))
        .map(|at| {
            let group = Arc::clone(group);
            std::thread::Builder::new()
                .name(format!("{name}-{at}"))
                .spawn(move || group.run())
        })
        .collect()
}
