//! Upserts, second half: prepared records and their vectors become one stage of a commit.

use std::sync::Arc;

use crate::answer::Answer;
use crate::columns::ColumnNames;
use crate::error::Error;
use crate::json::write_integer;
use crate::prepare::{LineProblem, Prepared, PreparedRecord, PreparedRecords, VectorSource};
use crate::problem::{Problem, ProblemCode};
use crate::score::text_vector;
use crate::settings::Settings;
use crate::stage::{Context, Stage, Standing, Status, Upserted};
use crate::uuid::UuidMaker;

/// Prepared records with the vectors of their texts, `dimensions` values each.
pub(crate) struct Commit {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) vectors: Vec<f32>,
    pub(crate) answer: Answer<Committed>,
}

/// What a commit did.
#[derive(Debug, Default)]
pub struct Committed {
    /// Each record, in the order of the request; bad lines are missing.
    pub results: Vec<Upserted>,
    /// Lines that turned out to be bad only now.
    pub problems: Vec<LineProblem>,
}

impl Committed {
    /// The results as a JSON array of `id`, `uuid` and `status`.
    #[must_use]
    pub fn results_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.results.len() * 90 + 2);
        out.push(b'[');
        for (at, record) in self.results.iter().enumerate() {
            out.extend_from_slice(if at == 0 { b"{\"id\":" } else { b",{\"id\":" });
            write_integer(record.id.0, &mut out);
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

/// Settles the records of a commit and stages what they write.
///
/// # Errors
/// [`Error::Stale`] when texts must be embedded again, [`Error::IdentityConflict`], [`Error::Invalid`].
pub(crate) fn stage_commit(
    settings: &Settings,
    context: &Context<'_>,
    prepared: &mut PreparedRecords,
    vectors: &[f32],
    stage: &mut Stage,
    names: &mut ColumnNames,
    uuids: &mut UuidMaker,
) -> Result<Committed, Error> {
    let dimensions = settings.dimensions;
    if prepared.fingerprint != settings.fingerprint {
        return Err(prepare_anew(settings, prepared));
    }
    // The texts are others since they were embedded: an earlier try found records that had changed.
    if vectors.len() != prepared.texts.len() * dimensions {
        return Err(Error::Stale);
    }
    let mut committed = Committed::default();
    let mut stale = Vec::new();
    stage.reserve(&prepared.records);
    for (at, record) in prepared.records.iter().enumerate() {
        let standing = match stage.standing(context, at, record) {
            Ok(standing) => standing,
            Err(error) => match (record.line, error) {
                (Some(line), Error::IdentityConflict { detail, pointer }) => {
                    let pointer = pointer
                        .trim_start_matches(&format!("/records/{at}"))
                        .to_owned();
                    let problem = Problem {
                        pointer,
                        code: ProblemCode::IdentityConflict,
                        detail,
                    };
                    committed.problems.push(LineProblem { line, problem });
                    continue;
                }
                (_, error) => return Err(error),
            },
        };
        if let Standing::Same(id) = standing {
            committed.results.push(stage.touch(context, id, record));
            continue;
        }
        if stage.out_of_ids() && record.new.id.is_none() {
            return Err(Error::invalid(
                "invalid_record",
                format!("/records/{at}"),
                "no integer id is left: give one",
            ));
        }
        let cells = record.new.data.cells().iter();
        let given = cells.map(|(name, _)| &**name);
        if let Some(name) = names.beyond(prepared.max_columns, given) {
            let problem = too_many_columns(name, prepared.max_columns);
            match record.line {
                Some(line) => committed.problems.push(LineProblem { line, problem }),
                None => {
                    let problems = vec![problem.within(at).within("records")];
                    return Err(Error::Invalid {
                        code: "invalid_record",
                        problems,
                    });
                }
            }
            continue;
        }
        let vector = match &record.vector {
            VectorSource::Given(unit) => unit.clone(),
            VectorSource::Text(text) => text_vector(&vectors[text * dimensions..][..dimensions])?,
            VectorSource::None => vec![0; dimensions],
            VectorSource::Unchanged => {
                stale.push(at);
                continue;
            }
        };
        committed
            .results
            .push(stage.put(context, &standing, record, vector, names, uuids));
    }
    if !stale.is_empty() {
        ask_texts(settings, prepared);
        return Err(Error::Stale);
    }
    Ok(committed)
}

fn too_many_columns(name: &str, max: usize) -> Problem {
    let detail = format!("the database has {max} columns and can have no more");
    Problem::new(ProblemCode::TooManyColumns, detail)
        .within(name)
        .within("data")
}

/// Asks for the text of every record that came without a vector.
fn ask_texts(settings: &Settings, prepared: &mut PreparedRecords) {
    prepared.texts.clear();
    for at in 0..prepared.records.len() {
        if !matches!(prepared.records[at].vector, VectorSource::Given(_)) {
            prepared.ask_text(at, settings);
        }
    }
}

/// Readies records for the model that the database has got since they were prepared, and says what to do.
fn prepare_anew(settings: &Settings, prepared: &mut PreparedRecords) -> Error {
    let given = |record: &PreparedRecord| matches!(record.vector, VectorSource::Given(_));
    if prepared.records.iter().any(given) {
        let detail = "the database has got a model meanwhile: leave the vector out";
        return Error::invalid("invalid_vector", "/records", detail);
    }
    prepared.fingerprint.clone_from(&settings.fingerprint);
    ask_texts(settings, prepared);
    Error::Stale
}
