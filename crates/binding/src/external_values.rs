//! Rows and responses of a store outside of the engine, as objects of JavaScript.

use std::time::Duration;

use cosift_engine::{
    Embedded, Error, ExternalPage, ExternalRow, ExternalSelection, Header, KeptData, RecordUuid,
};
use napi::bindgen_prelude::{Float32Array, Uint8Array, Uint32Array};
use napi_derive::napi;

/// A stored record. Times are milliseconds since 1970.
#[napi(object)]
pub struct NativeRow {
    /// The integer id.
    pub id: f64,
    /// The UUID with hyphens.
    pub uuid: String,
    /// The key.
    pub key: Option<String>,
    /// The JSON text of its data.
    pub data: String,
    /// The content hash. Only writes need it.
    pub hash: Option<Uint8Array>,
    /// When it was first seen.
    pub created: f64,
    /// When its content last changed.
    pub changed: f64,
    /// When it was last seen.
    pub synced: f64,
    /// Four bytes for each Q30 component, the lowest first: the vector, or that of the first passage. Absent where no vector
    /// is needed.
    pub vector: Option<Uint8Array>,
    /// The passages of a record with several.
    pub passages: Option<Uint8Array>,
}

impl TryFrom<NativeRow> for ExternalRow {
    type Error = Error;

    fn try_from(row: NativeRow) -> Result<Self, Error> {
        let hash = row
            .hash
            .map_or(Ok([0; 16]), |hash| hash.as_ref().try_into());
        Ok(Self {
            header: Header {
                id: row.id as u64,
                uuid: RecordUuid::parse(&row.uuid)
                    .ok_or_else(|| damaged("UUID"))?
                    .0,
                hash: hash.map_err(|_| damaged("hash"))?,
                created: row.created as i64,
                changed: row.changed as i64,
                synced: row.synced as i64,
                version: 0,
            },
            key: row.key,
            data: row.data.into_bytes(),
            vector: row
                .vector
                .map_or(Ok(Vec::new()), |bytes| components(&bytes))?,
            passages: row.passages.map(|passages| passages.to_vec()),
        })
    }
}

pub(crate) fn rows(rows: Vec<NativeRow>) -> Result<Vec<ExternalRow>, Error> {
    rows.into_iter().map(TryInto::try_into).collect()
}

/// The components of a vector of bytes.
pub(crate) fn components(bytes: &[u8]) -> Result<Vec<i32>, Error> {
    match bytes.as_chunks::<4>() {
        (components, []) => Ok(components
            .iter()
            .map(|bytes| i32::from_le_bytes(*bytes))
            .collect()),
        _ => Err(damaged("vector")),
    }
}

fn damaged(what: &str) -> Error {
    Error::internal(format!("a stored {what} is damaged"))
}

/// What a page is written from.
#[napi(object)]
pub struct NativePageContent {
    /// The records of the page in order, and those after it.
    pub rows: Vec<NativeRow>,
    /// The number of all matches.
    pub total: Option<f64>,
    /// The member `facets`.
    pub facets: Option<Uint8Array>,
    /// How many matches have the value of each row.
    pub group_sizes: Option<Vec<u32>>,
    /// Records that exist for the caller.
    pub records: f64,
    /// Records that were fetched and scored, or matches of a listing.
    pub scored: f64,
    /// Milliseconds that the selection took.
    pub scan_ms: f64,
}

/// What a page with some of the columns needs of the data of a record.
#[napi(object)]
pub struct NativeKeptData {
    /// The needed columns as JSON.
    pub data: String,
    /// The bytes of the data that the page shows.
    pub shown_bytes: u32,
}

impl From<KeptData> for NativeKeptData {
    fn from(kept: KeptData) -> Self {
        Self {
            data: String::from_utf8_lossy(&kept.data).into_owned(),
            shown_bytes: kept.shown_bytes as u32,
        }
    }
}

/// Bytes of data that are written to a page in about a tenth of a millisecond.
const SHORT_BYTES: usize = 32_768;

/// Rows that take as long, however short their data is.
const SHORT_ROWS: usize = 128;

impl NativePageContent {
    /// Whether the page is written in so little time that the thread of JavaScript can do so, unless it explains its rows.
    pub(crate) fn is_short(&self) -> bool {
        let bytes: usize = self.rows.iter().map(|row| row.data.len()).sum();
        self.rows.len() <= SHORT_ROWS
            && bytes <= SHORT_BYTES
            && self.rows.iter().all(|row| row.vector.is_none())
    }
}

impl TryFrom<NativePageContent> for ExternalPage {
    type Error = Error;

    fn try_from(content: NativePageContent) -> Result<Self, Error> {
        Ok(Self {
            rows: rows(content.rows)?,
            selection: ExternalSelection {
                total: content.total.map(|total| total as u64),
                facets: content.facets.map(|facets| facets.to_vec()),
                group_sizes: content.group_sizes,
                records: content.records as u64,
                counters: vec![("scored", content.scored as u64)],
                scan: Duration::from_secs_f64(content.scan_ms.max(0.0) / 1000.0),
            },
        })
    }
}

/// The vectors of a record.
#[napi(object)]
pub struct NativeStoredVectors {
    /// As in a row.
    pub vector: Uint8Array,
    /// As in a row.
    pub passages: Option<Uint8Array>,
}

/// The vectors of texts.
#[napi(object)]
pub struct NativeEmbedded {
    /// One after the other.
    pub vectors: Float32Array,
    /// Which texts have several vectors.
    pub splits: Option<Uint32Array>,
    /// The fingerprint of the model that made them.
    pub fingerprint: Option<String>,
}

impl From<NativeEmbedded> for Embedded {
    fn from(embedded: NativeEmbedded) -> Self {
        let splits = embedded.splits.map(|splits| splits.to_vec());
        Self {
            vectors: embedded.vectors.to_vec(),
            splits: splits.unwrap_or_default(),
            fingerprint: embedded.fingerprint,
        }
    }
}

/// What a commit is staged with.
#[napi(object)]
pub struct NativeCommit {
    /// The id of the next new record.
    pub next_id: f64,
    /// The time of the commit, milliseconds since 1970.
    pub now: f64,
    /// All columns of the database.
    pub names: Vec<String>,
    /// The number of the type `vector` in PostgreSQL.
    pub vector_type: u32,
}
