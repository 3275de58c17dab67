//! Upserts and patches, first half: parses and checks records, finds the unchanged records, makes the texts to embed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::error::Error;
use crate::json::write_cells;
use crate::limits::Limits;
use crate::record::{
    Data, RecordId, RecordUuid, ValidationError, Vectors, record_hash, to_unit_q30,
};
use crate::runtime::give_way;
use crate::settings::Settings;
use crate::snapshot::{Published, PublishedCell};
use crate::store::Reader;
use crate::write::checks::{check_passages, check_vector, invalid_vector};
use crate::write::parsing::{NewRecord, parse_batch, parse_line};
use crate::write::patch::{Patch, PatchedVector};
use crate::write::prepared::{
    Format, LineError, Prepared, PreparedPatch, PreparedRecord, PreparedRecords, VectorSource,
};

/// The database that records are prepared for.
pub(crate) struct Target<'a> {
    pub(crate) settings: Arc<Settings>,
    /// The epoch of the change feed; see [`Store::epoch`](crate::store::Store::epoch).
    pub(crate) epoch: [u8; 16],
    pub(crate) published: &'a PublishedCell,
    pub(crate) reader: &'a Reader,
}

/// Parses and checks the records of `body`, and compares them with the stored records.
///
/// `vectors` are the vectors of a batch, one after the other, with `dimensions` values each. They may be empty.
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
    let (mut inner, problems) = parse(&database.settings, body, vectors, format, limits)?;
    find_unchanged(database, &mut inner)?;
    Ok(Prepared::new(database.epoch, inner, problems))
}

/// Parses and checks the records of `body`, without a comparison with stored records. Returns the bad lines, too.
///
/// # Errors
/// As [`prepare`].
pub(crate) fn parse(
    settings: &Settings,
    body: &[u8],
    vectors: &[f32],
    format: Format,
    limits: &Limits,
) -> Result<(PreparedRecords, Vec<LineError>), Error> {
    let mut problems = Vec::new();
    let mut records = Vec::new();
    match format {
        Format::Batch => {
            let mut parsed =
                parse_batch(body, settings.flatten, limits).map_err(Error::invalid_records)?;
            give_vectors(&mut parsed, vectors, settings.dimensions)?;
            let mut faults = Vec::new();
            for (at, new) in parsed.into_iter().enumerate() {
                match check(settings, None, new) {
                    Ok(record) => records.push(record),
                    Err(mut problem) => {
                        problem.pointer = format!("/records/{at}{}", problem.pointer);
                        faults.push(problem);
                    }
                }
            }
            if !faults.is_empty() {
                return Err(Error::invalid_records(faults));
            }
        }
        Format::Lines {
            first,
            needs_identity,
            read_at,
        } => {
            for (line, text) in (first..).zip(body.split(|&byte| byte == b'\n')) {
                let text = text.trim_ascii();
                if text.is_empty() {
                    continue;
                }
                let checked = parse_line(text, needs_identity, settings.flatten, limits);
                let checked = checked.and_then(|mut new| {
                    new.read_at = read_at;
                    check(settings, Some(line), new).map_err(|problem| vec![problem])
                });
                match checked {
                    Ok(record) => records.push(record),
                    Err(found) => problems
                        .extend(found.into_iter().map(|problem| LineError { line, problem })),
                }
            }
        }
    }
    let prepared = PreparedRecords {
        records,
        ..PreparedRecords::new(settings, limits)
    };
    Ok((prepared, problems))
}

/// Gives each record its part of `vectors`, which are equally long. Whether they are as long as those of the database is
/// checked for each record.
fn give_vectors(
    records: &mut [NewRecord],
    vectors: &[f32],
    dimensions: usize,
) -> Result<(), Error> {
    if vectors.is_empty() {
        return Ok(());
    }
    let given = vectors.len() / records.len().max(1);
    if given * records.len() != vectors.len() {
        return Err(Error::Dimensions {
            expected: records.len() * dimensions,
            got: vectors.len(),
        });
    }
    for (record, vector) in records.iter_mut().zip(vectors.chunks_exact(given)) {
        record.vector = Some(vector.iter().copied().map(f64::from).collect());
    }
    Ok(())
}

/// Checks what depends on the settings of the database: the vector. That of a record without text is not kept.
fn check(
    settings: &Settings,
    line: Option<u64>,
    mut new: NewRecord,
) -> Result<PreparedRecord, ValidationError> {
    give_way();
    let mut vector = match new.passages.take() {
        Some(passages) => VectorSource::Given(check_passages(settings, &new, passages)?),
        None => {
            let given = new.vector.as_ref().map(Vec::len);
            check_vector(settings, given, new.embedded_by.as_deref())?;
            match &new.vector {
                Some(vector) => {
                    let unit =
                        to_unit_q30(vector).map_err(|error| invalid_vector(error.to_string()))?;
                    VectorSource::Given(Vectors::one(unit))
                }
                None => VectorSource::Unchanged,
            }
        }
    };
    new.vector = None;
    // A record without text has no vector, whatever is given.
    if !settings.has_vector(&new.data) {
        vector = VectorSource::Unchanged;
        new.embedded_by = None;
    }
    let mut json = Vec::new();
    write_cells(&new.data, &mut json);
    // A vector that the model made follows from the text, so it is no content of its own.
    let unit = match &vector {
        VectorSource::Given(given) if settings.model.is_none() => Some(&given.first[..]),
        _ => None,
    };
    Ok(PreparedRecord {
        line,
        hash: record_hash(&new.data, unit),
        new,
        json,
        vector,
    })
}

/// Adds the texts of the records that are new or whose content differs from the stored content.
fn find_unchanged(database: &Target<'_>, prepared: &mut PreparedRecords) -> Result<(), Error> {
    if database.settings.model.is_none() {
        return Ok(());
    }
    let known = find_known(&database.published.read(), prepared);
    let ids: Vec<u64> = known.iter().flatten().map(|id| id.0).collect();
    let stored = database.reader.identities(&ids)?;
    let stored = stored.into_iter().flatten();
    let hashes = stored.map(|identity| (identity.id, identity.hash));
    add_texts(prepared, &known, &hashes.collect());
    Ok(())
}

/// The stored record of the same identity, for each prepared record.
pub(crate) fn find_known(
    published: &Published,
    prepared: &PreparedRecords,
) -> Vec<Option<RecordId>> {
    let Published { snapshot, index } = published;
    let find = |record: &PreparedRecord| {
        let (id, uuid) = (record.new.id, record.new.uuid);
        let by_id = id.and_then(|id| index.find_id(snapshot, RecordId(id)));
        let row =
            by_id.or_else(|| uuid.and_then(|uuid| index.find_uuid(snapshot, RecordUuid(uuid))))?;
        Some(snapshot.id_of(row))
    };
    prepared.records.iter().map(find).collect()
}

/// Adds the texts of the records whose content differs from the stored content. `known` are the stored records of the
/// same identities, and `hashes` their content hashes by id.
pub(crate) fn add_texts(
    prepared: &mut PreparedRecords,
    known: &[Option<RecordId>],
    hashes: &HashMap<u64, [u8; 16]>,
) {
    // The first of two equal records in a request may change the stored record, so the second is always embedded.
    let mut seen = HashSet::new();
    for (at, id) in known.iter().enumerate() {
        let hash = id.and_then(|id| hashes.get(&id.0));
        let repeated = id.is_some_and(|id| !seen.insert(id));
        let record = &prepared.records[at];
        let changed = repeated || hash.is_none_or(|hash| !record.is_same(hash));
        if changed && record.given().is_none() {
            prepared.add_text(at);
        }
    }
}

/// Applies the patch to the stored record, to learn which text needs a vector. The commit applies the patch again, to the
/// record as it is then.
///
/// # Errors
/// [`Error::RecordNotFound`]; [`Error::Invalid`] when the patched record is too large.
pub(crate) fn prepare_patch(
    database: &Target<'_>,
    patch: Patch,
    limits: &Limits,
) -> Result<Prepared, Error> {
    let stored = {
        let published = database.published.read();
        let row = patch.record.find(&published);
        let row = row.ok_or_else(|| patch.not_found())?;
        published.snapshot.data_of(row)
    };
    let mut prepared = unapplied_patch(&database.settings, patch, limits);
    add_patched_text(&mut prepared, &stored)?;
    Ok(Prepared::new(database.epoch, prepared, Vec::new()))
}

/// A patch that was not applied to a record yet, so that it has no text.
pub(crate) fn unapplied_patch(
    settings: &Settings,
    patch: Patch,
    limits: &Limits,
) -> PreparedRecords {
    PreparedRecords {
        patch: Some(PreparedPatch { patch, text: None }),
        ..PreparedRecords::new(settings, limits)
    }
}

/// Applies the patch to the data of the stored record, and adds the text that needs a vector, if there is one.
///
/// # Errors
/// [`Error::Invalid`] when the patched record is too large.
pub(crate) fn add_patched_text(prepared: &mut PreparedRecords, stored: &Data) -> Result<(), Error> {
    let Some(patch) = &mut prepared.patch else {
        return Ok(());
    };
    patch.text = match patch.patch.apply(&prepared.settings, stored)?.vector {
        PatchedVector::Text(text) => Some(text),
        PatchedVector::Stored | PatchedVector::None => None,
    };
    prepared.texts = patch.text.iter().cloned().collect();
    Ok(())
}
