//! The rules of the engine for a store outside of it.

use std::sync::Arc;

use cosift_engine::{Embedded, ExternalRules, ExternalTexts, Format};
use napi::Env;
use napi::bindgen_prelude::{Either, Float32Array, Float64Array, PromiseRaw, Result, Uint8Array};
use napi_derive::napi;

use crate::arrays::Array;
use crate::background::{background, background_unless_short};
use crate::buffer::Buffer;
use crate::external_searches::{NativeQuery, NativeSearch};
use crate::external_values::{NativeCommit, NativeEmbedded, NativeRow, rows};
use crate::external_writes::{NativeColumnChange, NativeVectors, NativeWrites};
use crate::failure::NativeFailure;
use crate::handles::{self, native_lines};
use crate::options::EngineLimits;
use crate::promise::outcome;
use crate::results::{NativeExampleQuery, NativePassageSettings, NativeTextLine};

/// The rules for the records of one database.
#[napi]
pub struct NativeRules {
    rules: Arc<ExternalRules>,
}

/// Makes the rules for a database. `epoch` identifies it among all that had its id; `settings` is JSON.
#[napi]
pub fn make_rules(
    id: String,
    epoch: String,
    settings: String,
    limits: EngineLimits,
) -> Either<NativeRules, NativeFailure> {
    let rules = limits
        .try_into()
        .and_then(|limits| ExternalRules::new(&id, &epoch, &settings, limits));
    outcome(rules.map(|rules| NativeRules {
        rules: Arc::new(rules),
    }))
}

/// A time as responses have it, from milliseconds since 1970.
#[napi]
pub fn time_text(ms: f64) -> String {
    cosift_engine::time_text(ms as i64)
}

#[napi]
impl NativeRules {
    /// Checks a JSON batch. `vectors` are those of records that come without, one after the other, or none.
    #[napi]
    pub fn prepare_batch<'env>(
        &self,
        env: &'env Env,
        body: Uint8Array,
        vectors: Float32Array,
    ) -> Result<PromiseRaw<'env, Either<handles::Prepared, NativeFailure>>> {
        self.prepare(env, body, vectors.to_vec(), Format::Batch)
    }

    /// Checks lines of JSON. `first_line` is the number of the first line. With `needs_identity`, a record without
    /// `id`, `uuid` and `key` is a bad line. With `read_at`, in milliseconds since 1970, the time of last sync of the
    /// records becomes this time unless it is later.
    #[napi]
    pub fn prepare_lines<'env>(
        &self,
        env: &'env Env,
        body: Uint8Array,
        first_line: f64,
        needs_identity: bool,
        read_at: Option<f64>,
    ) -> Result<PromiseRaw<'env, Either<handles::Prepared, NativeFailure>>> {
        let lines = Format::Lines {
            first: first_line as u64,
            needs_identity,
            read_at: read_at.map(|at| at as i64),
        };
        self.prepare(env, body, Vec::new(), lines)
    }

    /// Checks a patch of one record, `{"data"}`. `record` is an integer, a UUID, or `key:` and a key.
    /// `form` is how the result shows it.
    #[napi]
    pub fn prepare_patch(
        &self,
        record: String,
        form: String,
        body: Uint8Array,
    ) -> Either<handles::Prepared, NativeFailure> {
        let prepared = self.rules.prepare_patch(&record, &form, &body);
        outcome(prepared.map(handles::Prepared::from))
    }

    /// The stored rows that `find_texts` and `stage` need, JSON: `{"identities":[{"id"}|{"uuid"}],"whole"}`; with `whole`,
    /// they need data and vectors.
    #[napi]
    pub fn needs(&self, prepared: &handles::Prepared) -> String {
        self.rules.needs(&prepared.inner)
    }

    /// The ids of the rows whose data and vectors `stage` needs. The given rows need none.
    #[napi]
    pub fn kept(
        &self,
        prepared: &handles::Prepared,
        stored: Vec<NativeRow>,
    ) -> Either<Vec<f64>, NativeFailure> {
        let ids = rows(stored).map(|rows| self.rules.kept(&prepared.inner, &rows));
        outcome(ids.map(|ids| ids.into_iter().map(|id| id as f64).collect()))
    }

    /// Finds the texts to embed.
    #[napi]
    pub fn find_texts<'env>(
        &self,
        env: &'env Env,
        prepared: &handles::Prepared,
        stored: Vec<NativeRow>,
    ) -> Result<PromiseRaw<'env, Either<(), NativeFailure>>> {
        let (rules, prepared) = (Arc::clone(&self.rules), Arc::clone(&prepared.inner));
        let stored = rows(stored);
        background(env, move || rules.find_texts(&prepared, &stored?))
    }

    /// What a commit writes.
    #[napi]
    pub fn stage<'env>(
        &self,
        env: &'env Env,
        prepared: &handles::Prepared,
        stored: Vec<NativeRow>,
        embedded: NativeEmbedded,
        commit: NativeCommit,
    ) -> Result<PromiseRaw<'env, Either<NativeWrites, NativeFailure>>> {
        let (rules, prepared) = (Arc::clone(&self.rules), Arc::clone(&prepared.inner));
        let (stored, embedded) = (rows(stored), Embedded::from(embedded));
        background(env, move || {
            let (next_id, now) = (commit.next_id as u64, commit.now as i64);
            let writes =
                rules.stage(&prepared, &stored?, &embedded, next_id, now, &commit.names)?;
            Ok(NativeWrites::new(writes, commit.vector_type))
        })
    }

    /// How the counts of columns change when a deletion, JSON, deletes rows; or why it may not.
    #[napi]
    pub fn stage_deletion(
        &self,
        deletion: String,
        deleted: Vec<NativeRow>,
    ) -> Either<Vec<NativeColumnChange>, NativeFailure> {
        let columns = rows(deleted).and_then(|rows| self.rules.stage_deletion(&deletion, &rows));
        outcome(columns.map(|columns| columns.into_iter().map(Into::into).collect()))
    }

    /// The texts of rows that the model embeds. `before` has the settings, JSON, with which the rows got their vectors: a row
    /// with the same text keeps them if they are of the same model.
    #[napi]
    pub fn texts_of<'env>(
        &self,
        env: &'env Env,
        stored: Vec<NativeRow>,
        before: Option<String>,
    ) -> Result<PromiseRaw<'env, Either<NativeTexts, NativeFailure>>> {
        let (rules, stored) = (Arc::clone(&self.rules), rows(stored));
        background(env, move || {
            let texts = Arc::new(rules.texts_of(&stored?, before.as_deref())?);
            Ok(NativeTexts { texts })
        })
    }

    /// Reads an identity in a path: `{"id"}` or `{"uuid"}`, JSON.
    #[napi]
    pub fn record_reference(&self, record: String) -> Either<String, NativeFailure> {
        outcome(self.rules.record_reference(&record))
    }

    /// One record; `request` holds `form`, `vectors` and `forced_filter`.
    #[napi]
    pub fn record<'env>(
        &self,
        env: &'env Env,
        stored: Option<NativeRow>,
        record: String,
        request: String,
    ) -> Result<PromiseRaw<'env, Either<Buffer, NativeFailure>>> {
        let rules = Arc::clone(&self.rules);
        let is_short = stored.as_ref().is_none_or(|row| row.vector.is_none());
        let row = stored.map(TryInto::try_into).transpose();
        background_unless_short(env, is_short, move || rules.record(row?, &record, &request))
    }

    /// The identities of the examples of a search: a list of `{"id"}` or `{"uuid"}`, JSON.
    #[napi]
    pub fn example_references(&self, request: String) -> Either<String, NativeFailure> {
        outcome(self.rules.example_references(&request))
    }

    /// The query of examples; `request` as for the engine. `stored` are the examples that exist.
    #[napi]
    pub fn examples<'env>(
        &self,
        env: &'env Env,
        request: String,
        stored: Vec<NativeRow>,
    ) -> Result<PromiseRaw<'env, Either<NativeExampleQuery, NativeFailure>>> {
        let (rules, stored) = (Arc::clone(&self.rules), rows(stored));
        background(env, move || rules.examples(&request, &stored?))
    }

    /// Whether rows pass `filter` and `forced_filter` of a request.
    #[napi]
    pub fn passes(
        &self,
        stored: Vec<NativeRow>,
        request: String,
    ) -> Either<Vec<bool>, NativeFailure> {
        outcome(rows(stored).and_then(|rows| self.rules.passes(&rows, &request)))
    }

    /// Reads a deletion: `{"ids","start","end"}`, JSON.
    #[napi]
    pub fn deletion(&self, request: String) -> Either<String, NativeFailure> {
        outcome(self.rules.deletion(&request))
    }

    /// Writes rows as lines of an export.
    #[napi]
    pub fn lines<'env>(
        &self,
        env: &'env Env,
        stored: Vec<NativeRow>,
        vectors: bool,
    ) -> Result<PromiseRaw<'env, Either<Buffer, NativeFailure>>> {
        let (rules, stored) = (Arc::clone(&self.rules), rows(stored));
        background(env, move || rules.lines(&stored?, vectors))
    }

    /// Reads a search and checks its vector.
    #[napi]
    pub fn search(
        &self,
        request: String,
        vector: Float64Array,
    ) -> Either<NativeSearch, NativeFailure> {
        let search = self.rules.search(&request, &vector).map(Arc::new);
        outcome(search.map(|search| NativeSearch { search }))
    }

    /// Reads a filter-only request.
    #[napi]
    pub fn query(&self, request: String) -> Either<NativeQuery, NativeFailure> {
        let query = self.rules.query(&request).map(Arc::new);
        outcome(query.map(|query| NativeQuery { query }))
    }

    fn prepare<'env>(
        &self,
        env: &'env Env,
        body: impl AsRef<[u8]> + Send + 'static,
        vectors: Vec<f32>,
        format: Format,
    ) -> Result<PromiseRaw<'env, Either<handles::Prepared, NativeFailure>>> {
        let rules = Arc::clone(&self.rules);
        background(env, move || {
            rules
                .prepare(body.as_ref(), &vectors, format)
                .map(handles::Prepared::from)
        })
    }
}

/// The texts of rows that a model embeds.
#[napi]
pub struct NativeTexts {
    texts: Arc<ExternalTexts>,
}

#[napi]
impl NativeTexts {
    /// The texts to embed.
    #[napi]
    pub fn texts(&self) -> Vec<String> {
        self.texts.texts()
    }

    /// The values of columns in a text, by its number.
    #[napi]
    pub fn lines(&self, text: u32) -> Vec<NativeTextLine> {
        native_lines(self.texts.lines(text as usize))
    }

    /// How the texts are split.
    #[napi]
    pub fn passages(&self) -> NativePassageSettings {
        self.texts.passages().into()
    }

    /// The content hashes of the rows, as an array in the binary format of PostgreSQL.
    #[napi]
    pub fn hashes(&self) -> Buffer {
        let mut hashes = Array::bytes();
        for hash in self.texts.hashes() {
            hashes.push(Some(hash));
        }
        hashes.finish()
    }

    /// The vectors of the rows, from those of the texts. `vector_type` is the number of the type `vector` in PostgreSQL.
    #[napi]
    pub fn vectors<'env>(
        &self,
        env: &'env Env,
        embedded: NativeEmbedded,
        vector_type: u32,
    ) -> Result<PromiseRaw<'env, Either<NativeVectors, NativeFailure>>> {
        let (texts, embedded) = (Arc::clone(&self.texts), Embedded::from(embedded));
        background(env, move || {
            let vectors = texts.vectors(&embedded)?;
            let vectors: Vec<_> = vectors.iter().map(|(id, vectors)| (*id, vectors)).collect();
            Ok(NativeVectors::new(&vectors, vector_type))
        })
    }
}
