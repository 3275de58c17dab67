//! The vectors of a record as a store outside of the engine keeps them.

use crate::error::Error;
use crate::external::row::ExternalRow;
use crate::external::rules::ExternalRules;
use crate::record::{Data, Passages, Vectors, content_hash, q30_to_f32, record_hash};
use crate::settings::{PassageSettings, RecordText, Settings, TextLine};
use crate::write::{Embedded, TextVectors, VectorSource, parse_data};

/// The vectors of a record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExternalVectors {
    /// The Q30 components of the vector, or of that of the first passage; empty for a record without a vector.
    pub first: Vec<i32>,
    /// The passages of a record with several.
    pub passages: Option<Vec<u8>>,
    /// All vectors, by which the store finds the record.
    pub scanned: Vec<ScannedVector>,
}

/// A vector by which a store finds candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct ScannedVector {
    /// Identifies the exact vector: vectors with the same direction have the same score for every query.
    pub direction: [u8; 16],
    /// The components in single precision.
    pub single: Vec<f32>,
}

impl ScannedVector {
    fn of(exact: &[i32]) -> Self {
        let bytes: Vec<u8> = exact.iter().flat_map(|part| part.to_le_bytes()).collect();
        let mut single = Vec::new();
        q30_to_f32(exact, &mut single);
        Self {
            direction: content_hash(&[&bytes]),
            single,
        }
    }
}

impl From<&Vectors> for ExternalVectors {
    fn from(vectors: &Vectors) -> Self {
        if vectors.first.iter().all(|&component| component == 0) {
            return Self::default();
        }
        Self {
            first: vectors.first.clone(),
            passages: vectors.passages.as_deref().map(Passages::to_bytes),
            scanned: vectors.all().map(ScannedVector::of).collect(),
        }
    }
}

/// Rows that get other vectors.
#[derive(Debug)]
pub struct ExternalTexts {
    settings: Settings,
    texts: Vec<RecordText>,
    /// The integer id of each row, and where its vectors come from.
    rows: Vec<(u64, VectorSource)>,
    hashes: Vec<[u8; 16]>,
}

impl ExternalRules {
    /// The texts of rows that the model embeds. `before` has the settings, JSON, with which the rows got their vectors: a row
    /// with the same text keeps them if they are of the same model. Without `before`, every text is embedded.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data; [`Error::Invalid`] for settings that are not valid.
    pub fn texts_of(
        &self,
        rows: &[ExternalRow],
        before: Option<&str>,
    ) -> Result<ExternalTexts, Error> {
        let settings = &self.settings;
        let before = before.map(Settings::parse).transpose()?;
        let keeps = |text: &RecordText, data: &Data| {
            (before.as_ref()).is_some_and(|before| settings.keeps_vectors(text, before, data))
        };
        let mut texts = Vec::new();
        let mut found = Vec::with_capacity(rows.len());
        let mut hashes = Vec::with_capacity(rows.len());
        for row in rows {
            let data = parse_data(&row.data).map_err(|_| row.damaged("data"))?;
            hashes.push(record_hash(&data, None));
            let source = match settings.text_of(&data) {
                None => VectorSource::None,
                Some(text) if keeps(&text, &data) => {
                    VectorSource::Given(row.vectors(settings.dimensions)?)
                }
                Some(text) => {
                    texts.push(text);
                    VectorSource::Text(texts.len() - 1)
                }
            };
            found.push((row.header.id, source));
        }
        Ok(ExternalTexts {
            settings: settings.clone(),
            texts,
            rows: found,
            hashes,
        })
    }
}

impl ExternalTexts {
    /// The texts to embed.
    pub fn texts(&self) -> Vec<String> {
        self.texts.iter().map(|text| text.text.clone()).collect()
    }

    /// The values of columns in a text, by its number. None for a text that there is not.
    pub fn lines(&self, text: usize) -> Vec<TextLine> {
        let text = self.texts.get(text);
        text.map_or_else(Vec::new, RecordText::lines)
    }

    /// How the texts are split.
    pub fn passages(&self) -> PassageSettings {
        self.settings.passages
    }

    /// The content hash of each row: that of a record whose vector comes from a model.
    pub fn hashes(&self) -> &[[u8; 16]] {
        &self.hashes
    }

    /// The integer id and the vectors of each row, from the vectors of the texts.
    ///
    /// # Errors
    /// [`Error::Dimensions`], [`Error::Vector`]; [`Error::Invalid`] for a text with more passages than allowed.
    pub fn vectors(&self, embedded: &Embedded) -> Result<Vec<(u64, ExternalVectors)>, Error> {
        let vectors = TextVectors::of(embedded, &self.texts, &self.settings)?;
        let of_row = |(id, source): &(u64, VectorSource)| {
            let vectors = match source {
                VectorSource::Given(kept) => kept.into(),
                VectorSource::Text(text) => {
                    let vectors = vectors.get(*text)?;
                    (&vectors.map_err(|too_many| too_many.error_of(*id))?).into()
                }
                VectorSource::None | VectorSource::Unchanged => ExternalVectors::default(),
            };
            Ok((*id, vectors))
        };
        self.rows.iter().map(of_row).collect()
    }
}
