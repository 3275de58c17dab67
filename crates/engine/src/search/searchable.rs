//! What a search reads of a database.

use std::sync::Arc;

use crate::approximate::Approximation;
use crate::search::caches::{KnownCounts, Windows};
use crate::snapshot::{KnownMasks, PublishedCell};

/// The published snapshot of a database, its approximate index, and the caches of its searches.
pub(crate) struct Searchable {
    pub(crate) published: Arc<PublishedCell>,
    pub(crate) approximation: Option<Arc<Approximation>>,
    pub(crate) pages: Windows,
    pub(crate) counts: KnownCounts,
    pub(crate) filters: KnownMasks,
}

impl Searchable {
    pub(crate) fn new(
        published: Arc<PublishedCell>,
        approximation: Option<Arc<Approximation>>,
    ) -> Self {
        Self {
            published,
            approximation,
            pages: Windows::default(),
            counts: KnownCounts::default(),
            filters: KnownMasks::default(),
        }
    }
}
