//! The part of a database that searches read.

use std::sync::Arc;

use crate::record::{Hit, Position, RecordRow};
use crate::search::caches::{CountCache, PageCache};
use crate::search::distinct::ColumnGroupsCache;
use crate::search::lexical_pace::LexicalPace;
use crate::snapshot::{FilterCache, PublishedCell};

/// The published snapshot of a database, and the caches of its searches.
pub(crate) struct Searchable {
    pub(crate) published: Arc<PublishedCell>,
    /// The columns that are embedded; `None` for every string column.
    pub(crate) embed: Option<Vec<String>>,
    /// The fingerprint of the model that made the vectors.
    pub(crate) fingerprint: Option<String>,
    /// The pages of searches, with the sizes of the groups of hits.
    pub(crate) pages: PageCache<Position, (Hit, u32)>,
    /// The pages of listings, by the hash of their cursor, with the sizes of the groups of records.
    pub(crate) listed: PageCache<[u8; 16], (RecordRow, u32)>,
    pub(crate) counts: CountCache,
    pub(crate) groups: ColumnGroupsCache,
    pub(crate) filters: FilterCache,
    pub(crate) lexical_pace: LexicalPace,
}

impl Searchable {
    pub(crate) fn new(
        published: Arc<PublishedCell>,
        embed: Option<Vec<String>>,
        fingerprint: Option<String>,
    ) -> Self {
        Self {
            published,
            embed,
            fingerprint,
            pages: PageCache::default(),
            listed: PageCache::default(),
            counts: CountCache::default(),
            groups: ColumnGroupsCache::default(),
            filters: FilterCache::default(),
            lexical_pace: LexicalPace::default(),
        }
    }
}
