//! Single records, exports, deletions, and what filters hide.

use serde_json::{Value, json};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::export::LineWriter;
use crate::external::row::{ExternalRow, published_of, snapshot_of};
use crate::external::rules::ExternalRules;
use crate::filter::RequestReader;
use crate::record::{TimeRange, Variant};
use crate::runtime::StopCheck;
use crate::search::{ExampleQuery, Examples, RecordWriter};
use crate::snapshot::{Selection, VectorWriter};
use crate::write::{Deletion, RecordRef};

/// An identity as a store compares it, JSON: `{"id":"42"}` or `{"uuid":"…"}`.
pub(super) fn reference(record: RecordRef) -> Value {
    match record {
        RecordRef::Id(id) => json!({ "id": id.0.to_string() }),
        RecordRef::Uuid(uuid) => json!({ "uuid": uuid.to_string() }),
    }
}

impl ExternalRules {
    /// Reads an identity in a path: an integer, a UUID, or `key:` and a key.
    ///
    /// # Errors
    /// [`Error::RecordNotFound`] for what is neither.
    pub fn record_reference(&self, record: &str) -> Result<String, Error> {
        let parsed = RecordRef::parse(record).ok_or_else(|| self.record_not_found(record))?;
        Ok(reference(parsed).to_string())
    }

    /// Writes a record as `variant` of the request shows it, if it passes the forced filter. `record` is what the caller
    /// asked for.
    ///
    /// # Errors
    /// [`Error::RecordNotFound`], also without a row; [`Error::Invalid`].
    pub fn record(
        &self,
        row: Option<ExternalRow>,
        record: &str,
        request: &str,
    ) -> Result<Vec<u8>, Error> {
        let request = RequestReader::new(request, &self.limits)?;
        let variant = request.variant()?;
        let forced = request.filter(variant)?;
        let row = row.ok_or_else(|| self.record_not_found(record))?;
        let vectors = request.flag("vectors")?;
        let dimensions = if vectors { self.settings.dimensions } else { 0 };
        let snapshot = snapshot_of(&[row], ColumnNames::default(), dimensions)?;
        let selection = Selection::bind(&snapshot, forced.as_ref(), TimeRange::ALWAYS);
        let block = &snapshot.blocks[0];
        if !selection.holds((block, 0), &StopCheck::never())? {
            return Err(self.record_not_found(record));
        }
        let mut out = Vec::new();
        let fingerprint = self.settings.fingerprint.as_deref();
        let mut writer = RecordWriter {
            snapshot: &snapshot,
            variant,
            shown: None,
            vectors: vectors.then(|| VectorWriter::new(fingerprint)),
        };
        writer.write((block, 0), &mut out)?;
        Ok(out)
    }

    /// The identities of the examples of a search, a list in JSON.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn example_references(&self, request: &str) -> Result<String, Error> {
        let examples = Examples::parse(request, &self.limits)?;
        let references: Vec<Value> = examples.references().map(reference).collect();
        Ok(json!(references).to_string())
    }

    /// Makes the query of the examples of a search. `rows` are those of the examples that exist, in any order.
    ///
    /// # Errors
    /// [`Error::Stale`]; [`Error::Invalid`] with pointers below `/search/like`.
    pub fn examples(&self, request: &str, rows: &[ExternalRow]) -> Result<ExampleQuery, Error> {
        let examples = Examples::parse(request, &self.limits)?;
        let published = published_of(rows, self.settings.dimensions)?;
        let rows = examples.rows(&published);
        examples.query(self.epoch, &self.settings, &published.snapshot, &rows)
    }

    /// Whether rows pass the filters of a request in JSON: `filter`, `forced_filter`.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn passes(&self, rows: &[ExternalRow], request: &str) -> Result<Vec<bool>, Error> {
        let filter = RequestReader::new(request, &self.limits)?.filter(Variant::B)?;
        let snapshot = snapshot_of(rows, ColumnNames::default(), 0)?;
        let selection = Selection::bind(&snapshot, filter.as_ref(), TimeRange::ALWAYS);
        let mut passes = Vec::with_capacity(rows.len());
        for block in &snapshot.blocks {
            let mask = selection.mask(block, &StopCheck::never())?;
            passes.extend((0..block.len()).map(|slot| mask.get(slot)));
        }
        Ok(passes)
    }

    /// Parses a deletion, JSON: `{"ids":[…],"start","end"}`. `ids` is null when a filter or a time range selects the
    /// records.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn deletion(&self, request: &str) -> Result<String, Error> {
        let deletion = Deletion::parse(request, &self.limits)?;
        let TimeRange { start, end } = deletion.time_range;
        let ids = deletion.ids;
        let ids = ids.map(|ids| ids.into_iter().map(reference).collect::<Vec<_>>());
        let plan = json!({
            "ids": ids,
            "start": (start != i64::MIN).then_some(start),
            "end": (end != i64::MAX).then_some(end),
        });
        Ok(plan.to_string())
    }

    /// Writes rows as lines of NDJSON that an upsert takes.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub fn lines(&self, rows: &[ExternalRow], vectors: bool) -> Result<Vec<u8>, Error> {
        let dimensions = if vectors { self.settings.dimensions } else { 0 };
        let snapshot = snapshot_of(rows, ColumnNames::default(), dimensions)?;
        let mut lines = LineWriter::new(vectors, self.settings.fingerprint.as_deref());
        let mut out = Vec::new();
        for block in &snapshot.blocks {
            for slot in 0..block.len() {
                lines.write(&snapshot, (block, slot), &mut out)?;
            }
        }
        Ok(out)
    }

    fn record_not_found(&self, record: &str) -> Error {
        Error::RecordNotFound {
            database: self.id.clone(),
            id: record.to_owned(),
        }
    }
}
