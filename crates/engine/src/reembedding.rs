//! Re-embedding: the vectors of another model, or of other columns, are made beside those of the database and then take their
//! place.

use std::ops::ControlFlow;

use serde_json::{Value, json};

use crate::columns::BLOCK_RECORDS;
use crate::error::Error;
use crate::json::time_text;
use crate::record::{Vectors, record_hash};
use crate::settings::{PassageSettings, RecordText, Settings, TextLine};
use crate::snapshot::FileId;
use crate::store::{NextModel, NextReached, NextRecord, Reader, StoreError};
use crate::write::{Embedded, TextVectors, VectorSource, parse_data};

/// Records of a batch. Their texts are embedded in a few seconds, so a crash loses little work.
const BATCH_RECORDS: usize = 256;

/// Bytes of the data and the vectors of the records of a batch before it ends, because long records have thousands of vectors.
const BATCH_BYTES: usize = 8 << 20;

/// A re-embedding as the store has it.
pub(crate) struct Reembedding {
    pub(crate) settings: Settings,
    next: NextModel,
}

impl Reembedding {
    /// The re-embedding of a store; `None` without one.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn of(reader: &Reader) -> Result<Option<Self>, Error> {
        let Some(next) = reader.next_model()? else {
            return Ok(None);
        };
        let settings = Settings::from_stored(Some(next.settings.clone()))?;
        Ok(Some(Self { settings, next }))
    }

    /// How far it has come.
    pub(crate) fn reached(&self) -> NextReached {
        self.next.reached
    }

    /// `embed`, `model`, `fingerprint`, `done` and `started_at`.
    pub(crate) fn describe(&self) -> Value {
        let mut settings = self.settings.to_json();
        json!({
            "embed": settings.remove("embed"),
            "model": self.settings.model,
            "fingerprint": self.settings.fingerprint,
            "done": self.next.done,
            "started_at": time_text(self.next.reached.started_at),
        })
    }

    /// Reads the next records of a database with the settings `current`. A record whose text stays the same keeps its vectors
    /// if they are of the same model.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub(crate) fn prepare(
        self,
        reader: &Reader,
        current: &Settings,
    ) -> Result<ReembeddingBatch, Error> {
        let settings = self.settings;
        let (mut records, mut texts, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut damaged = None;
        let before = self.next.reached;
        let (after, is_last) = reader.without_next(before, |record| {
            let header = record.header;
            let Ok(data) = parse_data(record.data) else {
                damaged = Some(StoreError::Damaged { id: header.id });
                return ControlFlow::Break(());
            };
            bytes += record.data.len() + size_of_val(record.vectors);
            let source = match settings.text_of(&data) {
                None => VectorSource::None,
                Some(text) if settings.keeps_vectors(&text, current, &data) => {
                    match record.vectors() {
                        Ok(vectors) => VectorSource::Given(vectors),
                        Err(error) => {
                            damaged = Some(error);
                            return ControlFlow::Break(());
                        }
                    }
                }
                Some(text) => {
                    texts.push(text);
                    VectorSource::Text(texts.len() - 1)
                }
            };
            // That of a record that came without a vector, because the new model embeds its text.
            let hash = record_hash(&data, None);
            records.push((header.id, header.version, hash, source));
            if records.len() == BATCH_RECORDS || bytes >= BATCH_BYTES {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        if let Some(error) = damaged {
            return Err(error.into());
        }
        Ok(ReembeddingBatch {
            settings,
            texts,
            reached: (before, after),
            records,
            is_last,
        })
    }
}

/// Some records, before their texts are embedded.
#[derive(Debug)]
pub struct ReembeddingBatch {
    /// Those that the vectors are made with.
    settings: Settings,
    texts: Vec<RecordText>,
    /// What was and what is reached with the batch.
    reached: (NextReached, NextReached),
    /// The id, the version and the new hash of each record, and the source of its vectors.
    records: Vec<(u64, u64, [u8; 16], VectorSource)>,
    is_last: bool,
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
        self.settings.passages
    }

    /// Whether no other record lacked vectors when the batch was read.
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.is_last
    }

    /// What is reached before and after the batch.
    pub(crate) fn reached(&self) -> (NextReached, NextReached) {
        self.reached
    }

    /// The records with the vectors of their texts.
    ///
    /// # Errors
    /// [`Error::Stale`] when another model made the vectors; [`Error::Dimensions`], [`Error::Vector`]; [`Error::Invalid`] for a
    /// text with more passages.
    pub(crate) fn records(&self, embedded: &Embedded) -> Result<Vec<NextRecord>, Error> {
        if !self.texts.is_empty() && embedded.fingerprint != self.settings.fingerprint {
            return Err(Error::Stale);
        }
        let made = TextVectors::of(embedded, &self.texts, &self.settings)?;
        let records = self.records.iter();
        records
            .map(|(id, version, hash, source)| {
                let vectors = match source {
                    VectorSource::Given(vectors) => vectors.clone(),
                    VectorSource::Text(text) => made
                        .get(*text)?
                        .map_err(|too_many| too_many.error_of(*id))?,
                    _ => Vectors::none(self.settings.dimensions),
                };
                Ok(NextRecord {
                    id: *id,
                    version: *version,
                    hash: *hash,
                    vectors,
                })
            })
            .collect()
    }

    /// Writes the vectors of the next model that the store has in its table to a file, if they are as many as those of a block.
    /// Returns the number of the file, and the ids of its records by slot.
    ///
    /// # Errors
    /// [`Error::Store`], [`Error::IndexFiles`].
    pub(crate) fn write_file(&self, reader: &Reader) -> Result<Option<(u64, Vec<u64>)>, Error> {
        let dimensions = self.settings.dimensions;
        let Some(next) = reader.next_rows(dimensions, BLOCK_RECORDS)? else {
            return Ok(None);
        };
        let file = FileId::next().0;
        let sizes = (dimensions, next.ids.len());
        (reader.vector_files()).write(file, sizes, &next.later, &next.rows)?;
        Ok(Some((file, next.ids)))
    }
}
