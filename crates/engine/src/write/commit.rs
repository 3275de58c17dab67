//! Upserts and patches, second half: stages prepared records with the vectors of their texts.

use std::sync::Arc;

use crate::error::Error;
use crate::json::{write_cells, write_integer, write_key};
use crate::record::{RecordId, RecordKey, ValidationCode, ValidationError, Vectors};
use crate::reply::Reply;
use crate::runtime::give_way;
use crate::settings::Settings;
use crate::write::checks::check_columns;
use crate::write::embedded::{Embedded, TextVectors, TooManyPassages};
use crate::write::parsing::NewRecord;
use crate::write::prepared::{LineError, Prepared, PreparedRecord, PreparedRecords, VectorSource};
use crate::write::stage::Stage;
use crate::write::stage_patch::stage_patch;
use crate::write::staged::{Comparison, Context, Status, Upserted};

/// Prepared records with the vectors of their texts.
pub(crate) struct Commit {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) embedded: Embedded,
    pub(crate) reply: Reply<Committed>,
}

/// What a commit did.
#[derive(Debug, Default)]
pub struct Committed {
    /// The time of the commit, in milliseconds since 1970. It is the time of last sync of the records that came without
    /// one, and later than that of all records that earlier commits wrote.
    pub at: i64,
    /// One result for each record, in the order of the request, without bad lines.
    pub results: Vec<Upserted>,
    /// Bad lines that only the commit could find, such as identity conflicts.
    pub problems: Vec<LineError>,
    /// The record after a patch, as JSON in the variant whose id named it. Absent for upserts.
    pub record: Option<Vec<u8>>,
}

impl Committed {
    /// The results as a JSON array of `id`, `key` if the record has one, `uuid` and `status`.
    #[must_use]
    pub fn results_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.results.len() * 90 + 2);
        out.push(b'[');
        for (at, record) in self.results.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"id\":" } else { b",{\"id\":" });
            write_integer(record.id.0, &mut out);
            write_key(record.key.as_ref().map(RecordKey::as_str), &mut out);
            out.extend_from_slice(b",\"uuid\":\"");
            record.uuid.write(&mut out);
            out.extend_from_slice(b"\",\"status\":\"");
            out.extend_from_slice(record.status.name().as_bytes());
            out.extend_from_slice(b"\"}");
        }
        out.push(b']');
        out
    }

    /// How many records had `status`.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.results
            .iter()
            .filter(|record| record.status == status)
            .count()
    }
}

/// Compares the records of a commit with those that are stored, and stages what the commit writes.
///
/// # Errors
/// [`Error::Stale`] when texts must be embedded again, [`Error::Dimensions`], [`Error::IdentityConflict`],
/// [`Error::Invalid`].
pub(crate) fn stage_commit(
    stage: &mut Stage,
    context: &Context<'_>,
    prepared: &mut PreparedRecords,
    embedded: &Embedded,
) -> Result<Committed, Error> {
    let settings = context.settings;
    if prepared.committed {
        let detail = "the records were committed already: prepare them again";
        return Err(Error::request("/records", detail));
    }
    let problems = check_given(settings, &prepared.records)?;
    if !prepared.settings.makes_vectors_of(settings) {
        prepared.mark_outdated(settings);
    }
    // A commit may be retried with the same vectors, so it must not change the texts that the vectors were made from.
    if prepared.is_outdated()
        || (!prepared.texts.is_empty() && embedded.fingerprint != settings.fingerprint)
    {
        return Err(Error::Stale);
    }
    let vectors = TextVectors::of(embedded, &prepared.texts, settings)?;
    if let Some(patch) = &mut prepared.patch {
        let embedded = (&prepared.texts[..], &vectors);
        return match stage_patch(stage, context, (patch, prepared.max_columns), embedded)? {
            Some((upserted, record)) => Ok(Committed {
                at: context.now,
                results: vec![upserted],
                record: Some(record),
                ..Committed::default()
            }),
            None => {
                prepared.mark_outdated(settings);
                Err(Error::Stale)
            }
        };
    }
    let mut committed = Committed {
        at: context.now,
        problems,
        ..Committed::default()
    };
    // The bad records of a batch, all of which the error names.
    let mut faults = Vec::new();
    let mut stale = false;
    stage.reserve(&prepared.records);
    for (at, record) in prepared.records.iter().enumerate() {
        give_way();
        if record.check_vector(settings).is_err() {
            continue;
        }
        let compared = match (stage.compare(context, record), record.line) {
            (Err(Error::IdentityConflict { detail, pointer }), Some(_)) => Err(ValidationError {
                pointer,
                ..ValidationError::new(ValidationCode::IdentityConflict, detail)
            }),
            (Err(Error::IdentityConflict { detail, pointer }), None) => {
                let pointer = format!("/records/{at}{pointer}");
                return Err(Error::IdentityConflict { detail, pointer });
            }
            (compared, _) => {
                let compared = compared?;
                check_condition(stage, record, &compared).map(|()| compared)
            }
        };
        let staged = match compared {
            Ok(Comparison::Same(id)) => {
                let before = stage.times_of(id).synced;
                Ok(stage.touch(id, record.new.synced_after(Some(before), context.now)))
            }
            Ok(Comparison::Renewed(id)) => Ok(stage_again(stage, context, (id, record))?),
            Ok(compared) => match checked_vectors(stage, prepared, &vectors, record)? {
                Ok(Some(vectors)) => Ok(stage.put(context, &compared, record, vectors)),
                Ok(None) => {
                    stale = true;
                    continue;
                }
                Err(problem) => Err(problem),
            },
            Err(problem) => Err(problem),
        };
        match (staged, record.line) {
            (Ok(upserted), _) => committed.results.push(upserted),
            (Err(problem), Some(line)) => committed.problems.push(LineError { line, problem }),
            (Err(problem), None) => faults.push(problem.within(at).within("records")),
        }
    }
    if !faults.is_empty() {
        return Err(Error::invalid_records(faults));
    }
    if stale {
        prepared.mark_outdated(settings);
        return Err(Error::Stale);
    }
    Ok(committed)
}

/// Checks the condition of a record on the record of the same identity.
fn check_condition(
    stage: &Stage,
    record: &PreparedRecord,
    compared: &Comparison,
) -> Result<(), ValidationError> {
    let Some(condition) = record.new.condition else {
        return Ok(());
    };
    let stored = compared.record();
    condition.check(stored.map(|id| (id, stage.times_of(id).changed)))
}

/// The vectors of a record that is new or has other content, after the checks of the record. `None` when its text must be
/// embedded first.
fn checked_vectors(
    stage: &Stage,
    prepared: &PreparedRecords,
    vectors: &TextVectors<'_>,
    record: &PreparedRecord,
) -> Result<Result<Option<Vectors>, ValidationError>, Error> {
    if stage.out_of_ids() && record.new.id.is_none() {
        let detail = "no integer id is left: give one";
        return Ok(Err(ValidationError::new(ValidationCode::InvalidId, detail)));
    }
    let (data, max) = (&record.new.data, prepared.max_columns);
    if let Err(problem) = check_columns(&stage.names, data, max, prepared.settings.flatten) {
        return Ok(Err(problem));
    }
    Ok(match &record.vector {
        VectorSource::Given(given) => Ok(Some(given.clone())),
        VectorSource::Text(text) => {
            let vectors = vectors.get(*text)?;
            vectors.map(Some).map_err(TooManyPassages::problem)
        }
        VectorSource::None => Ok(Some(Vectors::none(prepared.settings.dimensions))),
        VectorSource::Unchanged => Ok(None),
    })
}

/// Checks again which records come with a vector, because the settings of the database may have changed since the
/// records were prepared. Returns the bad lines.
///
/// # Errors
/// [`Error::Invalid`] at the first bad record of a batch.
fn check_given(settings: &Settings, records: &[PreparedRecord]) -> Result<Vec<LineError>, Error> {
    let mut problems = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let Err(problem) = record.check_vector(settings) else {
            continue;
        };
        let Some(line) = record.line else {
            return Err(Error::Invalid {
                code: "invalid_vector",
                problems: vec![problem.within(at).within("records")],
            });
        };
        problems.push(LineError { line, problem });
    }
    Ok(problems)
}

/// Gives the record `id` the key and the times of `record`, whose content is that of the stored record.
///
/// The stored data and the stored vectors are kept, because the data may have its columns in another order, and then its
/// text would need another vector.
///
/// # Errors
/// As [`Stage::vectors_of`].
fn stage_again(
    stage: &mut Stage,
    context: &Context<'_>,
    (id, record): (RecordId, &PreparedRecord),
) -> Result<Upserted, Error> {
    let data = stage.data_of(context, id);
    let vectors = stage.vectors_of(context, id)?;
    let mut json = Vec::new();
    write_cells(&data, &mut json);
    let is_of_source = record.new.read_at.is_some();
    let former = is_of_source.then(|| stage.times_of(id).changed);
    let new = NewRecord {
        data,
        key: record.new.key.clone(),
        changed: record.new.changed.or(former),
        vector: None,
        passages: None,
        embedded_by: None,
        ..record.new
    };
    let keyed = PreparedRecord::unchanged(new, json, stage.hash_of(id));
    let compared = Comparison::Different(id);
    Ok(stage.put(context, &compared, &keyed, vectors))
}
