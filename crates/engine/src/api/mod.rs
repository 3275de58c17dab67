//! What the binding calls: the engine, its databases, and the calls on one database.

mod backup;
mod catalog;
mod changes;
mod database;
mod databases;
mod describe;
mod doctor_calls;
mod engine;
mod following;
mod reads;
mod reembedding_calls;
mod slot;
mod sync_state;
mod workers;
mod writes;

pub use backup::Backup;
pub use engine::Engine;
pub use reads::Export;
