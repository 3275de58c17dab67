//! A patch: new values for some columns of one record, by JSON Merge Patch (RFC 7396).

use hashbrown::{HashMap, HashSet};

use crate::error::Error;
use crate::json::write_cells;
use crate::limits::Limits;
use crate::record::{Data, OwnedValue, ValidationCode, ValidationError, Variant, record_hash};
use crate::settings::{RecordText, Settings};
use crate::write::condition::Condition;
use crate::write::deletion::RecordRef;
use crate::write::parsing::{NewPatch, parse_patch};

/// The columns of one record to set and to remove.
#[derive(Debug)]
pub(crate) struct Patch {
    pub(crate) record: RecordRef,
    /// A column with null is removed.
    changes: Data,
    /// Whether a column `address.city` is a member of an object `address`.
    flatten: bool,
    /// What the stored record must be like.
    pub(super) condition: Option<Condition>,
    /// Maximal bytes of the data of the record as JSON.
    max_bytes: usize,
    /// The error for a record that does not exist, or no longer exists.
    database: String,
    record_text: String,
    /// How the response shows the record.
    pub(super) variant: Variant,
}

/// A record with the changes of a patch.
#[derive(Debug)]
pub(crate) struct Patched {
    pub(super) data: Data,
    /// `data` as it is stored.
    pub(super) json: Vec<u8>,
    /// Whether its content differs from the stored content. A column that is null counts as absent.
    pub(super) is_changed: bool,
    pub(super) vector: PatchedVector,
}

/// Where the vector of a patched record comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PatchedVector {
    /// The stored vector: the text is the same, or the caller of an upsert gave the vector.
    Stored,
    /// This text is embedded.
    Text(RecordText),
    /// The record has no text any more, so it has no vector.
    None,
}

impl Patch {
    /// Parses `{"data": {…}, "if_changed_at": …}`. `record` is an integer, a UUID, or `key:` and a key. `form` is how the response shows it. With `flatten`, the members of objects are columns.
    ///
    /// # Errors
    /// The validation errors of `body`; [`Error::RecordNotFound`] for a `record` that is neither.
    pub(crate) fn parse(
        database: &str,
        record: &str,
        form: &str,
        body: &[u8],
        flatten: bool,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let max_bytes = limits.record_bytes;
        if body.len() > max_bytes {
            let detail = format!("the patch is larger than {max_bytes} bytes");
            let problem = ValidationError::new(ValidationCode::TooLarge, detail);
            return Err(Error::invalid_records(vec![problem]));
        }
        let parsed = parse_patch(body, flatten.then_some(max_bytes));
        let NewPatch { data, condition } = parsed.map_err(Error::invalid_records)?;
        Ok(Self {
            record: RecordRef::parse(record).ok_or_else(|| not_found(database, record))?,
            changes: data,
            flatten,
            condition,
            max_bytes,
            database: database.to_owned(),
            record_text: record.to_owned(),
            variant: Variant::named(form).unwrap_or(Variant::Both),
        })
    }

    pub(crate) fn not_found(&self) -> Error {
        not_found(&self.database, &self.record_text)
    }

    /// Applies the patch to the data of a record.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the patch makes the record larger than allowed. A record that is too large already, since
    /// an earlier limit, may become smaller.
    pub(super) fn apply(&self, settings: &Settings, stored: &Data) -> Result<Patched, Error> {
        let data = self.merge(stored);
        let mut json = Vec::new();
        write_cells(&data, &mut json);
        if json.len() > self.max_bytes {
            let mut before = Vec::new();
            write_cells(stored, &mut before);
            if json.len() > before.len() {
                let max = self.max_bytes;
                let detail = format!("the patched record is larger than {max} bytes");
                let problem = ValidationError::new(ValidationCode::TooLarge, detail);
                return Err(Error::invalid_records(vec![problem.within("data")]));
            }
        }
        Ok(Patched {
            is_changed: record_hash(&data, None) != record_hash(stored, None),
            vector: vector_of(settings, stored, &data),
            data,
            json,
        })
    }

    /// Changed columns keep their place, and new ones follow in the order of the patch. A flattened object and another value
    /// take the place of each other.
    fn merge(&self, stored: &Data) -> Data {
        let changes = self.changes.cells();
        let mut is_new = vec![true; changes.len()];
        let places: HashMap<&str, usize> = (changes.iter().enumerate())
            .map(|(at, (name, _))| (&**name, at))
            .collect();
        let objects: HashSet<&str> = (changes.iter())
            .filter(|(_, value)| self.flatten && *value != OwnedValue::Null)
            .flat_map(|(name, _)| objects_of(name))
            .collect();
        let is_replaced = |name: &str| {
            self.flatten
                && (objects.contains(name)
                    || objects_of(name).any(|object| places.contains_key(object)))
        };
        let mut cells = Vec::with_capacity(stored.cells().len() + changes.len());
        for (name, value) in stored.cells() {
            let value = match places.get(&**name) {
                Some(&at) => {
                    is_new[at] = false;
                    match &changes[at].1 {
                        OwnedValue::Null => continue,
                        changed => changed,
                    }
                }
                None if is_replaced(name) => continue,
                None => value,
            };
            cells.push((name.clone(), value.clone()));
        }
        let new = changes.iter().zip(is_new);
        let new = new.filter(|((_, value), is_new)| *is_new && *value != OwnedValue::Null);
        cells.extend(new.map(|(cell, _)| cell.clone()));
        Data::new(cells)
    }
}

/// The objects in which a flattened column may be a member: `a` and `a.b` of `a.b.c`.
fn objects_of(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').map(|(at, _)| &name[..at])
}

fn vector_of(settings: &Settings, stored: &Data, data: &Data) -> PatchedVector {
    if settings.model.is_none() {
        return PatchedVector::Stored;
    }
    let text = settings.text_of(data);
    if text == settings.text_of(stored) {
        return PatchedVector::Stored;
    }
    text.map_or(PatchedVector::None, PatchedVector::Text)
}

fn not_found(database: &str, record: &str) -> Error {
    Error::RecordNotFound {
        database: database.to_owned(),
        id: record.to_owned(),
    }
}
