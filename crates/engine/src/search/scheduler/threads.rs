//! The engine's own scan threads: they bind searches, scan blocks and write pages.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use crate::reply::Reply;
use crate::runtime::{Metrics, StopFlag, ThreadGroup};
use crate::search::block_scan::Scratch;
use crate::search::page::Page;
use crate::search::request::Search;
use crate::search::running::{Found, WaitingSearch};
use crate::search::scheduler::queue::SearchStats;
use crate::search::scheduler::worker::{Group, Slower};
use crate::search::searchable::Searchable;
use crate::snapshot::{EXPENSIVE_NS, VectorMemory};

/// Nanoseconds that the filter of a small search may take.
const SMALL_NS: f64 = 20e3;

/// A search that was checked.
pub(crate) struct NewSearch {
    pub(crate) request: Search,
    /// The query's unit vector, Q30 components.
    pub(crate) vector: Vec<i32>,
    pub(crate) reply: Reply<Page>,
}

/// The scan threads.
///
/// Searches whose filter takes long have threads of their own, so that no other search waits for them. A small search has
/// no thread at all: its caller carries it out, because to wake a thread, and to wake the caller, takes longer.
pub(crate) struct SearchScheduler {
    small: Group,
    /// The buffers of the caller that carries out a small search.
    scratch: Mutex<Scratch>,
    group: Arc<Group>,
    expensive: Arc<Group>,
    threads: ThreadGroup,
    expensive_threads: ThreadGroup,
}

impl SearchScheduler {
    /// Starts `threads` scan threads, and as many for expensive searches.
    ///
    /// # Errors
    /// The system's error when a thread can't be started.
    pub(crate) fn start(
        threads: usize,
        metrics: Arc<Metrics>,
        vectors: Arc<VectorMemory>,
    ) -> std::io::Result<Self> {
        let group_of = |threads, slower| {
            Group::new(threads, Arc::clone(&metrics), Arc::clone(&vectors), slower)
        };
        let expensive = Arc::new(group_of(threads, None));
        let slower = |group: &Arc<Group>, max_ns| {
            let group = Arc::clone(group);
            Some(Slower { group, max_ns })
        };
        let to_expensive = slower(&expensive, EXPENSIVE_NS);
        let group = Arc::new(group_of(threads, to_expensive));
        Ok(Self {
            small: group_of(1, slower(&group, SMALL_NS)),
            scratch: Mutex::default(),
            threads: start_threads(&group, threads, "cosift-scan")?,
            expensive_threads: start_threads(&expensive, threads, "cosift-heavy")?,
            group,
            expensive,
        })
    }

    /// Carries out a small search, and queues others. Several searches are bound to one snapshot. Each reply is called once:
    /// by this call when its search is small or refused, otherwise on a scan thread.
    pub(crate) fn submit(
        &self,
        database: &Arc<Searchable>,
        searches: Vec<NewSearch>,
        stop: &StopFlag,
    ) {
        let arrived = Instant::now();
        let is_of_batch = searches.len() > 1;
        let waiting = |search: NewSearch| WaitingSearch {
            database: Arc::clone(database),
            request: search.request,
            vector: search.vector,
            is_of_batch,
            stop: Arc::clone(stop),
            arrived,
            masks: None,
            found: None,
            reply: search.reply,
        };
        let mut searches: Vec<WaitingSearch> = searches.into_iter().map(waiting).collect();
        // A caller must not wait for the small searches of other callers.
        if let [search] = &mut searches[..]
            && let Some(mut scratch) = self.scratch.try_lock()
            && search.is_small()
        {
            self.small.submit(searches);
            self.small.run_queued(&mut scratch);
            return;
        }
        if searches.len() > 1 {
            let published = database.published.read();
            for search in &mut searches {
                search.found = Some(Found::new(&published, &search.request));
            }
        }
        self.group.submit(searches);
    }

    pub(crate) fn stats(&self) -> SearchStats {
        let mut stats = SearchStats::default();
        self.small.add_to(&mut stats);
        self.group.add_to(&mut stats);
        self.expensive.add_to(&mut stats);
        stats
    }

    /// Answers the queued searches and ends the threads.
    pub(crate) fn close(&self) {
        self.small.close();
        // The first group hands searches to the second until its threads end, so it is closed first.
        for (group, threads) in [
            (&self.group, &self.threads),
            (&self.expensive, &self.expensive_threads),
        ] {
            group.close();
            threads.join();
        }
    }
}

fn start_threads(group: &Arc<Group>, threads: usize, name: &str) -> std::io::Result<ThreadGroup> {
    let group = Arc::clone(group);
    ThreadGroup::start(name, threads.max(1), move || group.run())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::limits::Limits;
    use crate::search::running::Scope;
    use crate::snapshot::{Published, PublishedCell};

    fn database() -> Arc<Searchable> {
        let published = Arc::new(PublishedCell::new(Published::empty()));
        Arc::new(Searchable::new(published, None, None))
    }

    fn request() -> Search {
        Search::parse("{}", &Limits::default()).expect("a request")
    }

    fn waiting(database: Arc<Searchable>, request: Search) -> WaitingSearch {
        WaitingSearch {
            database,
            request,
            vector: vec![1 << 30],
            is_of_batch: false,
            stop: StopFlag::default(),
            arrived: Instant::now(),
            masks: None,
            found: None,
            reply: Reply::new(Box::new(|_| ())),
        }
    }

    #[test]
    fn no_caller_waits_for_a_writer() {
        let searches =
            SearchScheduler::start(1, Arc::default(), VectorMemory::new(0)).expect("threads start");
        let database = database();
        let (replied, reply) = channel();
        let submit = || {
            let replied = replied.clone();
            let done = Box::new(move |_| {
                // The test may have failed already.
                let _ = replied.send(thread::current().id());
            });
            let search = NewSearch {
                request: request(),
                vector: vec![1 << 30],
                reply: Reply::new(done),
            };
            searches.submit(&database, vec![search], &StopFlag::default());
        };
        submit();
        assert_eq!(reply.recv(), Ok(thread::current().id()));
        let (returned, submitted) = channel();
        thread::scope(|scope| {
            database.published.update(|_| {
                scope.spawn(|| {
                    submit();
                    let _ = returned.send(thread::current().id());
                });
                let caller = submitted.recv_timeout(Duration::from_secs(30));
                caller.expect("the call returns while the writer publishes");
            });
        });
        assert!(reply.recv().is_ok());
        searches.close();
    }

    #[test]
    fn a_small_search_is_bound_to_the_snapshot_that_was_found_small() {
        let database = database();
        let small = database.published.snapshot();
        let mut search = waiting(Arc::clone(&database), request());
        assert!(search.is_small());
        database
            .published
            .update(|published| *published = Published::empty());
        let scope = Scope::of(&mut search);
        assert!(Arc::ptr_eq(&scope.snapshot, &small));
        // Also when it was handed over.
        let scope = Scope::of(&mut search);
        assert!(Arc::ptr_eq(&scope.snapshot, &small));
    }
}
