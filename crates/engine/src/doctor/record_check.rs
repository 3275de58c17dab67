//! What a record must fulfil beside its checksum.

use crate::record::{Data, RecordKey, record_hash};
use crate::settings::Settings;
use crate::store::{Findings, StoredRecord};
use crate::write::parse_data;

/// Length of a unit vector in Q30.
const UNIT: f64 = (1_u32 << 30) as f64;

/// By how much the length of a stored unit vector may differ from 1: rounding the components of 4,096 dimensions
/// changes it by 3e-8 at most.
const MAX_LENGTH_ERROR: f64 = 1e-6;

/// Checks a record, and returns its data when that can be read.
pub(super) fn check_record(
    settings: &Settings,
    record: &StoredRecord<'_>,
    findings: &mut Findings,
) -> Option<Data> {
    let mut add = |what| findings.add_record(what, record.header.id);
    let Ok(data) = parse_data(record.data) else {
        add("the data is no JSON object of allowed values");
        return None;
    };
    if !RecordKey::is_of(record.key, record.header.uuid) {
        add("the key is not that of the UUID");
    }
    if record.first_vector().len() != settings.dimensions {
        add("the vector has another length than the settings say");
    } else if !is_unit(record.first_vector()) && !is_absent(settings, record.first_vector()) {
        add("the vector has not the length 1");
    } else if !is_hash_of(settings, &data, record) {
        add("the hash is not that of the content");
    }
    Some(data)
}

/// Whether searches by a vector find the record.
pub(super) fn is_findable(settings: &Settings, record: &StoredRecord<'_>) -> bool {
    record.first_vector().len() == settings.dimensions
        && record
            .first_vector()
            .iter()
            .any(|&component| component != 0)
}

fn is_unit(vector: &[i32]) -> bool {
    let squares: f64 = vector
        .iter()
        .map(|&component| f64::from(component) * f64::from(component))
        .sum();
    (squares.sqrt() / UNIT - 1.0).abs() <= MAX_LENGTH_ERROR
}

/// Whether the record has no vector, because the model found no token in its text.
fn is_absent(settings: &Settings, vector: &[i32]) -> bool {
    settings.model.is_some() && vector.iter().all(|&component| component == 0)
}

/// Whether the hash is that of the content. Without a model, the vector belongs to the content.
fn is_hash_of(settings: &Settings, data: &Data, record: &StoredRecord<'_>) -> bool {
    let given = settings.model.is_none().then(|| record.first_vector());
    record.header.hash == record_hash(data, given)
}
