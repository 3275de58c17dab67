//! What every other module may use: stop flags, events, metrics, panics and the clock.

mod clock;
mod events;
mod metrics;
mod panics;
mod stop;

pub(crate) use clock::now_ms;
pub(crate) use events::{DatabaseEvents, EventQueue};
pub use events::{Event, EventCode, EventLevel, TakenEvents};
pub use metrics::MetricsReading;
pub(crate) use metrics::{Metrics, WaitingWrite};
pub(crate) use panics::message;
pub(crate) use stop::CHECK_BYTES;
pub use stop::StopFlag;
pub(crate) use stop::{StopCheck, Stopped};
