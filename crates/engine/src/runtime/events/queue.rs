//! The bounded queue of events.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::runtime::events::event::{Event, EventCode, EventLevel, TakenEvents};
use crate::runtime::now_ms;

/// Events that the queue holds at most. When it is full, the oldest event is dropped and counted.
const MAX_EVENTS: usize = 1024;

/// Bytes of an event's text at most.
const MAX_TEXT_BYTES: usize = 2048;

/// The events of an engine that were not taken yet.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    events: VecDeque<Event>,
    /// Events that were dropped since the last [`EventQueue::take`].
    dropped: u64,
}

impl EventQueue {
    /// Appends an event to the queue and emits it through `tracing`. This is the only place that emits events.
    ///
    /// It never fails, and it blocks no longer than a subscriber of `tracing` does.
    pub(crate) fn emit(
        &self,
        code: EventCode,
        database: Option<&Arc<str>>,
        text: impl Into<String>,
    ) {
        let mut text = text.into();
        let mut ends = (0..=MAX_TEXT_BYTES.min(text.len())).rev();
        // 0 is a character boundary, so there is always one.
        let end = ends.find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or(0));
        let event = Event {
            at: now_ms(),
            code,
            database: database.map(Arc::clone),
            text,
        };
        trace(&event);
        let mut state = self.state.lock();
        if state.events.len() == MAX_EVENTS {
            state.events.pop_front();
            state.dropped += 1;
        }
        state.events.push_back(event);
    }

    /// Removes and returns the events of the queue.
    pub(crate) fn take(&self) -> TakenEvents {
        let State { events, dropped } = std::mem::take(&mut *self.state.lock());
        TakenEvents {
            events: events.into(),
            dropped,
        }
    }
}

/// Emits an event through `tracing` with the target `cosift` and the fields `code`, `database` and `cause`.
fn trace(event: &Event) {
    // The level of a `tracing` event is a constant of its call site.
    macro_rules! emit {
        ($level:ident) => {
            tracing::event!(
                target: "cosift",
                tracing::Level::$level,
                code = event.code.name(),
                database = event.database.as_deref(),
                cause = event.text,
            )
        };
    }
    match event.code.level() {
        EventLevel::Info => emit!(INFO),
        EventLevel::Warn => emit!(WARN),
        EventLevel::Error => emit!(ERROR),
    }
}

/// The events of one database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseEvents {
    queue: Arc<EventQueue>,
    database: Arc<str>,
}

impl DatabaseEvents {
    pub(crate) fn new(queue: &Arc<EventQueue>, database: &str) -> Self {
        Self {
            queue: Arc::clone(queue),
            database: database.into(),
        }
    }

    /// Emits an event of this database.
    pub(crate) fn emit(&self, code: EventCode, text: impl Into<String>) {
        self.queue.emit(code, Some(&self.database), text);
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Level, Metadata, Subscriber};

    use super::*;

    /// Records the events of `tracing` as lines: level, target, fields.
    #[derive(Clone, Default)]
    struct Recorder {
        lines: Arc<Mutex<Vec<String>>>,
    }

    struct Line(String);

    impl Visit for Line {
        fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
            self.0 += &format!(" {field}={value:?}");
        }
    }

    impl Subscriber for Recorder {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= Level::WARN
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let metadata = event.metadata();
            let mut line = Line(format!("{} {}", metadata.level(), metadata.target()));
            event.record(&mut line);
            self.lines.lock().push(line.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_subscriber_of_tracing_sees_every_event_once() {
        let recorder = Recorder::default();
        let queue = Arc::new(EventQueue::default());
        tracing::subscriber::with_default(recorder.clone(), || {
            DatabaseEvents::new(&queue, "db").emit(EventCode::SlowCommit, "2 s");
            queue.emit(EventCode::Panic, None, "index out of bounds");
            queue.emit(EventCode::TemporaryFilesRemoved, None, "not enabled");
        });
        assert_eq!(
            *recorder.lines.lock(),
            [
                "WARN cosift code=\"slow_commit\" database=\"db\" cause=\"2 s\"",
                "ERROR cosift code=\"panic\" cause=\"index out of bounds\"",
            ]
        );
        assert_eq!(queue.take().events.len(), 3);
    }

    #[test]
    fn a_full_queue_drops_the_oldest_and_counts_them() {
        let queue = Arc::new(EventQueue::default());
        let events = DatabaseEvents::new(&queue, "db");
        for number in 0..MAX_EVENTS + 3 {
            events.emit(EventCode::SlowCommit, number.to_string());
        }
        let taken = queue.take();
        assert_eq!(taken.dropped, 3);
        assert_eq!(taken.events.len(), MAX_EVENTS);
        assert_eq!(taken.events[0].text, "3");
        assert_eq!(taken.events[0].database.as_deref(), Some("db"));
        let rest = queue.take();
        assert!(rest.events.is_empty() && rest.dropped == 0);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let queue = EventQueue::default();
        queue.emit(EventCode::Panic, None, "€".repeat(MAX_TEXT_BYTES));
        let text = &queue.take().events[0].text;
        assert!(text.len() <= MAX_TEXT_BYTES && text.len() > MAX_TEXT_BYTES - 4);
    }
}
