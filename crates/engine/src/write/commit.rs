//! Upserts and patches, second half: stages prepared records with the vectors of their texts.

use std::sync::Arc;

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::json::{write_integer, write_key};
use crate::record::{RecordKey, UuidMaker, ValidationCode, ValidationError, Vectors};
use crate::reply::Reply;
use crate::runtime::give_way;
use crate::settings::Settings;
use crate::write::check_columns::check_columns;
use crate::write::embedded::{Embedded, TextVectors};
use crate::write::prepared::{LineError, Prepared, PreparedRecord, PreparedRecords, VectorSource};
use crate::write::stage::Stage;
use crate::write::stage_key::stage_key;
use crate::write::stage_patch::{PatchTarget, stage_patch};
use crate::write::staged::{Comparison, Context};
use crate::write::upserted::{Status, Upserted};

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
    settings: &Settings,
    context: &Context<'_>,
    prepared: &mut PreparedRecords,
    embedded: &Embedded,
    stage: &mut Stage,
    names: &mut ColumnNames,
    uuids: &mut UuidMaker,
) -> Result<Committed, Error> {
    if prepared.committed {
        let detail = "the records were committed already: prepare them again";
        return Err(Error::invalid("invalid_request", "/records", detail));
    }
    let dimensions = settings.dimensions;
    let problems = check_given(settings, &prepared.records)?;
    if prepared.settings != *settings {
        prepared.mark_outdated(settings);
    }
    // A commit may be retried with the same vectors, so it must not change the texts that the vectors were made from.
    if prepared.is_outdated()
        || (!prepared.texts.is_empty() && embedded.fingerprint != settings.fingerprint)
    {
        return Err(Error::Stale);
    }
    let vectors = TextVectors::of(embedded, &prepared.texts, dimensions)?;
    if let Some(patch) = &mut prepared.patch {
        let target = PatchTarget {
            settings,
            max_columns: prepared.max_columns,
            max_passages: prepared.max_passages,
            names,
            uuids,
        };
        let embedded = (&prepared.texts[..], &vectors);
        return match stage_patch(target, context, patch, embedded, stage)? {
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
        let compared = match stage.compare(context, at, record) {
            Ok(compared) => compared,
            Err(error) => match (record.line, error) {
                (Some(line), Error::IdentityConflict { detail, pointer }) => {
                    let pointer = pointer
                        .trim_start_matches(&format!("/records/{at}"))
                        .to_owned();
                    let problem = ValidationError {
                        pointer,
                        code: ValidationCode::IdentityConflict,
                        detail,
                    };
                    committed.problems.push(LineError { line, problem });
                    continue;
                }
                (_, error) => return Err(error),
            },
        };
        if let Comparison::Same(id) = compared {
            let synced = record.new.synced.unwrap_or(context.now);
            committed.results.push(stage.touch(id, synced));
            continue;
        }
        if let Comparison::Keyed(id) = compared {
            let keyed = (id, record);
            committed
                .results
                .push(stage_key(settings, context, keyed, stage, names, uuids)?);
            continue;
        }
        if stage.out_of_ids() && record.new.id.is_none() {
            let detail = "no integer id is left: give one";
            let Some(line) = record.line else {
                let pointer = format!("/records/{at}");
                return Err(Error::invalid("invalid_record", pointer, detail));
            };
            let problem = ValidationError::new(ValidationCode::InvalidId, detail);
            committed.problems.push(LineError { line, problem });
            continue;
        }
        if let Err(problem) = check_columns(names, &record.new.data, prepared.max_columns) {
            match record.line {
                Some(line) => committed.problems.push(LineError { line, problem }),
                None => faults.push(problem.within(at).within("records")),
            }
            continue;
        }
        let vectors = match &record.vector {
            VectorSource::Given(given) => given.clone(),
            VectorSource::Text(text) => match vectors.get(*text, prepared.max_passages)? {
                Ok(vectors) => vectors,
                Err(too_many) => {
                    let problem = too_many.problem();
                    match record.line {
                        Some(line) => committed.problems.push(LineError { line, problem }),
                        None => faults.push(problem.within(at).within("records")),
                    }
                    continue;
                }
            },
            VectorSource::None => Vectors::none(dimensions),
            VectorSource::Unchanged => {
                stale = true;
                continue;
            }
        };
        committed
            .results
            .push(stage.put(context, &compared, record, vectors, names, uuids));
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
