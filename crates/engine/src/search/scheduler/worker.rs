//! What each scan thread does: it takes the next step from the queue and carries it out. The callers of small searches do
//! the same.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use parking_lot::{Condvar, Mutex};

use crate::error::Error;
use crate::lexical::WordColumns;
use crate::reply::caught;
use crate::runtime::{Metrics, message};
use crate::search::answer::answer;
use crate::search::blend::Blend;
use crate::search::block_scan::Scratch;
use crate::search::running::{RunningSearch, Scope, WaitingSearch};
use crate::search::scheduler::queue::{MAX_BATCH, Queue, SearchStats, Step};
use crate::search::shared_scan::SharedScan;
use crate::snapshot::VectorMemory;

/// The threads that take steps from one queue.
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// Notified when another thread queued a step. A thread that queues one and takes the next step itself does not notify.
    work: Condvar,
    metrics: Arc<Metrics>,
    /// The exact vectors and low nibbles that searches keep in memory.
    vectors: Arc<VectorMemory>,
    /// Where searches go that take too long for this group; `None` in the group that takes all.
    slower: Option<Slower>,
}

/// The group to which another group hands searches over.
pub(crate) struct Slower {
    pub(crate) group: Arc<Group>,
    /// Nanoseconds that the filter of a search may take in the group that hands over.
    pub(crate) max_ns: f64,
}

impl Group {
    /// The group of so many threads.
    pub(crate) fn new(
        threads: usize,
        metrics: Arc<Metrics>,
        vectors: Arc<VectorMemory>,
        slower: Option<Slower>,
    ) -> Self {
        Self {
            queue: Mutex::new(Queue::new(threads)),
            work: Condvar::new(),
            metrics,
            vectors,
            slower,
        }
    }

    /// Queues searches, or answers each that is refused with the reason.
    pub(crate) fn submit(&self, searches: Vec<WaitingSearch>) {
        let mut refused = Vec::new();
        {
            let mut queue = self.queue.lock();
            for search in searches {
                refused.extend(queue.push(search).err());
            }
        }
        self.work.notify_one();
        for (search, error) in refused {
            search.reply.send(Err(error));
        }
    }

    /// Refuses further searches. The threads end once all others are answered.
    pub(crate) fn close(&self) {
        self.queue.lock().close();
        self.work.notify_all();
    }

    /// Adds the load of this group to `stats`.
    pub(crate) fn add_to(&self, stats: &mut SearchStats) {
        self.queue.lock().add_to(stats);
    }

    /// Carries out steps until the group is closed and its queue is empty.
    pub(crate) fn run(&self) {
        let mut scratch = Scratch::default();
        while let Some(step) = self.wait_for_step() {
            self.vectors.give_back_if_scarce();
            self.carry_out(step, &mut scratch);
        }
    }

    /// Carries out steps until none is left to take now.
    pub(crate) fn run_queued(&self, scratch: &mut Scratch) {
        loop {
            // The queue is locked in a statement of its own, because a step locks it, too.
            let step = self.queue.lock().next_step();
            match step {
                Some(step) => self.carry_out(step, scratch),
                None => return,
            }
        }
    }

    /// Carries out the steps of single searches whose turn it is, within a part of the scan of a batch. No more than a scan of
    /// a batch has searches, so that the part ends.
    fn run_singles(&self) {
        let mut scratch = None;
        for _ in 0..MAX_BATCH {
            let step = self.queue.lock().next_single_step();
            match step {
                Some(step) => self.carry_out(step, scratch.get_or_insert_default()),
                None => return,
            }
        }
    }

    fn carry_out(&self, step: Step, scratch: &mut Scratch) {
        match step {
            Step::Answer(search) => {
                answer(&search);
                self.queue.lock().count_answer();
            }
            Step::Bind(search) => self.bind(*search),
            Step::Scan(scan, part) => self.scan(&scan, part, scratch),
        }
    }

    /// Waits for a step; `None` once the group is closed and its queue is empty.
    fn wait_for_step(&self) -> Option<Step> {
        let mut queue = self.queue.lock();
        loop {
            if let Some(step) = queue.next_step() {
                let more = queue.has_more();
                drop(queue);
                if more {
                    self.work.notify_one();
                }
                return Some(step);
            }
            if queue.is_done() {
                return None;
            }
            self.work.wait(&mut queue);
        }
    }

    fn bind(&self, search: WaitingSearch) {
        if search.stop.load(Relaxed) {
            return search.reply.send(Err(Error::Stopped));
        }
        // A panic while binding drops the search, and the caller still gets a reply.
        let reply = search.reply.clone();
        match caught(|| self.bind_or_hand_over(search)) {
            Ok(None) => {}
            Ok(Some(search)) => match &self.slower {
                Some(slower) if search.counts_many() => slower.group.push_bound(search),
                // This thread takes the next step now, and wakes another one when there are more.
                _ => self.queue.lock().push_bound(search),
            },
            Err(error) => reply.send(Err(error)),
        }
    }

    /// Queues a search that a thread of the other group has bound.
    fn push_bound(&self, search: RunningSearch) {
        self.queue.lock().push_bound(search);
        self.work.notify_one();
    }

    /// Binds a search, or returns `None` for a search that takes too long, which is handed to the slower group.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the index of words was switched off after the search arrived.
    fn bind_or_hand_over(&self, mut search: WaitingSearch) -> Result<Option<RunningSearch>, Error> {
        let mut scope = Scope::of(&mut search);
        let (words, names) = (&scope.snapshot.words, &scope.snapshot.names);
        search.request.check_words(**words != WordColumns::None)?;
        let blend = Blend::bind(&search.request, words, names);
        let takes_longer = |max_ns| {
            let blend = blend.as_ref();
            scope.takes_longer(max_ns, &search.request)
                || blend.is_some_and(|blend| blend.takes_longer(max_ns, &scope.snapshot))
        };
        match &self.slower {
            Some(slower) if takes_longer(slower.max_ns) => {
                slower.group.submit(vec![search]);
                return Ok(None);
            }
            Some(_) => {}
            None => scope.is_expensive = true,
        }
        Ok(Some(RunningSearch::bind(scope, blend, search)))
    }

    fn scan(&self, scan: &SharedScan, part: usize, scratch: &mut Scratch) {
        let is_of_batch = scan.is_of_batch();
        let mut give_way = || {
            if is_of_batch {
                self.run_singles();
            }
        };
        let scanned = AssertUnwindSafe(|| scan.scan(part, scratch, &mut give_way));
        if let Err(panic) = catch_unwind(scanned) {
            for search in &scan.searches {
                search.outcome.fail(Error::internal(message(&*panic)));
            }
        }
        self.metrics.scanned(std::mem::take(&mut scratch.bytes));
        if scan.finish_part() {
            // As after a bind, this thread takes the next step now.
            self.queue.lock().end_scan(scan);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::reply::Reply;
    use crate::runtime::StopFlag;
    use crate::search::scheduler::queue::tests::{database, waiting};

    #[test]
    fn a_single_search_is_answered_within_a_part_of_a_batch() {
        let database = database(8);
        let group = Group::new(1, Arc::default(), VectorMemory::new(0), None);
        let stop = StopFlag::default();
        let mut batch: Vec<_> = (0..MAX_BATCH)
            .map(|_| waiting(&database, &stop, "{}"))
            .collect();
        for search in &mut batch {
            search.is_of_batch = true;
        }
        group.submit(batch);
        let mut scratch = Scratch::default();
        let part = loop {
            let step = group.queue.lock().next_step();
            match step.expect("the scan of the batch") {
                step @ Step::Scan(..) => break step,
                step => group.carry_out(step, &mut scratch),
            }
        };
        let (replied, reply) = channel();
        let mut single = waiting(&database, &stop, "{}");
        single.reply = Reply::new(Box::new(move |page| {
            replied.send(page).expect("the test waits");
        }));
        group.submit(vec![single]);
        group.carry_out(part, &mut scratch);
        let page = reply.try_recv().expect("an answer");
        assert!(page.is_ok());
    }
}
