//! Re-embedding: a second store that takes over the commits of a database, with the vectors of another model.

mod reembedding_store;

pub use reembedding_store::ReembeddingBatch;
pub(crate) use reembedding_store::{Followed, ReembeddingStore};
