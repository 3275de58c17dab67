//! Re-embedding: a second store copies the commits of a database, with the vectors of another model, or of other columns.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Disk, remove_if_exists};
use crate::error::Error;
use crate::record::{Vectors, record_hash};
use crate::runtime::now_ms;
use crate::settings::{PassageSettings, RecordText, Settings, TextLine};
use crate::store::{
    CREATED_AT, CommitRange, CopiedRecord, FeedData, Header, Reader, SETTINGS, Store, StoreError,
    store_path,
};
use crate::write::{Embedded, TextVectors, VectorSource, parse_data};

/// Approximate records of a batch. Their texts are embedded in a few seconds, so a crash loses little work.
const BATCH_RECORDS: u64 = 256;

/// The key of the time when the re-embedding began, milliseconds since 1970.
const STARTED_AT: &str = "reembedding_started_at";

/// The key of the position of the database's last change when the re-embedding began. Records that were deleted
/// before are not in the store.
const STARTED_FROM: &str = "reembedding_started_from";

/// The database whose commits a re-embedding store copies.
pub(crate) struct Source<'a> {
    /// The time of its creation, milliseconds since 1970.
    pub(crate) created_at: i64,
    /// The epoch of its change feed.
    pub(crate) epoch: [u8; 16],
    pub(crate) reader: &'a Reader,
}

/// A store that replaces the store of its database once it has all commits.
#[derive(Debug)]
pub(crate) struct ReembeddingStore {
    pub(crate) settings: Settings,
    /// Milliseconds since 1970.
    pub(crate) started_at: i64,
    /// The number of records in the store.
    pub(crate) done: u64,
    /// The position of the database's last change when the re-embedding began.
    started_from: u64,
    store: Store,
}

impl ReembeddingStore {
    /// Creates an empty store for `database` in `directory`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        settings: Settings,
        database: &Source<'_>,
    ) -> Result<Self, Error> {
        let (created_at, epoch) = (database.created_at, database.epoch);
        let started_from = database.reader.feed(0, 0, FeedData::None)?.last;
        let json = settings.to_stored();
        let started_at = now_ms();
        let create = || {
            let mut store = Store::create(disk, &store_path(directory), &json)?;
            store.set_epoch(epoch)?;
            store.set_meta(CREATED_AT, &created_at.to_le_bytes())?;
            store.set_meta(STARTED_AT, &started_at.to_le_bytes())?;
            store.set_meta(STARTED_FROM, &started_from.to_le_bytes())?;
            Ok::<_, StoreError>(store)
        };
        let store = create().inspect_err(|_| {
            // The error of the creation is the one to report.
            let _ = remove_if_exists(&**disk, directory);
        })?;
        Ok(Self {
            settings,
            started_at,
            done: 0,
            started_from,
            store,
        })
    }

    /// Opens a store to continue it. `None` when the store is damaged, or is from another epoch: such a store may have
    /// records that the database never had.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        epoch: [u8; 16],
    ) -> Result<Option<Self>, Error> {
        let store = match Store::open(disk, &store_path(directory)) {
            Err(error) if error.code() == "damaged" => return Ok(None),
            opened => opened?,
        };
        if store.restored().is_some() || store.epoch() != epoch {
            return Ok(None);
        }
        let reader = store.reader();
        let number = |key| -> Result<u64, StoreError> {
            let bytes = reader.meta(key)?.and_then(|bytes| bytes.try_into().ok());
            Ok(bytes.map_or(0, u64::from_le_bytes))
        };
        Ok(Some(Self {
            settings: Settings::from_stored(reader.meta(SETTINGS)?)?,
            started_at: number(STARTED_AT)?.cast_signed(),
            done: reader.count()?,
            started_from: number(STARTED_FROM)?,
            store,
        }))
    }

    /// Whether the store can continue: it is of the history `epoch`, and the feed has all deletions that the store
    /// lacks. `removed` is the position of the last change that was removed from the feed.
    pub(crate) fn is_current(&self, epoch: [u8; 16], removed: u64) -> bool {
        let known = self.started_from.max(self.store.last_position());
        self.store.epoch() == epoch && (removed <= known || self.store.version() == 0)
    }

    /// Takes over the settings of the database that no vector depends on, and the states of its syncs. `source` is its
    /// reader, after its last commit.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn configure(&mut self, database: &Settings, source: &Reader) -> Result<(), Error> {
        for (key, state) in source.sync_states()? {
            self.store.set_meta(&key, &state)?;
        }
        let settings = database.with_vectors_of(&self.settings);
        if settings != self.settings {
            self.store.set_settings(&settings.to_stored())?;
            self.settings = settings;
        }
        Ok(())
    }

    /// Whether the store must be opened again before it can commit.
    pub(crate) fn is_broken(&self) -> bool {
        self.store.is_poisoned()
    }

    /// The number of the last commit that was copied.
    pub(crate) fn version(&self) -> u64 {
        self.store.version()
    }

    /// Reads the next commits of the database. `source` and `settings` are the reader and the settings of the database. A
    /// record whose text stays the same keeps its vectors if they are of the same model.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn prepare(
        &self,
        source: &Reader,
        settings: &Settings,
    ) -> Result<ReembeddingBatch, Error> {
        let since = self.store.version();
        let mut records = Vec::new();
        let mut damaged = None;
        let position = self.store.last_position();
        let commits = source.commit_range(since, position, BATCH_RECORDS, |record| {
            let Ok(data) = parse_data(record.data) else {
                damaged = Some(StoreError::Damaged {
                    id: record.header.id,
                });
                return ControlFlow::Break(());
            };
            let text = self.settings.text_of(&data);
            let keeps = |text| self.settings.keeps_vectors(text, settings, &data);
            let kept = match text.as_ref().filter(|text| keeps(text)) {
                None => None,
                Some(_) => match record.vectors() {
                    Ok(vectors) => Some(vectors),
                    Err(error) => {
                        damaged = Some(error);
                        return ControlFlow::Break(());
                    }
                },
            };
            let copied = CopiedRecord {
                header: Header {
                    // The hash of a record that came without a vector, because the new model embeds its text.
                    hash: record_hash(&data, None),
                    ..record.header
                },
                key: record.key.map(str::to_owned),
                data: record.data.to_vec(),
            };
            records.push((copied, kept, text));
            ControlFlow::Continue(())
        })?;
        if let Some(error) = damaged {
            return Err(error.into());
        }
        let deleted: HashSet<u64> = commits.deleted().collect();
        let embedded = self.embedded(records.iter().map(|(record, ..)| record))?;
        let mut texts = Vec::new();
        let records = records
            .into_iter()
            .map(|(record, kept, text)| {
                let is_embedded =
                    embedded.contains(&record.header.id) && !deleted.contains(&record.header.id);
                let source = match (kept, text) {
                    _ if is_embedded => VectorSource::Unchanged,
                    (Some(vectors), _) => VectorSource::Given(vectors),
                    (None, None) => VectorSource::None,
                    (None, Some(text)) => {
                        texts.push(text);
                        VectorSource::Text(texts.len() - 1)
                    }
                };
                (record, source)
            })
            .collect();
        Ok(ReembeddingBatch {
            passages: self.settings.passages,
            texts,
            since,
            commits,
            records,
        })
    }

    /// The ids of the records that the store already has with the same data, byte by byte, and so with the vector of
    /// their text.
    ///
    /// Equal hashes are not enough, because the hash does not depend on the order of columns and the text does.
    fn embedded<'a>(
        &self,
        records: impl Iterator<Item = &'a CopiedRecord> + Clone,
    ) -> Result<HashSet<u64>, StoreError> {
        let reader = self.store.reader();
        let ids: Vec<u64> = records.clone().map(|record| record.header.id).collect();
        let same_hash: HashMap<u64, &[u8]> = records
            .zip(reader.identities(&ids)?)
            .filter(|(record, here)| here.is_some_and(|here| here.hash == record.header.hash))
            .map(|(record, _)| (record.header.id, &record.data[..]))
            .collect();
        let ids: Vec<u64> = same_hash.keys().copied().collect();
        let mut embedded = HashSet::new();
        reader.records(&ids, |here| {
            if same_hash
                .get(&here.header.id)
                .is_some_and(|data| *data == here.data)
            {
                embedded.insert(here.header.id);
            }
        })?;
        Ok(embedded)
    }

    /// Copies the commits of a batch, with the vectors of its texts. After an error nothing is
    /// copied, and the same batch can be committed again.
    ///
    /// # Errors
    /// [`Error::Stale`] when another model made the vectors, or another batch was committed meanwhile; [`Error::Dimensions`],
    /// [`Error::Vector`], [`Error::Store`]; [`Error::Invalid`] for a text with more passages.
    pub(crate) fn commit(
        &mut self,
        batch: &ReembeddingBatch,
        embedded: &Embedded,
    ) -> Result<(), Error> {
        let other_model =
            !batch.texts.is_empty() && embedded.fingerprint != self.settings.fingerprint;
        if other_model || batch.since != self.store.version() {
            return Err(Error::Stale);
        }
        let dimensions = self.settings.dimensions;
        let vectors = TextVectors::of(embedded, &batch.texts, &self.settings)?;
        let records = batch
            .records
            .iter()
            .map(|(record, source)| {
                let vectors = match source {
                    VectorSource::Given(vectors) => Some(vectors.clone()),
                    VectorSource::Text(text) => {
                        let vectors = vectors.get(*text)?;
                        Some(vectors.map_err(|too_many| too_many.error_of(record.header.id))?)
                    }
                    VectorSource::None => Some(Vectors::none(dimensions)),
                    VectorSource::Unchanged => None,
                };
                Ok((record, vectors))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let more = self.store.copy_commits(&batch.commits, &records)?;
        self.done = self.done.saturating_add_signed(more);
        Ok(())
    }
}

/// The records of some commits, before their texts are embedded.
#[derive(Debug)]
pub struct ReembeddingBatch {
    passages: PassageSettings,
    texts: Vec<RecordText>,
    /// The last commit of the re-embedding store when the batch was read.
    since: u64,
    commits: CommitRange,
    /// Each record with the source of its vector. For an unchanged record, the store has the vector.
    records: Vec<(CopiedRecord, VectorSource)>,
}

impl ReembeddingBatch {
    /// The texts to embed. A commit expects their vectors in this order.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.texts.iter().map(|text| text.text.clone()).collect()
    }

    /// The values of columns in a text, by its number. None for a text that there is not.
    #[must_use]
    pub fn lines(&self, text: usize) -> Vec<TextLine> {
        self.texts
            .get(text)
            .map_or_else(Vec::new, RecordText::lines)
    }

    /// How the texts are split.
    #[must_use]
    pub fn passages(&self) -> PassageSettings {
        self.passages
    }

    /// Whether the database had no later commits when the batch was read.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.commits.last
    }
}
