//! Results as objects of JavaScript.

use cosift_engine::{
    Committed, Error, ExampleQuery, LineError, MetricsReading, Page, Pages, PassageSettings,
    SearchStats, Status, TextLine,
};
use napi::bindgen_prelude::{Either, Float64Array, Uint8Array};
use napi_derive::napi;

use crate::buffer::Buffer;
use crate::failure::{NativeFailure, NativeProblem};
use crate::promise::outcome;

/// What a commit did.
#[napi(object, object_from_js = false)]
pub struct NativeCommitted {
    /// The time of the commit, milliseconds since 1970. Commits that were acknowledged before it have earlier times.
    pub at: f64,
    /// `[{ "id", "uuid", "status" }]` in the order of the request, JSON.
    pub results: Buffer,
    /// Records that were not there before.
    pub created: u32,
    /// Records with other content.
    pub changed: u32,
    /// Records that were as they are.
    pub unchanged: u32,
    /// Lines that turned out to be bad only now.
    pub problems: Vec<NativeLineProblem>,
    /// The record after a patch, JSON.
    pub record: Option<Buffer>,
}

impl From<Committed> for NativeCommitted {
    fn from(committed: Committed) -> Self {
        Self {
            at: committed.at as f64,
            created: committed.count(Status::Created) as u32,
            changed: committed.count(Status::Changed) as u32,
            unchanged: committed.count(Status::Unchanged) as u32,
            results: committed.results_json().into(),
            problems: committed.problems.into_iter().map(Into::into).collect(),
            record: committed.record.map(Into::into),
        }
    }
}

/// A bad line of a stream.
#[napi(object)]
pub struct NativeLineProblem {
    /// The line's number, 1 for the first.
    pub line: f64,
    /// What is wrong.
    pub problem: NativeProblem,
}

impl From<LineError> for NativeLineProblem {
    fn from(bad: LineError) -> Self {
        Self {
            line: bad.line as f64,
            problem: bad.problem.into(),
        }
    }
}

/// The value of a column in a text. Offsets are those of a JavaScript string.
#[napi(object)]
pub struct NativeTextLine {
    /// The column.
    pub column: String,
    /// Where the value begins.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl From<TextLine> for NativeTextLine {
    fn from(TextLine { column, start, end }: TextLine) -> Self {
        Self { column, start, end }
    }
}

/// How texts are split into passages.
#[napi(object)]
pub struct NativePassageSettings {
    /// Passages that a record may have.
    pub per_record: u32,
    /// Tokens of a passage at most.
    pub tokens: Option<u32>,
    /// Tokens that a passage repeats of the one before it, at most.
    pub overlap: Option<u32>,
}

impl From<PassageSettings> for NativePassageSettings {
    fn from(settings: PassageSettings) -> Self {
        Self {
            per_record: settings.per_record(),
            tokens: settings.tokens,
            overlap: settings.overlap,
        }
    }
}

/// The query that the examples of a search make.
#[napi(object, object_from_js = false)]
pub struct NativeExampleQuery {
    /// The integer ids of the examples that exist for the caller.
    pub ids: Vec<f64>,
    /// Its unit vector; empty if the request does not want it.
    pub vector: Float64Array,
    /// The epoch of the database, 16 bytes.
    pub epoch: Uint8Array,
}

impl From<ExampleQuery> for NativeExampleQuery {
    fn from(query: ExampleQuery) -> Self {
        Self {
            ids: query.ids.into_iter().map(|id| id as f64).collect(),
            vector: query.vector.into(),
            epoch: query.epoch.to_vec().into(),
        }
    }
}

/// The response to a search or a query.
#[napi(object, object_from_js = false)]
pub struct NativePage {
    /// The response body, JSON.
    pub body: Buffer,
    /// Microseconds from arrival in the engine to the answer.
    pub total_micros: f64,
}

impl From<Page> for NativePage {
    fn from(page: Page) -> Self {
        Self {
            body: page.body.into(),
            total_micros: page.total_micros as f64,
        }
    }
}

/// The responses to searches.
#[napi(object, object_from_js = false)]
pub struct NativePages {
    /// The response bodies one after the other, JSON: one value of JavaScript is made faster than one for each page.
    pub bodies: Buffer,
    /// Where the page is, or its failure, for each search, in their order.
    pub pages: Vec<Either<NativePagePlace, NativeFailure>>,
}

/// The place of a page in the bodies of all.
#[napi(object, object_from_js = false)]
pub struct NativePagePlace {
    /// Where it ends. It begins where the one before ends.
    pub end: f64,
    /// Microseconds from arrival in the engine to the answer.
    pub total_micros: f64,
}

impl From<Pages> for NativePages {
    fn from(pages: Pages) -> Self {
        let bytes: usize = pages.iter().flatten().map(|page| page.body.len()).sum();
        let mut bodies = Vec::new();
        let mut place = |page: Page| {
            // The only page is not copied.
            if page.body.len() == bytes {
                bodies = page.body;
            } else {
                bodies.reserve_exact(bytes - bodies.len());
                bodies.extend_from_slice(&page.body);
            }
            NativePagePlace {
                end: bodies.len() as f64,
                total_micros: page.total_micros as f64,
            }
        };
        let outcome = |page: Result<Page, Error>| outcome(page.map(&mut place));
        let pages = pages.into_iter().map(outcome).collect();
        Self {
            bodies: bodies.into(),
            pages,
        }
    }
}

/// How busy the scan threads are.
#[napi(object)]
pub struct NativeScanStats {
    /// Searches not yet on a pass.
    pub waiting: u32,
    /// Shared scans in progress.
    pub passes: u32,
    /// Searches answered since the start.
    pub answered: f64,
}

impl From<SearchStats> for NativeScanStats {
    fn from(stats: SearchStats) -> Self {
        Self {
            waiting: stats.waiting as u32,
            passes: stats.shared_scans as u32,
            answered: stats.answered as f64,
        }
    }
}

/// What the engine has done since it was opened, and what waits.
#[napi(object)]
pub struct NativeMeter {
    /// Transactions that were made durable.
    pub commits: f64,
    /// Microseconds they took, until what they wrote was searchable.
    pub commit_micros: f64,
    /// Writes not yet begun.
    pub writes_waiting: u32,
    /// Bytes of codes that scans went through.
    pub scanned_bytes: f64,
}

impl From<MetricsReading> for NativeMeter {
    fn from(reading: MetricsReading) -> Self {
        Self {
            commits: reading.commits as f64,
            commit_micros: reading.commit_micros as f64,
            writes_waiting: reading.writes_waiting as u32,
            scanned_bytes: reading.scanned_bytes as f64,
        }
    }
}
