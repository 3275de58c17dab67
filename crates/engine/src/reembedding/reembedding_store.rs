//! A database's records with the vectors of another model, in the making: a store that follows the database's own.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::disk::{Disk, remove_if_exists};
use crate::error::Error;
use crate::record::{record_hash, text_vector};
use crate::runtime::now_ms;
use crate::settings::Settings;
use crate::store::{
    CREATED_AT, CommitRange, CopiedRecord, FeedData, Reader, Store, StoreError, store_path,
};
use crate::write::{Embedded, VectorSource, parse_data};

/// Records of a batch, about: the texts of a few seconds, whose loss by a crash does not hurt.
const BATCH_RECORDS: u64 = 256;

/// When it was begun, milliseconds since 1970.
const STARTED_AT: &str = "reembedding_started_at";

/// Place of the last change of the database when it was begun. It lacks every record that was deleted before.
const STARTED_FROM: &str = "reembedding_started_from";

/// The database whose commits a re-embedding store takes over.
pub(crate) struct Followed<'a> {
    /// When it was created, milliseconds since 1970.
    pub(crate) created_at: i64,
    /// The history of its change feed.
    pub(crate) epoch: [u8; 16],
    pub(crate) reader: &'a Reader,
}

/// The store that is to take the place of a database's own.
#[derive(Debug)]
pub(crate) struct ReembeddingStore {
    pub(crate) settings: Settings,
    pub(crate) started_at: i64,
    /// Records so far.
    pub(crate) done: u64,
    started_from: u64,
    store: Store,
}

/// Records of some commits, which wait for the vectors of their texts.
#[derive(Debug)]
pub struct ReembeddingBatch {
    texts: Vec<String>,
    /// The commit that the shadow was up to.
    since: u64,
    stretch: CommitRange,
    /// With where the vector comes from; of an unchanged record, the shadow has it.
    records: Mutex<Vec<(CopiedRecord, VectorSource)>>,
}

impl ReembeddingBatch {
    /// The texts to embed, in the order that their vectors are expected in.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Whether the database had nothing more when the batch was made.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.stretch.last
    }
}

impl ReembeddingStore {
    /// Makes an empty shadow of `database` in `directory`.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn create(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        settings: Settings,
        database: &Followed<'_>,
    ) -> Result<Self, Error> {
        let (created_at, epoch) = (database.created_at, database.epoch);
        let started_from = database.reader.feed(0, 0, FeedData::None)?.last;
        let json = serde_json::to_vec(&settings.to_json()).expect("strings and numbers");
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
            // The error of the creation says what is wrong.
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

    /// Opens a shadow to go on with it; `None` when it cannot go on: it is damaged, or it does not follow the history
    /// `epoch`, so that it may hold records that the database never had.
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
        let json = reader.meta("settings")?.unwrap_or_default();
        let number = |key| -> Result<u64, StoreError> {
            let bytes = reader.meta(key)?.and_then(|bytes| bytes.try_into().ok());
            Ok(bytes.map_or(0, u64::from_le_bytes))
        };
        Ok(Some(Self {
            settings: Settings::parse(&String::from_utf8_lossy(&json))?,
            started_at: number(STARTED_AT)?.cast_signed(),
            done: reader.count()?,
            started_from: number(STARTED_FROM)?,
            store,
        }))
    }

    /// Whether it can go on: it follows the history `epoch`, and the feed has every deletion that it has not taken
    /// over. `removed` is the place of the last change that the feed no longer keeps.
    pub(crate) fn is_current(&self, epoch: [u8; 16], removed: u64) -> bool {
        let known = self.started_from.max(self.store.last_position());
        self.store.epoch() == epoch && (removed <= known || self.store.version() == 0)
    }

    /// Whether it must be opened again before anything can be stored.
    pub(crate) fn is_broken(&self) -> bool {
        self.store.is_poisoned()
    }

    /// The number of the commit that it is up to.
    pub(crate) fn version(&self) -> u64 {
        self.store.version()
    }

    /// Reads what comes next of the database that `source` reads.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn prepare(&self, source: &Reader) -> Result<ReembeddingBatch, Error> {
        let since = self.store.version();
        let mut records = Vec::new();
        let mut damaged = None;
        let position = self.store.last_position();
        let stretch = source.commit_range(since, position, BATCH_RECORDS, |record| {
            let Ok(data) = parse_data(record.data) else {
                damaged = Some(StoreError::Damaged { id: record.id });
                return ControlFlow::Break(());
            };
            let carried = CopiedRecord {
                id: record.id,
                uuid: record.uuid,
                // As of a record without a vector of its own, whatever the database had so far.
                hash: record_hash(&data, None),
                created: record.created,
                changed: record.changed,
                synced: record.synced,
                version: record.version,
                data: record.data.to_vec(),
            };
            records.push((carried, self.settings.text_of(&data)));
            ControlFlow::Continue(())
        })?;
        if let Some(error) = damaged {
            return Err(error.into());
        }
        let deleted: HashSet<u64> = stretch.deleted().collect();
        let embedded = self.embedded(&records)?;
        let mut texts = Vec::new();
        let records = records
            .into_iter()
            .map(|(record, text)| {
                let same = embedded.contains(&record.id) && !deleted.contains(&record.id);
                let source = match text {
                    _ if same => VectorSource::Unchanged,
                    None => VectorSource::None,
                    Some(text) => {
                        texts.push(text);
                        VectorSource::Text(texts.len() - 1)
                    }
                };
                (record, source)
            })
            .collect();
        Ok(ReembeddingBatch {
            texts,
            since,
            stretch,
            records: Mutex::new(records),
        })
    }

    /// Ids of those of `records` that are here with the same data, byte by byte, and so with the vector of their text.
    ///
    /// The hash alone does not tell: it leaves out the order of columns, which the text has.
    fn embedded(
        &self,
        records: &[(CopiedRecord, Option<String>)],
    ) -> Result<HashSet<u64>, StoreError> {
        let reader = self.store.reader();
        let ids: Vec<u64> = records.iter().map(|(record, _)| record.id).collect();
        let alike: HashMap<u64, &[u8]> = records
            .iter()
            .zip(reader.identities(&ids)?)
            .filter(|((record, _), here)| here.is_some_and(|here| here.hash == record.hash))
            .map(|((record, _), _)| (record.id, &record.data[..]))
            .collect();
        let ids: Vec<u64> = alike.keys().copied().collect();
        let mut embedded = HashSet::new();
        reader.records(&ids, |here| {
            if alike.get(&here.id).is_some_and(|data| *data == here.data) {
                embedded.insert(here.id);
            }
        })?;
        Ok(embedded)
    }

    /// Stores a batch with the vectors of its texts, one after the other.
    ///
    /// # Errors
    /// [`Error::Stale`] when another model made the vectors, or another batch was stored since; [`Error::Dimensions`],
    /// [`Error::Vector`], [`Error::Store`].
    pub(crate) fn commit(
        &mut self,
        batch: &ReembeddingBatch,
        Embedded {
            vectors,
            fingerprint,
        }: &Embedded,
    ) -> Result<(), Error> {
        let made_elsewhere = !batch.texts.is_empty() && *fingerprint != self.settings.fingerprint;
        if made_elsewhere || batch.since != self.store.version() {
            return Err(Error::Stale);
        }
        let dimensions = self.settings.dimensions;
        let expected = batch.texts.len() * dimensions;
        if vectors.len() != expected {
            let got = vectors.len();
            return Err(Error::Dimensions { expected, got });
        }
        let mut records = batch.records.lock();
        let records = std::mem::take(&mut *records)
            .into_iter()
            .map(|(record, source)| {
                let vector = match source {
                    VectorSource::Given(vector) => Some(vector),
                    VectorSource::Text(text) => {
                        Some(text_vector(&vectors[text * dimensions..][..dimensions])?)
                    }
                    VectorSource::None => Some(vec![0; dimensions]),
                    VectorSource::Unchanged => None,
                };
                Ok((record, vector))
            })
            .collect::<Result<Vec<_>, Error>>()?;
        let more = self.store.copy_commits(&batch.stretch, &records)?;
        self.done = self.done.saturating_add_signed(more);
        Ok(())
    }
}
