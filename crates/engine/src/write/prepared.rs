//! Prepared records and patches: parsed and checked, waiting for the vectors of their texts.

use parking_lot::{Mutex, MutexGuard};

use crate::limits::Limits;
use crate::record::{
    Data, RecordId, RecordUuid, ValidationError, Vectors, hexadecimal, record_hash,
};
use crate::settings::{PassageSettings, RecordText, Settings, TextLine};
use crate::write::checks::check_vector;
use crate::write::deletion::RecordRef;
use crate::write::parsing::NewRecord;
use crate::write::patch::Patch;

/// The format of a request's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A JSON object `{"records": [...]}`: a bad record fails the whole request.
    Batch,
    /// One record per line: bad lines are reported and left out.
    Lines {
        /// The number of the first line, for reports.
        first: u64,
        /// Whether a record without `id`, `uuid` and `key` is a bad line.
        needs_identity: bool,
        /// When the source of the records was read, milliseconds since 1970: their time of last sync, unless the stored
        /// one is later.
        read_at: Option<i64>,
    },
}

/// A bad line of a stream.
#[derive(Clone, Debug)]
pub struct LineError {
    /// The number of the line in the stream, from 1.
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

/// The records of a [`Prepared`], and the texts whose vectors a commit needs.
#[derive(Debug)]
pub(crate) struct PreparedRecords {
    /// The settings of the database that the texts were made for.
    pub(crate) settings: Settings,
    /// Whether a commit found that other texts are needed.
    pub(super) outdated: bool,
    /// Whether a commit wrote the records, which were freed then.
    pub(super) committed: bool,
    pub(crate) records: Vec<PreparedRecord>,
    /// The patch, in place of records.
    pub(crate) patch: Option<PreparedPatch>,
    pub(crate) texts: Vec<RecordText>,
    /// The number of distinct column names that the database may have.
    pub(crate) max_columns: usize,
}

/// A patch, and the text that needs a vector.
#[derive(Debug)]
pub(crate) struct PreparedPatch {
    pub(crate) patch: Patch,
    /// The text of the patched record, if the patch changes the text.
    pub(super) text: Option<RecordText>,
}

/// One record.
#[derive(Debug)]
pub(crate) struct PreparedRecord {
    /// The number of the record's line; `None` in a batch.
    pub(crate) line: Option<u64>,
    pub(crate) new: NewRecord,
    /// `data` as it is stored.
    pub(crate) json: Vec<u8>,
    pub(crate) hash: [u8; 16],
    pub(crate) vector: VectorSource,
}

impl PreparedRecord {
    /// The record with the changes of a patch. `vector` is the unit vector in a database without a model.
    pub(super) fn patched(id: RecordId, data: Data, json: Vec<u8>, vector: Option<&[i32]>) -> Self {
        let hash = record_hash(&data, vector);
        let new = NewRecord {
            id: Some(id.0),
            data,
            ..NewRecord::default()
        };
        Self::unchanged(new, json, hash)
    }

    /// A record with a vector that the stage has.
    pub(super) fn unchanged(new: NewRecord, json: Vec<u8>, hash: [u8; 16]) -> Self {
        Self {
            line: None,
            new,
            json,
            hash,
            vector: VectorSource::Unchanged,
        }
    }

    /// Whether a record that is stored with `hash` has the same content.
    pub(crate) fn is_same(&self, hash: &[u8; 16]) -> bool {
        self.hash == *hash
    }

    /// Whether a stored record of the same content is stored again: it gets its key, or other times.
    pub(crate) fn renews(&self, has_key: bool, created: i64, changed: i64) -> bool {
        self.new.key.is_some() && !has_key || self.new.has_other_times(created, changed)
    }

    /// The vectors that the caller gave, as unit vectors.
    pub(crate) fn given(&self) -> Option<&Vectors> {
        match &self.vector {
            VectorSource::Given(vectors) => Some(vectors),
            VectorSource::Text(_) | VectorSource::None | VectorSource::Unchanged => None,
        }
    }

    /// Checks the vector that the caller gave, or its absence.
    ///
    /// # Errors
    /// As [`check_vector`].
    pub(crate) fn check_vector(&self, settings: &Settings) -> Result<(), ValidationError> {
        let given = self.given().map(|given| given.first.len());
        check_vector(settings, given, self.new.embedded_by.as_deref())
    }
}

/// Where the vector of a record comes from.
#[derive(Debug)]
pub(crate) enum VectorSource {
    /// The caller gave it, or the vectors of several passages.
    Given(Vectors),
    /// The text of this number is embedded.
    Text(usize),
    /// The record has no text, so it has no vector.
    None,
    /// The record has not changed, so the store has its vector.
    Unchanged,
}

impl Prepared {
    pub(crate) fn new(epoch: [u8; 16], records: PreparedRecords, problems: Vec<LineError>) -> Self {
        Self {
            epoch,
            inner: Mutex::new(records),
            problems,
        }
    }

    /// The texts to embed. A commit expects their vectors in this order.
    ///
    /// The vectors of a commit must be those of the last call's texts: call again after
    /// [`Error::Stale`](crate::Error::Stale).
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut inner = self.lock();
        inner.renew_texts();
        inner.texts.iter().map(|text| text.text.clone()).collect()
    }

    /// The values of columns in a text, by its number in the last call of [`Prepared::texts`]. None for a text that there
    /// is not.
    #[must_use]
    pub fn lines(&self, text: usize) -> Vec<TextLine> {
        let inner = self.lock();
        inner
            .texts
            .get(text)
            .map_or_else(Vec::new, RecordText::lines)
    }

    /// How the texts of the last call of [`Prepared::texts`] are split.
    #[must_use]
    pub fn passages(&self) -> PassageSettings {
        self.lock().settings.passages
    }

    /// The epoch of the database that the records were prepared for, in 32 hexadecimal digits. A database that is
    /// created later with the same id has another epoch.
    #[must_use]
    pub fn epoch(&self) -> String {
        hexadecimal(self.epoch)
    }

    /// The number of records to write; 0 after a commit has written them.
    #[must_use]
    pub fn records(&self) -> usize {
        let inner = self.lock();
        inner.records.len() + usize::from(inner.patch.is_some())
    }

    /// Removes and returns the records once a commit has written them. Another commit of them fails.
    ///
    /// The caller of a commit may keep the handle for long: JavaScript frees it with the next full garbage collection, on
    /// the thread that also answers requests. So the writer frees the records.
    #[must_use = "the caller drops them without the lock"]
    pub(super) fn take_committed(&self) -> PreparedRecords {
        let mut inner = self.lock();
        let rest = PreparedRecords {
            settings: inner.settings.clone(),
            outdated: false,
            committed: true,
            records: Vec::new(),
            patch: None,
            texts: Vec::new(),
            ..*inner
        };
        std::mem::replace(&mut inner, rest)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, PreparedRecords> {
        self.inner.lock()
    }
}

impl PreparedRecords {
    /// Nothing yet, for a database with `settings`.
    pub(super) fn new(settings: &Settings, limits: &Limits) -> Self {
        Self {
            settings: settings.clone(),
            outdated: false,
            committed: false,
            records: Vec::new(),
            patch: None,
            texts: Vec::new(),
            max_columns: limits.database_columns,
        }
    }

    /// Makes the texts outdated: a commit fails until they are made again, for a database with `settings`.
    pub(crate) fn mark_outdated(&mut self, settings: &Settings) {
        self.settings.clone_from(settings);
        self.outdated = true;
    }

    /// The identities of the records: a record may have two.
    pub(crate) fn references(&self) -> impl Iterator<Item = RecordRef> {
        let patch = self.patch.as_ref().map(|patch| patch.patch.record);
        let records = self.records.iter().flat_map(|PreparedRecord { new, .. }| {
            let id = new.id.map(|id| RecordRef::Id(RecordId(id)));
            let uuid = new.uuid.map(|uuid| RecordRef::Uuid(RecordUuid(uuid)));
            [id, uuid].into_iter().flatten()
        });
        patch.into_iter().chain(records)
    }

    pub(crate) fn is_outdated(&self) -> bool {
        self.outdated
    }

    /// Makes the texts of all records that came without a vector, if the texts are outdated.
    fn renew_texts(&mut self) {
        if !std::mem::take(&mut self.outdated) {
            return;
        }
        self.texts.clear();
        if let Some(patch) = &self.patch {
            self.texts.extend(patch.text.clone());
        }
        for at in 0..self.records.len() {
            if self.records[at].given().is_none() {
                self.add_text(at);
            }
        }
    }

    /// Adds the text of a record to the texts to embed, if the record has a text.
    pub(super) fn add_text(&mut self, at: usize) {
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
