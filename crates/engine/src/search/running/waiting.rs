//! A search that is not yet bound to a snapshot.

use std::sync::Arc;
use std::time::Instant;

use crate::error::Error;
use crate::runtime::StopFlag;
use crate::search::page::Page;
use crate::search::request::Search;
use crate::search::searchable::Searchable;
use crate::snapshot::Masks;

/// Called once with the page or the error.
pub(crate) type Reply = Box<dyn FnOnce(Result<Page, Error>) + Send>;

/// A search that waits to be bound to a snapshot.
pub(crate) struct WaitingSearch {
    pub(crate) database: Arc<Searchable>,
    pub(crate) request: Search,
    /// The query's unit vector, Q30 components.
    pub(crate) vector: Vec<i32>,
    pub(crate) stop: StopFlag,
    pub(crate) arrived: Instant,
    /// The cached masks of the filter, once they were looked up. A search may be bound a second time, on the threads
    /// for expensive searches: it still counts as one use of its filter.
    pub(crate) masks: Option<Option<Arc<Masks>>>,
    pub(crate) reply: Reply,
}
