//! The setting `embed.passages`.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::Error;

/// How long texts are split into passages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassageSettings {
    per_record: Option<u32>,
    /// Tokens of a passage at most. `None`: half of the window of the model, and only texts beyond the window are split.
    pub tokens: Option<u32>,
    /// Tokens that a passage repeats of the one before it, at most. `None`: an eighth of a passage.
    pub overlap: Option<u32>,
}

/// Passages that a record may have at most, whatever the settings are.
pub(crate) const MAX_PASSAGES: u32 = 4_096;

const PER_RECORD: u32 = 64;

impl PassageSettings {
    /// Passages that a record may have.
    #[must_use]
    pub fn per_record(&self) -> u32 {
        self.per_record.unwrap_or(PER_RECORD)
    }

    /// Whether a text has the same passages with `other`, if it may have so many.
    pub(super) fn split_as(&self, other: &Self) -> bool {
        (self.tokens, self.overlap) == (other.tokens, other.overlap)
    }

    pub(super) fn parse(value: Option<&Value>) -> Result<Self, Error> {
        let member = |name: &str, range: RangeInclusive<u64>| match value
            .and_then(|value| value.get(name))
        {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_u64().filter(|number| range.contains(number)) {
                Some(number) => Ok(Some(number as u32)),
                None => {
                    let detail = format!(
                        "must be an integer from {} to {}",
                        range.start(),
                        range.end()
                    );
                    Err(Error::request(format!("/embed/passages/{name}"), detail))
                }
            },
        };
        Ok(Self {
            per_record: member("per_record", 1..=MAX_PASSAGES.into())?,
            tokens: member("tokens", 16..=65_536)?,
            overlap: member("overlap", 0..=32_768)?,
        })
    }

    /// The members that are set; `None` if there are none.
    pub(super) fn to_json(self) -> Option<Value> {
        let members = [
            ("overlap", self.overlap),
            ("per_record", self.per_record),
            ("tokens", self.tokens),
        ];
        let set = members
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
        let set: Map<String, Value> = set.collect();
        (!set.is_empty()).then_some(Value::Object(set))
    }
}
