//! Searches and listings of a store outside of the engine.

use std::sync::Arc;

use cosift_engine::{Error, ExternalFacets, ExternalQuery, ExternalSearch, KeptData};
use napi::Env;
use napi::bindgen_prelude::{Either, Float32Array, PromiseRaw, Result, Uint8Array};
use napi_derive::napi;

use crate::background::{background, background_unless_short};
use crate::buffer::Buffer;
use crate::external_values::{
    NativeKeptData, NativePageContent, NativeRow, NativeStoredVectors, components, rows,
};
use crate::failure::NativeFailure;
use crate::promise::outcome;

/// A semantic search that was read.
#[napi]
pub struct NativeSearch {
    pub(crate) search: Arc<ExternalSearch>,
}

#[napi]
impl NativeSearch {
    /// What is needed to select records, JSON.
    #[napi]
    pub fn plan(&self) -> String {
        self.search.plan()
    }

    /// The query vector in single precision.
    #[napi]
    pub fn vector(&self) -> Float32Array {
        self.search.vector().into()
    }

    /// The cosines of vectors in steps of 1e-9. A vector has four bytes for each Q30 component, the lowest first.
    #[napi]
    pub fn cosines(&self, vectors: Vec<Uint8Array>) -> Either<Vec<u32>, NativeFailure> {
        let cosines = vectors.iter().map(|vector| {
            let cosines = self.search.cosines(&components(vector)?, None)?;
            Ok(cosines[0])
        });
        outcome(cosines.collect())
    }

    /// The cosines of the vectors of each record, in the order of its passages.
    #[napi]
    pub fn passage_cosines(
        &self,
        records: Vec<NativeStoredVectors>,
    ) -> Either<Vec<Vec<u32>>, NativeFailure> {
        let cosines = records.iter().map(|record| {
            let first = components(&record.vector)?;
            self.search.cosines(&first, record.passages.as_deref())
        });
        outcome(cosines.collect())
    }

    /// The scores of rows in steps of 1e-9.
    #[napi]
    pub fn scores<'env>(
        &self,
        env: &'env Env,
        stored: Vec<NativeRow>,
    ) -> Result<PromiseRaw<'env, Either<Vec<u32>, NativeFailure>>> {
        let (search, stored) = (Arc::clone(&self.search), rows(stored));
        background(env, move || search.scores(&stored?))
    }

    /// What the page needs of the data of records, each as JSON, in a request with `columns`.
    #[napi]
    pub fn keep(&self, data: Vec<String>) -> Either<Vec<NativeKeptData>, NativeFailure> {
        kept(self.search.keep(&data))
    }

    /// A counter of the request's facets.
    #[napi]
    pub fn facets(&self) -> NativeFacets {
        NativeFacets {
            facets: self.search.facets(),
        }
    }

    /// Writes the response. `scores` are those of the rows.
    #[napi]
    pub fn page<'env>(
        &self,
        env: &'env Env,
        content: NativePageContent,
        scores: Vec<u32>,
    ) -> Result<PromiseRaw<'env, Either<Buffer, NativeFailure>>> {
        let search = Arc::clone(&self.search);
        let is_short = !search.explains() && content.is_short();
        let page = content.try_into();
        background_unless_short(env, is_short, move || search.page(&page?, &scores))
    }
}

/// A filter-only request that was read.
#[napi]
pub struct NativeQuery {
    pub(crate) query: Arc<ExternalQuery>,
}

#[napi]
impl NativeQuery {
    /// What is needed to select records, JSON.
    #[napi]
    pub fn plan(&self) -> String {
        self.query.plan()
    }

    /// Where the page begins, from those of the records that the cursor names that exist; JSON.
    #[napi]
    pub fn start(&self, named: Vec<NativeRow>) -> Either<String, NativeFailure> {
        outcome(rows(named).and_then(|named| self.query.start(&named)))
    }

    /// What the page needs of the data of records, each as JSON, in a request with `columns`.
    #[napi]
    pub fn keep(&self, data: Vec<String>) -> Either<Vec<NativeKeptData>, NativeFailure> {
        kept(self.query.keep(&data))
    }

    /// A counter of the request's facets.
    #[napi]
    pub fn facets(&self) -> NativeFacets {
        NativeFacets {
            facets: self.query.facets(),
        }
    }

    /// Writes the response.
    #[napi]
    pub fn page<'env>(
        &self,
        env: &'env Env,
        content: NativePageContent,
    ) -> Result<PromiseRaw<'env, Either<Buffer, NativeFailure>>> {
        let query = Arc::clone(&self.query);
        let is_short = !query.explains() && content.is_short();
        let page = content.try_into();
        background_unless_short(env, is_short, move || query.page(&page?))
    }
}

/// Counts matches by the facets of a request.
#[napi]
pub struct NativeFacets {
    facets: ExternalFacets,
}

#[napi]
impl NativeFacets {
    /// The columns whose values the rows must have.
    #[napi]
    pub fn columns(&self) -> Vec<String> {
        self.facets.columns()
    }

    /// Counts some of the matches: each row stands for as many as `counts` says.
    #[napi]
    pub fn add(&self, matches: Vec<NativeRow>, counts: Vec<u32>) -> Option<NativeFailure> {
        failure(rows(matches).and_then(|rows| self.facets.add(&rows, &counts)))
    }

    /// The member `facets` of the response.
    #[napi]
    pub fn finish(&self) -> Either<Buffer, NativeFailure> {
        outcome(self.facets.finish().map(Buffer::from))
    }
}

fn kept(
    kept: std::result::Result<Vec<KeptData>, Error>,
) -> Either<Vec<NativeKeptData>, NativeFailure> {
    outcome(kept.map(|kept| kept.into_iter().map(Into::into).collect()))
}

fn failure(result: std::result::Result<(), Error>) -> Option<NativeFailure> {
    result.err().map(NativeFailure::from)
}
