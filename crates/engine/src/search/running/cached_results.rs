//! What earlier scans of the same search found.

use crate::record::Hit;
use crate::search::caches::SearchKey;

/// The key of a search in the caches, and the hits that were found there.
pub(crate) struct CachedResults {
    /// `None` for a first page that counts nothing: it takes nothing from the caches and leaves nothing in them.
    pub(crate) key: Option<SearchKey>,
    /// The hits, if an earlier scan found them.
    pub(crate) hits: Option<Vec<Hit>>,
}
