//! Upserts, first half: parse and check records, find the unchanged ones, make the texts to embed.

use std::collections::HashSet;

use parking_lot::{Mutex, MutexGuard};

use crate::error::Error;
use crate::json::write_cells;
use crate::limits::Limits;
use crate::record::{
    RecordId, RecordUuid, ValidationCode, ValidationError, former_record_hash, record_hash,
    to_unit_q30,
};
use crate::settings::Settings;
use crate::snapshot::PublishedCell;
use crate::store::Reader;
use crate::write::parsing::{NewRecord, parse_batch, parse_line};

/// How the records of a request come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object `{"records": [...]}`: all are good or nothing is taken.
    Batch,
    /// A record a line; bad lines are reported and left out.
    Lines {
        /// Number of the first line, for reports.
        first: u64,
    },
}

/// A bad line of a stream.
#[derive(Clone, Debug)]
pub struct LineError {
    /// The line's number in the stream, 1 for the first.
    pub line: u64,
    /// What is wrong with it.
    pub problem: ValidationError,
}

/// Records that were checked and wait for the vectors of their texts.
#[derive(Debug)]
pub struct Prepared {
    /// The epoch of the database that the records were prepared for.
    pub(crate) epoch: [u8; 16],
    inner: Mutex<PreparedRecords>,
    /// Bad lines that were left out.
    pub problems: Vec<LineError>,
}

#[derive(Debug)]
pub(crate) struct PreparedRecords {
    /// Settings of the database that the texts are for.
    pub(crate) settings: Settings,
    /// Whether a commit found that other texts are needed.
    outdated: bool,
    pub(crate) records: Vec<PreparedRecord>,
    pub(crate) texts: Vec<String>,
    /// Distinct column names that the database may have.
    pub(crate) max_columns: usize,
}

#[derive(Debug)]
pub(crate) struct PreparedRecord {
    /// The line it came on; `None` in a batch, which is taken as a whole.
    pub(crate) line: Option<u64>,
    pub(crate) new: NewRecord,
    /// `data` as it is stored.
    pub(crate) json: Vec<u8>,
    pub(crate) hash: [u8; 16],
    /// As an older engine may have stored it.
    former_hash: [u8; 16],
    pub(crate) vector: VectorSource,
}

impl PreparedRecord {
    /// Whether a record that is stored with `hash` has the same content.
    pub(crate) fn is_same(&self, hash: &[u8; 16]) -> bool {
        self.hash == *hash || self.former_hash == *hash
    }

    /// How many values the vector has that the caller gave.
    pub(crate) fn given(&self) -> Option<usize> {
        match &self.vector {
            VectorSource::Given(vector) => Some(vector.len()),
            VectorSource::Text(_) | VectorSource::None | VectorSource::Unchanged => None,
        }
    }
}

/// Where a record's vector comes from.
#[derive(Debug)]
pub(crate) enum VectorSource {
    /// The caller gave it.
    Given(Vec<i32>),
    /// The text of this number is to be embedded.
    Text(usize),
    /// The record has no text, so it has no vector.
    None,
    /// The record is as it was: none is needed.
    Unchanged,
}

impl Prepared {
    /// The texts to embed, in the order that their vectors are expected in.
    ///
    /// A commit holds vectors to the texts that were last asked for: ask again after [`Error::Stale`].
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut inner = self.lock();
        inner.renew();
        inner.texts.clone()
    }

    /// Identifies the database that the records were prepared for: 32 hexadecimal digits. Another one that is created
    /// under the same id has another epoch.
    #[must_use]
    pub fn epoch(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.epoch))
    }

    /// Records to write or touch.
    #[must_use]
    pub fn records(&self) -> usize {
        self.lock().records.len()
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, PreparedRecords> {
        self.inner.lock()
    }
}

impl PreparedRecords {
    /// Notes that no vectors fit until the texts are asked for again, for a database with `settings`.
    pub(crate) fn outdate(&mut self, settings: &Settings) {
        self.settings.clone_from(settings);
        self.outdated = true;
    }

    pub(crate) fn is_outdated(&self) -> bool {
        self.outdated
    }

    /// Where the texts are outdated, makes those of all records that came without a vector.
    fn renew(&mut self) {
        if !std::mem::take(&mut self.outdated) {
            return;
        }
        self.texts.clear();
        for at in 0..self.records.len() {
            if self.records[at].given().is_none() {
                self.ask_text(at);
            }
        }
    }

    /// Asks for the text, if there is one, of a record that turned out to have changed.
    fn ask_text(&mut self, at: usize) {
        let record = &mut self.records[at];
        record.vector = match self.settings.text_of(&record.new.data) {
            Some(text) => {
                self.texts.push(text);
                VectorSource::Text(self.texts.len() - 1)
            }
            None => VectorSource::None,
        };
    }
}

/// The database that records are prepared for.
pub(crate) struct Target<'a> {
    pub(crate) settings: &'a Settings,
    /// The history of its change feed; see [`Store::epoch`](crate::store::Store::epoch).
    pub(crate) epoch: [u8; 16],
    pub(crate) published: &'a PublishedCell,
    pub(crate) reader: &'a Reader,
}

/// Parses and checks the records of `body`, and compares them with those that are there.
///
/// `vectors` are those of a batch whose records come without: one after the other, or none.
///
/// # Errors
/// [`Error::Invalid`] for a batch with a bad record; [`Error::Dimensions`]; [`Error::Store`].
pub(crate) fn prepare(
    database: &Target<'_>,
    body: &[u8],
    vectors: &[f32],
    format: Format,
    limits: &Limits,
) -> Result<Prepared, Error> {
    let mut problems = Vec::new();
    let mut records = Vec::new();
    match format {
        Format::Batch => {
            let mut parsed = parse_batch(body, limits).map_err(invalid_records)?;
            give_vectors(&mut parsed, vectors, database.settings.dimensions)?;
            let mut faults = Vec::new();
            for (at, new) in parsed.into_iter().enumerate() {
                match check(database.settings, None, new) {
                    Ok(record) => records.push(record),
                    Err(mut problem) => {
                        problem.pointer = format!("/records/{at}{}", problem.pointer);
                        faults.push(problem);
                    }
                }
            }
            if !faults.is_empty() {
                return Err(invalid_records(faults));
            }
        }
        Format::Lines { first } => {
            for (line, text) in (first..).zip(body.split(|&byte| byte == b'\n')) {
                let text = text.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                let checked = parse_line(text).and_then(|new| {
                    check(database.settings, Some(line), new).map_err(|problem| vec![problem])
                });
                match checked {
                    Ok(record) => records.push(record),
                    Err(found) => problems
                        .extend(found.into_iter().map(|problem| LineError { line, problem })),
                }
            }
        }
    }
    let mut inner = PreparedRecords {
        settings: database.settings.clone(),
        outdated: false,
        records,
        texts: Vec::new(),
        max_columns: limits.database_columns,
    };
    find_unchanged(database, &mut inner)?;
    Ok(Prepared {
        epoch: database.epoch,
        inner: Mutex::new(inner),
        problems,
    })
}

fn give_vectors(
    records: &mut [NewRecord],
    vectors: &[f32],
    dimensions: usize,
) -> Result<(), Error> {
    if vectors.is_empty() {
        return Ok(());
    }
    let expected = records.len() * dimensions;
    if vectors.len() != expected {
        return Err(Error::Dimensions {
            expected,
            got: vectors.len(),
        });
    }
    for (record, vector) in records.iter_mut().zip(vectors.chunks_exact(dimensions)) {
        record.vector = Some(vector.iter().copied().map(f64::from).collect());
    }
    Ok(())
}

fn invalid_records(problems: Vec<ValidationError>) -> Error {
    let code = match problems.first().map(|problem| problem.code) {
        Some(ValidationCode::InvalidVector) => "invalid_vector",
        Some(ValidationCode::InvalidDimensions) => "invalid_dimensions",
        Some(ValidationCode::TooLarge) => "too_large",
        Some(ValidationCode::InvalidTime) => "invalid_time",
        Some(
            ValidationCode::MalformedJson
            | ValidationCode::TooDeep
            | ValidationCode::DuplicateMember
            | ValidationCode::LoneSurrogate
            | ValidationCode::NumberOutOfRange,
        ) => "invalid_json",
        _ => "invalid_record",
    };
    Error::Invalid { code, problems }
}

fn invalid_vector(detail: impl Into<String>) -> ValidationError {
    ValidationError {
        pointer: "/vector".into(),
        code: ValidationCode::InvalidVector,
        detail: detail.into(),
    }
}

/// Whether a record comes with a vector exactly where it must; `given` is how many values its vector has.
pub(crate) fn check_vector(
    settings: &Settings,
    given: Option<usize>,
) -> Result<(), ValidationError> {
    match (&settings.model, given) {
        (Some(model), Some(_)) => Err(invalid_vector(format!(
            "this database embeds its records with model {model}: leave the vector out"
        ))),
        (None, None) => Err(invalid_vector(format!(
            "this database has no model: give {} numbers",
            settings.dimensions
        ))),
        (None, Some(got)) if got != settings.dimensions => {
            let error = Error::Dimensions {
                expected: settings.dimensions,
                got,
            };
            Err(ValidationError {
                code: ValidationCode::InvalidDimensions,
                ..invalid_vector(error.to_string())
            })
        }
        (Some(_), None) | (None, Some(_)) => Ok(()),
    }
}

/// Settles what parsing alone can't: the vector against the database's settings.
fn check(
    settings: &Settings,
    line: Option<u64>,
    mut new: NewRecord,
) -> Result<PreparedRecord, ValidationError> {
    let given = new.vector.take();
    check_vector(settings, given.as_ref().map(Vec::len))?;
    let vector = match &given {
        Some(vector) => VectorSource::Given(
            to_unit_q30(vector).map_err(|error| invalid_vector(error.to_string()))?,
        ),
        None => VectorSource::Unchanged,
    };
    let mut json = Vec::new();
    write_cells(&new.data, &mut json);
    let unit = match &vector {
        VectorSource::Given(unit) => Some(&unit[..]),
        VectorSource::Text(_) | VectorSource::None | VectorSource::Unchanged => None,
    };
    Ok(PreparedRecord {
        line,
        hash: record_hash(&new.data, unit),
        former_hash: former_record_hash(&json, given.as_deref()),
        new,
        json,
        vector,
    })
}

/// Asks for the texts of the records that are new or whose content differs from what is stored.
fn find_unchanged(database: &Target<'_>, prepared: &mut PreparedRecords) -> Result<(), Error> {
    if database.settings.model.is_none() {
        return Ok(());
    }
    let known: Vec<Option<RecordId>> = {
        let published = database.published.read();
        let find = |record: &PreparedRecord| {
            let by_id = record
                .new
                .id
                .and_then(|id| published.index.find_id(&published.snapshot, RecordId(id)));
            let row = by_id.or_else(|| {
                record.new.uuid.and_then(|uuid| {
                    published
                        .index
                        .find_uuid(&published.snapshot, RecordUuid(uuid))
                })
            })?;
            let (block, slot) = published.snapshot.at(row);
            Some(block.id(slot))
        };
        prepared.records.iter().map(find).collect()
    };
    let ids: Vec<u64> = known.iter().flatten().map(|id| id.0).collect();
    let mut stored = database.reader.identities(&ids)?.into_iter();
    // A record that comes twice in one request may be changed by its first: embed the later ones.
    let mut seen = HashSet::new();
    for (at, id) in known.iter().enumerate() {
        let stored = id.and_then(|_| stored.next().flatten());
        let repeated = id.is_some_and(|id| !seen.insert(id));
        if repeated || stored.is_none_or(|stored| !prepared.records[at].is_same(&stored.hash)) {
            prepared.ask_text(at);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
