//! Searches and listings of records that a store outside of the engine selects.

use std::cmp::Reverse;
use std::time::Instant;

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::external::kept_data::KeptData;
use crate::external::row::{ExternalRow, published_of, snapshot_of, vectors_of};
use crate::external::rules::{ExternalFacets, ExternalRules};
use crate::lexical::{TextColumns, WordColumns};
use crate::record::{Score, q30_to_f32};
use crate::runtime::StopCheck;
use crate::search::{Blend, ExternalSelection, Query, ScoreParts, Search, Selected};
use crate::snapshot::{Block, Snapshot};

/// What a page is written from: the selected records, in order.
#[derive(Clone, Debug, Default)]
pub struct ExternalPage {
    /// The records of the page, and what its cursor may have to name.
    pub rows: Vec<ExternalRow>,
    /// How they were selected.
    pub selection: ExternalSelection,
}

impl ExternalPage {
    /// `dimensions` is 0 for a page that needs no vectors; `fingerprint` is that of the model that made them.
    fn write<T>(
        &self,
        arrived: Instant,
        (dimensions, fingerprint): (usize, Option<&str>),
        write: impl FnOnce(&Selected<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let snapshot = snapshot_of(&self.rows, ColumnNames::default(), dimensions)?;
        write(&Selected {
            snapshot: &snapshot,
            fingerprint,
            selection: &self.selection,
            arrived,
        })
    }
}

/// A semantic search, parsed and checked.
pub struct ExternalSearch {
    search: Search,
    /// The columns that the database embeds.
    embed: Option<Vec<String>>,
    words: WordColumns,
    /// The fingerprint of the model of the database.
    fingerprint: Option<String>,
    vector: Vec<i32>,
    arrived: Instant,
}

impl ExternalRules {
    /// Parses a search and checks its vector.
    ///
    /// # Errors
    /// [`Error::Invalid`], [`Error::Dimensions`], [`Error::Vector`]; [`Error::Stale`] when another model made the vector, or
    /// for other default values.
    pub fn search(&self, request: &str, vector: &[f64]) -> Result<ExternalSearch, Error> {
        let search = Search::parse(request, &self.limits)?;
        let vector = search.check(&self.settings, vector)?;
        Ok(ExternalSearch {
            search,
            embed: self.settings.embed.clone(),
            words: WordColumns::of(&self.settings),
            fingerprint: self.settings.fingerprint.clone(),
            vector,
            arrived: Instant::now(),
        })
    }

    /// Parses a listing.
    ///
    /// # Errors
    /// [`Error::Invalid`]; [`Error::Stale`] for other default values.
    pub fn query(&self, request: &str) -> Result<ExternalQuery, Error> {
        let query = Query::parse(request, &self.limits)?;
        query.common.check(&self.settings)?;
        Ok(ExternalQuery {
            query,
            dimensions: self.settings.dimensions,
            fingerprint: self.settings.fingerprint.clone(),
            arrived: Instant::now(),
        })
    }
}

impl ExternalSearch {
    /// Whether the response explains how it was found.
    pub fn explains(&self) -> bool {
        self.search.common.explain.is_some()
    }

    /// What the store needs to select records, JSON.
    pub fn plan(&self) -> String {
        self.search.plan().to_string()
    }

    /// The query vector in single precision.
    pub fn vector(&self) -> Vec<f32> {
        let mut vector = Vec::new();
        q30_to_f32(&self.vector, &mut vector);
        vector
    }

    /// The cosines of the vectors of a record in the order of its passages, in steps of 1e-9. The largest one is the score
    /// of the record, unless scores have several parts. `first` has Q30 components.
    ///
    /// # Errors
    /// [`Error::Dimensions`]; [`Error::Internal`] for damaged passages.
    pub fn cosines(&self, first: &[i32], passages: Option<&[u8]>) -> Result<Vec<u32>, Error> {
        let cosines = self.cosines_of(first, passages)?;
        Ok(cosines.into_iter().map(|score| score.0).collect())
    }

    /// The scores of rows with their data and their vectors, in steps of 1e-9.
    ///
    /// # Errors
    /// [`Error::Dimensions`]; [`Error::Internal`] for damaged data.
    pub fn scores(&self, rows: &[ExternalRow]) -> Result<Vec<u32>, Error> {
        let snapshot = snapshot_of(rows, ColumnNames::default(), 0)?;
        let Some(blend) = self.search.blend(&self.words, &snapshot) else {
            let cosines = rows.iter().map(|row| self.cosine(row));
            return cosines.map(|cosine| Ok(cosine?.0)).collect();
        };
        let parts = self.parts(&blend, &snapshot, rows)?;
        let scores = parts.iter().map(|parts| {
            let extra = blend.extra(&parts.others);
            blend.cosine.blend(parts.meaning, extra).0
        });
        Ok(scores.collect())
    }

    /// What the page needs of the data of records, each as JSON, in a request with `columns`.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub fn keep(&self, data: &[String]) -> Result<Vec<KeptData>, Error> {
        // The texts of passages are cut out of those of the embedded columns.
        let texts = (self.search.passages.listed > 0).then_some(self.embed.as_deref());
        KeptData::of(&self.search.common, texts, None, data)
    }

    /// The counter of the request's facets.
    pub fn facets(&self) -> ExternalFacets {
        ExternalFacets::new(&self.search.common.facets, self.search.common.page_bytes)
    }

    /// Writes the response. `scores` are those of the rows, in steps. The rows of a map, and those of a request that
    /// shows vectors or passages or explains scores of several parts, have their vectors.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub fn page(&self, page: &ExternalPage, scores: &[u32]) -> Result<Vec<u8>, Error> {
        let scores: Vec<Score> = scores.iter().map(|&steps| Score(steps)).collect();
        let Search {
            common, passages, ..
        } = &self.search;
        let dimensions = match common.writes_vectors() || passages.needs_vectors() {
            true => self.vector.len(),
            false => 0,
        };
        let fingerprint = self.fingerprint.as_deref();
        page.write(self.arrived, (dimensions, fingerprint), |selected| {
            let best = |block: &Block, slot: usize, count| {
                let row = &page.rows[block.row(slot).0 as usize];
                self.best_passages(row, count)
            };
            let embedded = TextColumns::new(self.embed.as_deref(), &selected.snapshot.names);
            let blend = (self.search).blend(&self.words, selected.snapshot);
            let parts = match &blend {
                Some(blend) if self.explains() => {
                    self.parts(blend, selected.snapshot, &page.rows)?
                }
                _ => Vec::new(),
            };
            (self.search).page_of(selected, &scores, parts, (&best, embedded), blend.as_ref())
        })
    }

    /// The parts of the scores of the rows of a snapshot.
    fn parts(
        &self,
        blend: &Blend,
        snapshot: &Snapshot,
        rows: &[ExternalRow],
    ) -> Result<Vec<ScoreParts>, Error> {
        let slots = snapshot
            .blocks
            .iter()
            .flat_map(|block| (0..block.len()).map(move |slot| (block, slot)));
        let parts = slots.zip(rows).map(|((block, slot), row)| {
            let meaning = self.cosine(row)?;
            let others = blend.parts(block, slot, &StopCheck::never())?;
            Ok(ScoreParts { meaning, others })
        });
        parts.collect()
    }

    /// The cosine of the best vector of a row.
    fn cosine(&self, row: &ExternalRow) -> Result<Score, Error> {
        let cosines = self.cosines_of(&row.vector, row.passages.as_deref())?;
        Ok(cosines.into_iter().max().unwrap_or(Score(0)))
    }

    /// The scores and numbers of the best passages of a row, `count` at most. Of equal ones, the first in the text is first.
    fn best_passages(&self, row: &ExternalRow, count: usize) -> Result<Vec<(Score, usize)>, Error> {
        let cosines = self.cosines_of(&row.vector, row.passages.as_deref())?;
        let mut best: Vec<_> = cosines.into_iter().zip(0..).collect();
        best.sort_by_key(|&(score, at)| (Reverse(score), at));
        best.truncate(count);
        Ok(best)
    }

    fn cosines_of(&self, first: &[i32], passages: Option<&[u8]>) -> Result<Vec<Score>, Error> {
        let (expected, got) = (self.vector.len(), first.len());
        if got != expected {
            return Err(Error::Dimensions { expected, got });
        }
        if passages.is_none() {
            return Ok(vec![Score::of(&self.vector, first)]);
        }
        let vectors = vectors_of(first, passages, expected)?;
        Ok((vectors.all())
            .map(|vector| Score::of(&self.vector, vector))
            .collect())
    }
}

/// A filter-only request, parsed and checked.
pub struct ExternalQuery {
    query: Query,
    dimensions: usize,
    /// The fingerprint of the model of the database.
    fingerprint: Option<String>,
    arrived: Instant,
}

impl ExternalQuery {
    /// Whether the response explains how it was found.
    pub fn explains(&self) -> bool {
        self.query.common.explain.is_some()
    }

    /// What the store needs to select records, JSON.
    pub fn plan(&self) -> String {
        self.query.plan().to_string()
    }

    /// Where the page begins, JSON. `named` are those of the records that the cursor names that exist.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the position is lost.
    pub fn start(&self, named: &[ExternalRow]) -> Result<String, Error> {
        Ok(self.query.start(&published_of(named, 0)?)?.to_string())
    }

    /// As [`ExternalSearch::keep`]; the cursor of the page needs the column of the order.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub fn keep(&self, data: &[String]) -> Result<Vec<KeptData>, Error> {
        KeptData::of(&self.query.common, None, self.query.sort.column(), data)
    }

    /// The counter of the request's facets.
    pub fn facets(&self) -> ExternalFacets {
        ExternalFacets::new(&self.query.common.facets, self.query.common.page_bytes)
    }

    /// Writes the response.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub fn page(&self, page: &ExternalPage) -> Result<Vec<u8>, Error> {
        let dimensions = match self.query.common.writes_vectors() {
            true => self.dimensions,
            false => 0,
        };
        let fingerprint = self.fingerprint.as_deref();
        page.write(self.arrived, (dimensions, fingerprint), |selected| {
            self.query.page_of(selected)
        })
    }
}
