//! What every other module may use: stop flags, events, metrics, panics and the clock.

mod events;
mod metrics;
mod process;
mod recently_used;
mod stop;
mod thread_group;
mod turn_threads;

pub(crate) use events::{DatabaseEvents, EventQueue};
pub use events::{Event, EventCode, EventLevel, TakenEvents};
pub use metrics::MetricsReading;
pub(crate) use metrics::{Metrics, WaitingWrite};
pub(crate) use process::{available_memory, max_open_files, message, now_ms};
pub(crate) use recently_used::RecentlyUsed;
pub use stop::StopFlag;
pub(crate) use stop::{CHECK_BYTES, StopCheck, Stopped, give_way};
pub(crate) use thread_group::ThreadGroup;
pub(crate) use turn_threads::{TakesTurns, TurnThreads};
