//! What the binding calls: the engine, its databases, and the calls on one database.

mod calls;
mod changes;
mod database;
mod describe;
mod engine;
mod model_switch;
mod workers;

pub use engine::Engine;
