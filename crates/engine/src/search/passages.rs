//! The members `passage` and `best_passages` of a result: what matches best of a text that is longer than the window of its model.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::columns::{ColumnId, ColumnNames};
use crate::error::Error;
use crate::filter::RequestReader;
use crate::json::{write_passage, write_string, write_text};
use crate::lexical::{LexicalQuery, TextColumns};
use crate::record::{Passage, Score, Weight};
use crate::snapshot::{Block, Snapshot};

/// The maximum of `passages`, the number of passages that a record may have by default.
const MAX_LISTED: u64 = 64;
/// The maximum of `neighbours`.
const MAX_NEIGHBOURS: u64 = 8;

/// What a search shows of the passages of its results.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassagesRequest {
    /// Whether a result with several passages shows the place of the best one.
    pub(crate) best: bool,
    /// How many of its best passages a result shows with their texts.
    pub(crate) listed: usize,
    /// How many passages before and after are joined with a listed one.
    pub(crate) neighbours: usize,
}

impl PassagesRequest {
    /// Reads the members `passages`, which is a flag or a number, and `neighbours`. Whatever explains its results shows the
    /// best passages, too.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub(crate) fn parse(request: &RequestReader<'_>, explains: bool) -> Result<Self, Error> {
        let within = |name: &str, max: u64| match request.integer(name)? {
            Some(number) if !(1..=max).contains(&number) => {
                let detail = format!("must be between 1 and {max}");
                Err(Error::request(format!("/{name}"), detail))
            }
            number => Ok(number.unwrap_or(0) as usize),
        };
        let is_number = request
            .get("passages")
            .is_some_and(serde_json::Value::is_number);
        let listed = match is_number {
            true => within("passages", MAX_LISTED)?,
            false => 0,
        };
        Ok(Self {
            best: explains || !is_number && request.flag("passages")?,
            listed,
            neighbours: within("neighbours", MAX_NEIGHBOURS)?,
        })
    }

    /// Whether the vectors of the passages are needed.
    pub(crate) fn needs_vectors(&self) -> bool {
        self.best || self.listed > 0
    }
}

/// The best passages of a record that has a vector, by its block and slot: scores and numbers of so many, the best first.
pub(crate) type BestPassages<'a> =
    dyn Fn(&Block, usize, usize) -> Result<Vec<(Score, usize)>, Error> + 'a;

/// The words of a search, with the weights of the meaning and of the words.
pub(crate) struct PassageWords<'a> {
    pub(crate) query: &'a LexicalQuery,
    pub(crate) cosine: Weight,
    pub(crate) weight: Weight,
}

impl PassageWords<'_> {
    /// The score of a passage: as that of a record with this text alone.
    fn score(&self, cosine: Score, text: &str) -> Score {
        self.cosine
            .blend(cosine, self.weight.of(self.query.score_of(text)))
    }
}

/// Writes the passages of results.
pub(crate) struct PassageWriter<'a> {
    /// `None` for a search without words, whose passages have the score of their meaning.
    pub(crate) words: Option<PassageWords<'a>>,
    pub(crate) request: PassagesRequest,
    pub(crate) best: &'a BestPassages<'a>,
    /// The columns whose texts the passages are from.
    pub(crate) embedded: TextColumns,
}

impl PassageWriter<'_> {
    /// Writes the members of a record.
    ///
    /// # Errors
    /// The error of a vector that cannot be read.
    pub(crate) fn write(
        &self,
        snapshot: &Snapshot,
        (block, slot): (&Block, usize),
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let PassagesRequest { best, listed, .. } = self.request;
        let places = block.places(slot);
        if listed == 0 && !(best && places.is_some()) {
            return Ok(());
        }
        let ranked = match block.has_vector(slot) {
            // Words may put any passage first.
            true if listed > 0 && self.words.is_some() => (self.best)(block, slot, usize::MAX)?,
            true => (self.best)(block, slot, listed.max(1))?,
            false => Vec::new(),
        };
        if let (true, Some(places), Some((_, first))) = (best, &places, ranked.first()) {
            out.extend_from_slice(b",\"passage\":");
            write_passage(&places[*first], out);
            out.push(b'}');
        }
        if listed == 0 {
            return Ok(());
        }
        out.extend_from_slice(b",\"best_passages\":[");
        let start = out.len();
        let columns = &block.body.columns;
        let names = &snapshot.names;
        let mut write = |place: &Passage, score: Score, text: &str| {
            if out.len() > start {
                out.push(b',');
            }
            write_passage(place, out);
            out.extend_from_slice(b",\"score\":");
            score.write(out);
            out.extend_from_slice(b",\"text\":");
            write_string(text, out);
            out.push(b'}');
        };
        match places {
            Some(places) => {
                let mut texts = ColumnTexts::default();
                let mut text_of = |place: &Passage| {
                    texts.slice(place, |out| {
                        let column = names.id(&place.column);
                        if let Some(value) = column.and_then(|id| columns.value(slot, id)) {
                            write_text(value, out);
                        }
                    })
                };
                let mut ranked = ranked;
                if let Some(words) = &self.words {
                    for (score, at) in &mut ranked {
                        *score = words.score(*score, &text_of(&places[*at]));
                    }
                    ranked.sort_by_key(|&(score, at)| (Reverse(score), at));
                    ranked.truncate(listed);
                }
                for (score, at) in ranked {
                    let place = self.with_neighbours(&places, at);
                    write(&place, score, &text_of(&place));
                }
            }
            // The whole text is one passage.
            None => {
                if let Some((score, _)) = ranked.first() {
                    let mut texts = Vec::new();
                    self.embedded.each_text(columns, slot, |id, text| {
                        if text.is_empty() {
                            return;
                        }
                        let score = match &self.words {
                            Some(words) => words.score(*score, text),
                            None => *score,
                        };
                        texts.push((score, whole(id, text, names), text.to_owned()));
                    });
                    // Stable: texts of equal scores stay in the order of their columns.
                    texts.sort_by_key(|(score, ..)| Reverse(*score));
                    for (score, place, text) in texts.iter().take(listed) {
                        write(place, *score, text);
                    }
                }
            }
        }
        out.push(b']');
        Ok(())
    }

    /// The place of a passage together with its neighbours in the same column.
    fn with_neighbours(&self, places: &[Passage], at: usize) -> Passage {
        let column = &places[at].column;
        let first = at.saturating_sub(self.request.neighbours);
        let last = (at + self.request.neighbours).min(places.len() - 1);
        let joined = places[first..=last]
            .iter()
            .filter(|place| place.column == *column);
        joined.fold(places[at].clone(), |sum, place| Passage {
            start: sum.start.min(place.start),
            end: sum.end.max(place.end),
            ..sum
        })
    }
}

fn whole(column: ColumnId, text: &str, names: &ColumnNames) -> Passage {
    Passage {
        column: names.name(column).into(),
        start: 0,
        end: text.encode_utf16().count() as u32,
    }
}

/// The texts of the columns of a record, as far as its passages were read.
#[derive(Default)]
struct ColumnTexts(HashMap<Box<str>, UnitText>);

impl ColumnTexts {
    /// The text of a passage. `write` writes the text of its column.
    fn slice(&mut self, place: &Passage, write: impl FnOnce(&mut Vec<u8>)) -> String {
        let column = self.0.entry(place.column.clone()).or_insert_with(|| {
            let mut text = Vec::new();
            write(&mut text);
            UnitText::new(String::from_utf8_lossy(&text).into_owned())
        });
        column.slice(place.start, place.end).to_owned()
    }
}

/// A text that is cut at places in UTF-16 code units.
struct UnitText {
    text: String,
    /// Where the letter that begins at a code unit, or the next letter, begins in bytes.
    bytes: Vec<usize>,
}

impl UnitText {
    fn new(text: String) -> Self {
        let mut bytes = Vec::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            bytes.push(at);
            if letter.len_utf16() == 2 {
                bytes.push(at + letter.len_utf8());
            }
        }
        Self { text, bytes }
    }

    fn slice(&self, start: u32, end: u32) -> &str {
        let byte_of = |place: u32| {
            self.bytes
                .get(place as usize)
                .copied()
                .unwrap_or(self.text.len())
        };
        &self.text[byte_of(start)..byte_of(end.max(start))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_code_units_of_utf_16() {
        let text = "a𝒞é b";
        let cut = UnitText::new(text.to_owned());
        let slice = |_: &str, start, end| cut.slice(start, end).to_owned();
        let units: Vec<u16> = text.encode_utf16().collect();
        for start in 0..=units.len() {
            for end in start..=units.len() {
                let Ok(part) = String::from_utf16(&units[start..end]) else {
                    continue;
                };
                assert_eq!(slice(text, start as u32, end as u32), part);
            }
        }
        assert_eq!(slice(text, 2, 3), "");
        assert_eq!(slice(text, 4, 100), " b");
        assert_eq!(slice(text, 100, 3), "");
    }
}
