//! Records between `prepare_reembedding` and `commit_reembedding`.

use std::sync::Arc;

use napi_derive::napi;

/// Records that wait for the vectors of their texts by another model.
#[napi]
pub struct ReembeddingBatch {
    pub(crate) inner: Arc<cosift_engine::ReembeddingBatch>,
}

impl From<cosift_engine::ReembeddingBatch> for ReembeddingBatch {
    fn from(batch: cosift_engine::ReembeddingBatch) -> Self {
        Self {
            inner: Arc::new(batch),
        }
    }
}

#[napi]
impl ReembeddingBatch {
    /// The texts to embed, in the order that the commit takes their vectors in.
    #[napi]
    pub fn texts(&self) -> Vec<String> {
        self.inner.texts().to_vec()
    }

    /// Whether the database had nothing more when the batch was made.
    #[napi(getter)]
    pub fn is_last(&self) -> bool {
        self.inner.is_last()
    }
}
