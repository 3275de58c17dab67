//! The settings of a database.

mod lexical;
mod passages;

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::json::write_text;
use crate::record::{Data, OwnedValue, Value as Cell};
pub(crate) use crate::settings::lexical::Lexical;
pub(crate) use crate::settings::passages::MAX_PASSAGES;
pub use crate::settings::passages::PassageSettings;
use crate::store::StoreError;

/// Maximal number of dimensions of a vector.
pub(crate) const MAX_DIMENSIONS: usize = 4096;

/// What stands before the checksum of stored settings. No text of JSON contains it, because its quotes are escaped there.
const CHECKSUM: &str = ",\"crc\":";

/// The members of settings that the engine only keeps: JSON objects, of which an empty one is the same as none.
const KEPT: [&str; 2] = [DEFAULTS, "formats"];

/// The values of members of a request that it leaves out.
const DEFAULTS: &str = "defaults";

/// The settings of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The columns whose values are embedded, in order; `None` embeds every string column as `column: value`.
    pub embed: Option<Vec<String>>,
    /// How their texts are split.
    pub passages: PassageSettings,
    /// The name of the embedding model; `None` if callers give the vectors.
    pub model: Option<String>,
    /// Identifies everything that the vectors of the model depend on: another fingerprint means other vectors.
    pub fingerprint: Option<String>,
    /// The number of components of a vector.
    pub dimensions: usize,
    /// Which words of records searches can take into account.
    pub lexical: Lexical,
    /// Whether the members of objects in records are columns.
    pub flatten: bool,
    /// What callers keep with the database.
    pub kept: Arc<Map<String, Value>>,
}

impl Settings {
    /// Whether records have the same vectors with these settings and with `other`.
    pub(crate) fn makes_vectors_of(&self, other: &Self) -> bool {
        self.embed == other.embed && self.passages == other.passages && self.has_model_of(other)
    }

    fn has_model_of(&self, other: &Self) -> bool {
        self.model == other.model
            && self.fingerprint == other.fingerprint
            && self.dimensions == other.dimensions
    }

    /// Whether a record whose text is `text` keeps the vectors that it has with the settings `before`, because the same
    /// model made them of the same passages.
    pub(crate) fn keeps_vectors(&self, text: &RecordText, before: &Self, data: &Data) -> bool {
        self.has_model_of(before)
            && self.passages.split_as(&before.passages)
            && before.text_of(data).as_ref() == Some(text)
    }

    /// These settings with the vectors of `other`.
    #[must_use]
    pub(crate) fn with_vectors_of(&self, other: &Self) -> Self {
        Self {
            lexical: self.lexical.clone(),
            flatten: self.flatten,
            kept: Arc::clone(&self.kept),
            ..other.clone()
        }
    }

    /// Checks that a request was made with the default values of these settings.
    ///
    /// # Errors
    /// [`Error::Stale`].
    pub(crate) fn check_defaults(&self, defaults: Option<&Value>) -> Result<(), Error> {
        if self.kept.get(DEFAULTS) == defaults {
            Ok(())
        } else {
            Err(Error::Stale)
        }
    }

    /// Reads settings from JSON.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer to each invalid member.
    pub(crate) fn parse(json: &str) -> Result<Self, Error> {
        let invalid = |pointer: &str, detail: &str| Error::request(pointer, detail);
        let value: Value =
            serde_json::from_str(json).map_err(|error| invalid("", &error.to_string()))?;
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let embed = match value.pointer("/embed/columns") {
            None | Some(Value::Null) => None,
            Some(Value::Array(columns)) if !columns.is_empty() => {
                let names: Option<Vec<String>> = columns
                    .iter()
                    .map(|name| name.as_str().map(str::to_owned))
                    .collect();
                Some(names.ok_or_else(|| invalid("/embed/columns", "must be strings"))?)
            }
            Some(_) => {
                return Err(invalid(
                    "/embed/columns",
                    "must be an array of at least one column name",
                ));
            }
        };
        let dimensions = value.get("dimensions").and_then(Value::as_u64).unwrap_or(0);
        if !(1..=MAX_DIMENSIONS as u64).contains(&dimensions) {
            return Err(invalid(
                "/dimensions",
                &format!("must be between 1 and {MAX_DIMENSIONS}"),
            ));
        }
        Ok(Self {
            embed,
            passages: PassageSettings::parse(value.pointer("/embed/passages"))?,
            model: text("model"),
            fingerprint: text("fingerprint"),
            dimensions: dimensions as usize,
            lexical: Lexical::parse(value.get("lexical"))?,
            flatten: match value.get("flatten") {
                None | Some(Value::Null) => false,
                Some(flatten) => (flatten.as_bool())
                    .ok_or_else(|| invalid("/flatten", "must be true or false"))?,
            },
            kept: Arc::new(kept_of(&value)?),
        })
    }

    /// The settings as a store keeps them: JSON whose last member is a checksum of the others.
    #[must_use]
    pub(crate) fn to_stored(&self) -> Vec<u8> {
        let mut json = serde_json::to_string(&self.to_json()).expect("strings and numbers");
        let checksum = crc32fast::hash(json.as_bytes());
        json.pop();
        format!("{json}{CHECKSUM}{checksum}}}").into_bytes()
    }

    /// Reads what [`Settings::to_stored`] wrote.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`].
    pub(crate) fn from_stored(stored: Option<Vec<u8>>) -> Result<Self, StoreError> {
        let damaged =
            |reason: &str| StoreError::inconsistent(format!("its settings are damaged: {reason}"));
        let bytes = stored.ok_or_else(|| damaged("they are missing"))?;
        let json = String::from_utf8(bytes).map_err(|_| damaged("they are no text"))?;
        let parts = json
            .strip_suffix('}')
            .and_then(|json| json.rsplit_once(CHECKSUM));
        let (members, checksum) = parts.ok_or_else(|| damaged("their checksum is missing"))?;
        if checksum != crc32fast::hash(format!("{members}}}").as_bytes()).to_string() {
            return Err(damaged("their checksum does not match"));
        }
        Self::parse(&json).map_err(|error| damaged(&error.to_string()))
    }

    /// The settings as JSON members.
    #[must_use]
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        let mut members = Map::new();
        members.insert("model".into(), json!(self.model));
        members.insert("fingerprint".into(), json!(self.fingerprint));
        members.insert("dimensions".into(), json!(self.dimensions));
        let columns = self.embed.as_ref().map(|names| ("columns", json!(names)));
        let passages = self
            .passages
            .to_json()
            .map(|passages| ("passages", passages));
        let embed = columns.into_iter().chain(passages);
        let embed: Map<String, Value> = embed
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        members.insert("embed".into(), Value::Object(embed));
        members.insert("lexical".into(), self.lexical.to_json());
        if self.flatten {
            members.insert("flatten".into(), json!(true));
        }
        members.extend(
            self.kept
                .iter()
                .map(|(name, kept)| (name.clone(), kept.clone())),
        );
        members
    }

    /// Whether a record has a vector: one that the caller gives, or the vector of its text.
    pub(crate) fn has_vector(&self, data: &Data) -> bool {
        self.model.is_none() || self.has_text(data)
    }

    /// Whether an embedded column has a value of more than white space and control characters.
    fn has_text(&self, data: &Data) -> bool {
        let is_blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c.is_control());
        match &self.embed {
            Some(names) => {
                let values = names.iter().filter_map(|name| data.get(name));
                let mut elements = values.flat_map(|value| value.borrow().elements());
                elements.any(|element| match element {
                    Cell::Text(text) => !is_blank(text),
                    Cell::Number(_) | Cell::Boolean(_) => true,
                    Cell::Null | Cell::List(_) => false,
                })
            }
            None => {
                let mut values = data.cells().iter();
                values.any(|(_, value)| !value.borrow().strings().all(is_blank))
            }
        }
    }

    /// The text of a record to embed; `None` if it has none, and therefore no vector.
    ///
    /// With chosen columns, each non-empty value is a line. Otherwise each string column is a line `column: value`, and so is
    /// a list with a string.
    #[must_use]
    pub(crate) fn text_of(&self, data: &Data) -> Option<RecordText> {
        if !self.has_text(data) {
            return None;
        }
        let mut text = Vec::new();
        let mut lines = Vec::new();
        let mut line = |name: &str, is_labelled: bool, value: &OwnedValue| {
            let start = text.len();
            if start > 0 {
                text.push(b'\n');
            }
            if is_labelled {
                text.extend_from_slice(name.as_bytes());
                text.extend_from_slice(b": ");
            }
            let value_start = text.len();
            write_text(value.borrow(), &mut text);
            if text.len() == value_start {
                return text.truncate(start);
            }
            lines.push((Box::from(name), value_start..text.len()));
        };
        match &self.embed {
            Some(names) => {
                for name in names {
                    if let Some(value) = data.get(name) {
                        line(name, false, value);
                    }
                }
            }
            None => {
                for (name, value) in data.cells() {
                    if value.borrow().strings().next().is_some() {
                        line(name, true, value);
                    }
                }
            }
        }
        Some(RecordText {
            text: String::from_utf8(text).expect("concatenated strings are UTF-8"),
            lines,
        })
    }
}

/// Reads the members of [`KEPT`].
fn kept_of(settings: &Value) -> Result<Map<String, Value>, Error> {
    let mut kept = Map::new();
    for name in KEPT {
        match settings.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(members)) if members.is_empty() => {}
            Some(value @ Value::Object(_)) => {
                kept.insert(name.to_owned(), value.clone());
            }
            Some(_) => return Err(Error::request(format!("/{name}"), "must be an object")),
        }
    }
    Ok(kept)
}

/// The text of a record, and where the values of its columns are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordText {
    pub(crate) text: String,
    /// The column of each line, and the bytes of its value.
    pub(crate) lines: Vec<(Box<str>, Range<usize>)>,
}

/// The value of a column in the text of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextLine {
    /// The column.
    pub column: String,
    /// Where the value begins in the text, in UTF-16 code units.
    pub start: u32,
    /// Where the value ends.
    pub end: u32,
}

impl RecordText {
    /// The values in the text, in order.
    pub(crate) fn lines(&self) -> Vec<TextLine> {
        let units = |range: Range<usize>| self.text[range].encode_utf16().count() as u32;
        let (mut bytes, mut at) = (0, 0);
        let lines = self.lines.iter().map(|(column, value)| {
            let start = at + units(bytes..value.start);
            at = start + units(value.clone());
            bytes = value.end;
            TextLine {
                column: column.to_string(),
                start,
                end: at,
            }
        });
        lines.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            embed: Some(vec!["title".to_owned(), ",\"crc\":1}".to_owned()]),
            passages: PassageSettings::parse(Some(&json!({ "tokens": 99, "overlap": 0 })))
                .expect("in range"),
            model: Some("model".to_owned()),
            fingerprint: Some("4f2a".to_owned()),
            dimensions: 384,
            lexical: Lexical::Columns([("title".to_owned(), 3)].into()),
            flatten: true,
            kept: Arc::new(
                kept_of(&json!({ "defaults": { "limit": 3 }, "formats": {} })).expect("objects"),
            ),
        }
    }

    #[test]
    fn stored_settings_read_to_themselves() {
        let read = Settings::from_stored(Some(settings().to_stored()));
        assert_eq!(read.expect("not damaged"), settings());
    }

    #[test]
    fn every_changed_bit_of_stored_settings_is_found() {
        let stored = settings().to_stored();
        for bit in 0..stored.len() * 8 {
            let mut damaged = stored.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let read = Settings::from_stored(Some(damaged));
            assert!(read.is_err(), "bit {bit}");
        }
        for length in 0..stored.len() {
            let cut = Settings::from_stored(Some(stored[..length].to_vec()));
            assert!(cut.is_err(), "{length} bytes");
        }
        assert!(Settings::from_stored(None).is_err());
    }
}
