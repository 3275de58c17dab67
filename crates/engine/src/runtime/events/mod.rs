//! Events: what the engine reports to operators.
//!
//! An event goes to two readers. The queue of the engine holds it for [`crate::Engine::take_events`], by which the
//! service fills its log. `tracing` shows it to a Rust program that embeds the engine and has installed a subscriber.

mod event;
mod queue;

pub use event::{Event, EventCode, EventLevel, TakenEvents};
pub(crate) use queue::{DatabaseEvents, EventQueue};
