//! Records from JSON: a batch, a line of a stream, or the data of one record.

use crate::json::{Reader, Shape};
use crate::limits::Limits;
use crate::record::{Data, Passage, RecordKey, RecordUuid, ValidationCode, ValidationError};
use crate::write::condition::{Condition, IF_CHANGED_AT};
use crate::write::parsing::data::data;
use crate::write::parsing::fields;
use crate::write::parsing::fields::{Read, array, members, note, note_missing, unknown};

/// A record as the caller sent it. The engine adds the identity and the times that are missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NewRecord {
    /// 1 to 2^53 - 1.
    pub(crate) id: Option<u64>,
    /// The UUID, which is that of the key where there is one.
    pub(crate) uuid: Option<[u8; 16]>,
    /// The key.
    pub(crate) key: Option<RecordKey>,
    /// Columns and values, in order.
    pub(crate) data: Data,
    /// When it was first seen, milliseconds since 1970, UTC.
    pub(crate) created: Option<i64>,
    /// When its content last changed, milliseconds since 1970, UTC.
    pub(crate) changed: Option<i64>,
    /// When it was last seen, milliseconds since 1970, UTC.
    pub(crate) synced: Option<i64>,
    /// When its source was read, in place of `synced`.
    pub(crate) read_at: Option<i64>,
    /// Its embedding, as given: finite numbers, not normalised.
    pub(crate) vector: Option<Vec<f64>>,
    /// The passages of its text, in place of `vector`.
    pub(crate) passages: Option<Vec<GivenPassage>>,
    /// The fingerprint of the model that made `vector` or `passages` from the text of the record.
    pub(crate) embedded_by: Option<String>,
    /// What the stored record must be like.
    pub(crate) condition: Option<Condition>,
    /// Bytes of the record as JSON, without its passages: their vectors are longer than the text.
    pub(crate) bytes: usize,
}

impl NewRecord {
    /// The time of last sync after a commit at `now`. `before` is that of the stored record, if there is one.
    pub(crate) fn synced_after(&self, before: Option<i64>, now: i64) -> i64 {
        match self.read_at {
            Some(read_at) => before.map_or(read_at, |before| before.max(read_at)),
            None => self.synced.unwrap_or(now),
        }
    }

    /// Whether the source that a record was read from has other times for it than the stored ones. Times that come with the
    /// same content from anywhere else are ignored.
    pub(crate) fn has_other_times(&self, created: i64, changed: i64) -> bool {
        let is_other = |given: Option<i64>, stored| given.is_some_and(|given| given != stored);
        self.read_at.is_some()
            && (is_other(self.created, created) || is_other(self.changed, changed))
    }

    /// # Errors
    /// A validation error for a record of more bytes than `max`.
    fn check_size(&self, max: usize) -> Result<(), ValidationError> {
        if self.bytes <= max {
            return Ok(());
        }
        let detail = format!("the record is larger than {max} bytes");
        Err(ValidationError::new(ValidationCode::TooLarge, detail))
    }
}

/// A passage as the caller sent it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GivenPassage {
    pub(crate) place: Passage,
    /// Its embedding, as given: finite numbers, not normalised.
    pub(crate) vector: Vec<f64>,
}

/// More levels than a batch needs (the batch, its array, a record, its passages, a vector, flattened objects), so that a
/// nested value is reported as a value of the wrong type and not as nested too deep.
const MAX_DEPTH: usize = 64;

/// Parses `{ "records": [ … ] }`. `limits` bounds the number of records and the bytes of each. With `flatten`, the members
/// of objects in the data are columns.
///
/// # Errors
/// Every problem found, with pointers such as `/records/3/data/name`. If the text is not valid JSON, only the first
/// problem.
pub(crate) fn parse_batch(
    bytes: &[u8],
    flatten: bool,
    limits: &Limits,
) -> Result<Vec<NewRecord>, Vec<ValidationError>> {
    let max_records = limits.batch_records;
    let flatten = flatten.then_some(limits.record_bytes);
    whole(bytes, |reader| {
        let mut records = None;
        members(reader, |reader, name| match name {
            "records" => {
                let list = records.insert(Vec::new());
                array(reader, |reader, at| {
                    if at == max_records {
                        let detail = format!("a batch has at most {max_records} records");
                        note(reader, ValidationCode::TooManyRecords, detail);
                    }
                    if at >= max_records {
                        return reader.skip();
                    }
                    let record = record(reader, false, flatten)?;
                    match record.check_size(limits.record_bytes) {
                        Ok(()) => list.push(record),
                        Err(problem) => note(reader, problem.code, problem.detail),
                    }
                    Ok(())
                })
            }
            _ => unknown(reader, name, &["records"]),
        })?;
        // A body that is not an object is already reported, so its missing member is not.
        if records.is_none() && reader.problems.is_empty() {
            note_missing(reader, "records");
        }
        Ok(records.unwrap_or_default())
    })
}

/// Parses one record: a line of NDJSON. `limits` bounds its bytes. With `needs_identity`, a record without `id`, `uuid` and
/// `key` has this problem alone. With `flatten`, the members of objects in the data are columns.
///
/// # Errors
/// As [`parse_batch`], with pointers such as `/data/name`.
pub(crate) fn parse_line(
    bytes: &[u8],
    needs_identity: bool,
    flatten: bool,
    limits: &Limits,
) -> Result<NewRecord, Vec<ValidationError>> {
    let flatten = flatten.then_some(limits.record_bytes);
    let record = whole(bytes, |reader| record(reader, needs_identity, flatten))?;
    record
        .check_size(limits.record_bytes)
        .map_err(|problem| vec![problem])?;
    Ok(record)
}

/// Parses a record's data alone, as [`crate::json::write_cells`] writes it.
///
/// # Errors
/// As [`parse_batch`], with pointers such as `/name`.
pub(crate) fn parse_data(bytes: &[u8]) -> Result<Data, Vec<ValidationError>> {
    whole(bytes, |reader| data(reader, None))
}

/// A patch as the caller sent it.
#[derive(Debug, Default)]
pub(crate) struct NewPatch {
    /// Columns to set; empty where the member is absent.
    pub(crate) data: Data,
    /// What the stored record must be like; never [`Condition::Absent`].
    pub(crate) condition: Option<Condition>,
}

/// Parses a patch: `{"data": {…}, "if_changed_at": …}`. `flatten` is that of [`data`].
///
/// # Errors
/// As [`parse_batch`], with pointers such as `/data/name`.
pub(crate) fn parse_patch(
    bytes: &[u8],
    flatten: Option<usize>,
) -> Result<NewPatch, Vec<ValidationError>> {
    whole(bytes, |reader| {
        let mut patch = NewPatch::default();
        members(reader, |reader, name| {
            match name {
                "data" => patch.data = data(reader, flatten)?,
                IF_CHANGED_AT => patch.condition = fields::time(reader)?.map(Condition::ChangedAt),
                _ => return unknown(reader, name, &["data", IF_CHANGED_AT]),
            }
            Ok(())
        })?;
        Ok(patch)
    })
}

/// Parses a whole document by `parse`.
fn whole<T>(
    bytes: &[u8],
    parse: impl FnOnce(&mut Reader<'_>) -> Read<T>,
) -> Result<T, Vec<ValidationError>> {
    let mut reader = Reader::new(bytes, MAX_DEPTH).map_err(|problem| vec![problem])?;
    let value = parse(&mut reader).map_err(|problem| vec![problem])?;
    reader.end().map_err(|problem| vec![problem])?;
    reader.problems.or(value)
}

fn record(
    reader: &mut Reader<'_>,
    needs_identity: bool,
    flatten: Option<usize>,
) -> Read<NewRecord> {
    const MEMBERS: [&str; 9] = [
        "id",
        "uuid",
        "key",
        "data",
        "timestamps",
        "vector",
        "passages",
        "embedded_by",
        IF_CHANGED_AT,
    ];
    let mut record = NewRecord::default();
    let mut has_data = false;
    let mut has_identity = false;
    // White space before the record does not count.
    let is_object = reader.shape()? == Shape::Object;
    let start = reader.rest();
    let mut passage_bytes = 0;
    members(reader, |reader, name| {
        has_identity |= matches!(name, "id" | "uuid" | "key");
        match name {
            "id" => record.id = fields::id(reader)?,
            "uuid" => record.uuid = fields::uuid(reader)?,
            "key" => record.key = fields::key(reader)?,
            "data" => {
                has_data = true;
                record.data = data(reader, flatten)?;
            }
            "timestamps" => {
                [record.created, record.changed, record.synced] = fields::times(reader)?;
            }
            "vector" => record.vector = fields::vector(reader)?,
            "passages" => {
                let start = reader.rest();
                record.passages = passages(reader)?;
                passage_bytes = start - reader.rest();
            }
            "embedded_by" => record.embedded_by = fields::text(reader)?,
            IF_CHANGED_AT => record.condition = fields::condition(reader)?,
            _ => return unknown(reader, name, &MEMBERS),
        }
        Ok(())
    })?;
    record.bytes = start - reader.rest() - passage_bytes;
    if needs_identity && is_object && !has_identity {
        let detail = "a replacement needs the id, uuid or key of each record; \
                      without one, every call would store another copy";
        return Err(ValidationError::new(ValidationCode::MissingMember, detail));
    }
    if is_object && !has_data {
        note_missing(reader, "data");
    }
    if let Some(key) = &record.key {
        let RecordUuid(derived) = key.uuid();
        if record.uuid.is_some_and(|uuid| uuid != derived) {
            reader.problems.push(other_uuid(key.uuid()));
        }
        record.uuid = Some(derived);
    }
    Ok(record)
}

fn passages(reader: &mut Reader<'_>) -> Read<Option<Vec<GivenPassage>>> {
    let mut passages = Vec::new();
    array(reader, |reader, _| {
        let (mut column, mut start, mut end, mut vector) = (None, None, None, None);
        let before = reader.problems.len();
        let is_object = reader.shape()? == Shape::Object;
        members(reader, |reader, name| {
            match name {
                "column" => column = fields::text(reader)?,
                "start" => start = fields::offset(reader)?,
                "end" => end = fields::offset(reader)?,
                "vector" => vector = fields::vector(reader)?,
                _ => return unknown(reader, name, &["column", "start", "end", "vector"]),
            }
            Ok(())
        })?;
        match (column, start, end, vector) {
            (Some(column), Some(start), Some(end), Some(vector)) => {
                let column = column.into();
                let place = Passage { column, start, end };
                passages.push(GivenPassage { place, vector });
            }
            // A value that is not allowed is already reported.
            _ if reader.problems.len() > before || !is_object => {}
            (None, ..) => note_missing(reader, "column"),
            (_, None, ..) => note_missing(reader, "start"),
            (_, _, None, _) => note_missing(reader, "end"),
            _ => note_missing(reader, "vector"),
        }
        Ok(())
    })?;
    Ok(Some(passages))
}

fn other_uuid(derived: RecordUuid) -> ValidationError {
    ValidationError::new(
        ValidationCode::IdentityConflict,
        format!("a record with this key has the UUID {derived}: leave out the UUID or the key"),
    )
    .within("uuid")
}
