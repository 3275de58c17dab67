//! Re-embedding: a second store copies the commits of a database, with the vectors of another model.

mod batch;
mod store;

pub use batch::ReembeddingBatch;
pub(crate) use store::{ReembeddingStore, Source};
