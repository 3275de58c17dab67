use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;
use crate::runtime::EventQueue;

struct Steps<F>(F);

impl<F: FnMut(&AtomicBool) -> Step + Send> Job for Steps<F> {
    fn step(&mut self, stop: &AtomicBool) -> Step {
        (self.0)(stop)
    }
}

const FINISHED: Step = Step::Finished { progress: true };

fn submit(
    scheduler: &Scheduler,
    lane: Lane,
    step: impl FnMut(&AtomicBool) -> Step + Send + 'static,
) -> (JobHandle, Receiver<bool>) {
    let events = DatabaseEvents::new(&Arc::default(), "db");
    let (sender, ended) = channel();
    let on_end = Box::new(move |progress| sender.send(progress).unwrap_or_default());
    let handle = scheduler.submit(lane, "a job", &events, Box::new(Steps(step)), on_end);
    (handle, ended)
}

/// Submits a job of one step that ends only when it is cancelled. Returns once the step runs.
fn run_until_cancelled(scheduler: &Scheduler, lane: Lane) -> (JobHandle, Receiver<bool>) {
    let (sender, running) = channel();
    let submitted = submit(scheduler, lane, move |stop| {
        sender.send(()).unwrap_or_default();
        while !stop.load(Relaxed) {
            std::thread::yield_now();
        }
        Step::Continue
    });
    running.recv().expect("the step runs");
    submitted
}

fn order_of_steps(lane: Lane) -> Vec<u32> {
    let scheduler = Scheduler::start(&Arc::default()).expect("threads");
    let (order, steps): (Sender<u32>, Receiver<u32>) = channel();
    let (open, gate) = channel();
    let (gate_handle, gate_ended) = submit(&scheduler, lane, move |_| {
        gate.recv().expect("the test opens the channel");
        FINISHED
    });
    let jobs: Vec<_> = [1, 2]
        .map(|job| {
            let (order, mut left) = (order.clone(), 3);
            submit(&scheduler, lane, move |_| {
                order.send(job).expect("the test reads them");
                left -= 1;
                if left == 0 { FINISHED } else { Step::Continue }
            })
        })
        .into();
    open.send(()).expect("the job waits");
    gate_ended.recv().expect("it ends");
    for (_, ended) in &jobs {
        assert!(ended.recv().expect("it ends"));
    }
    drop((order, jobs, gate_handle));
    steps.iter().collect()
}

#[test]
fn databases_take_turns_step_by_step() {
    for lane in [Lane::Training, Lane::Maintenance] {
        assert_eq!(order_of_steps(lane), [1, 2, 1, 2, 1, 2], "{lane:?}");
    }
}

#[test]
fn a_check_ends_before_the_next_begins() {
    assert_eq!(order_of_steps(Lane::Check), [1, 1, 1, 2, 2, 2]);
}

#[test]
fn a_training_job_delays_no_other_job() {
    let scheduler = Scheduler::start(&Arc::default()).expect("threads");
    let (training, _) = run_until_cancelled(&scheduler, Lane::Training);
    let (queued, never) = submit(&scheduler, Lane::Training, |_| FINISHED);
    for lane in [Lane::Maintenance, Lane::Check, Lane::Maintenance] {
        let (_handle, ended) = submit(&scheduler, lane, |_| FINISHED);
        assert!(ended.recv().expect("it runs while the training runs"));
    }
    drop(queued);
    assert!(never.recv().is_err(), "a cancelled job is not run");
    drop(training);
}

#[test]
fn a_handle_ends_its_job_and_no_other() {
    let scheduler = Scheduler::start(&Arc::default()).expect("threads");
    let (handle, ended) = run_until_cancelled(&scheduler, Lane::Maintenance);
    let (_next, next_ended) = submit(&scheduler, Lane::Maintenance, |_| FINISHED);
    drop(handle);
    assert!(
        ended.recv().is_err(),
        "a cancelled job does not report its end"
    );
    assert!(next_ended.recv().expect("it runs"));
}

#[test]
fn a_panic_is_reported_and_the_next_job_runs() {
    let scheduler = Scheduler::start(&Arc::default()).expect("threads");
    let queue = Arc::<EventQueue>::default();
    let events = DatabaseEvents::new(&queue, "db");
    for _ in 0..3 * THREADS {
        let (sender, ended) = channel();
        let job = Box::new(Steps(|_: &AtomicBool| -> Step {
            panic!("requested by the test")
        }));
        let on_end = Box::new(move |progress| sender.send(progress).unwrap_or_default());
        let _handle = scheduler.submit(Lane::Training, "a job", &events, job, on_end);
        assert!(!ended.recv().expect("it ends"), "the job made no progress");
    }
    let events = queue.take().events;
    assert_eq!(events.len(), 3 * THREADS);
    for event in events {
        assert_eq!(event.code, EventCode::Panic);
        assert_eq!(event.text, "in a job: requested by the test");
        assert_eq!(event.database.as_deref(), Some("db"));
    }
    let (_handle, ended) = submit(&scheduler, Lane::Training, |_| FINISHED);
    assert!(ended.recv().expect("the threads survive"));
}

#[test]
fn closing_cancels_what_waits_and_what_runs() {
    let scheduler = Scheduler::start(&Arc::default()).expect("threads");
    let running = run_until_cancelled(&scheduler, Lane::Maintenance);
    let waiting = submit(&scheduler, Lane::Maintenance, |_| FINISHED);
    scheduler.close();
    let late = submit(&scheduler, Lane::Maintenance, |_| FINISHED);
    for (handle, ended) in [running, waiting, late] {
        assert!(ended.recv().is_err());
        drop(handle);
    }
}

#[test]
fn a_check_pauses_longer_beside_searches() {
    let step = Duration::from_millis(4);
    assert_eq!(pause_after(step, false), step);
    assert_eq!(pause_after(step, true), 9 * step);
    assert_eq!(pause_after(Duration::from_secs(1), true), MAX_PAUSE);
}
