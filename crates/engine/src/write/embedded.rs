//! The vectors of texts, as a commit gets them.

use crate::error::Error;
use crate::record::{Passage, ValidationCode, ValidationError, Vectors, text_vector};
use crate::settings::{RecordText, Settings};

/// The vectors of texts, and the model that made them.
#[derive(Debug, Default)]
pub struct Embedded {
    /// The vectors one after the other, `dimensions` values each: one for each text, or one for each passage of a text that
    /// was split.
    pub vectors: Vec<f32>,
    /// The texts that were split, in order. Each has the number of the text, the number of its passages, the number of its
    /// vectors, and three numbers for each vector: the line of the text that most of the passage comes from, and the
    /// range of the line's value in UTF-16 code units. A text with more passages than allowed has no vectors.
    pub splits: Vec<u32>,
    /// The fingerprint of the model; `None` when nothing was embedded.
    pub fingerprint: Option<String>,
}

/// An [`Embedded`] by texts.
pub(crate) struct TextVectors<'a> {
    dimensions: usize,
    max_passages: usize,
    texts: &'a [RecordText],
    vectors: &'a [f32],
    splits: Vec<Split<'a>>,
}

/// A text that was split.
struct Split<'a> {
    text: usize,
    /// Passages of the text.
    passages: usize,
    /// The line, the start and the end of each passage with a vector.
    places: &'a [[u32; 3]],
    /// The number of the first vector.
    first: usize,
}

/// A text with more passages than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooManyPassages {
    passages: usize,
    max: usize,
}

impl TooManyPassages {
    /// The error of the record whose text it is.
    pub(crate) fn problem(self) -> ValidationError {
        let Self { passages, max } = self;
        let detail = format!(
            "the text of the record makes at least {passages} passages, at most {max} are allowed \
             (embed.passages.per_record): raise the setting, embed fewer columns, or split the record"
        );
        ValidationError::new(ValidationCode::TooManyPassages, detail).within("data")
    }

    /// The error of a stored record whose text it is.
    pub(crate) fn error_of(self, id: u64) -> Error {
        let mut problem = self.problem();
        problem.detail = format!("record {id}: {}", problem.detail);
        Error::Invalid {
            code: "invalid_record",
            problems: vec![problem],
        }
    }
}

impl<'a> TextVectors<'a> {
    /// Finds the vectors of each of `texts`.
    ///
    /// # Errors
    /// [`Error::Dimensions`] when there are not as many as the texts need.
    pub(crate) fn of(
        embedded: &'a Embedded,
        texts: &'a [RecordText],
        settings: &Settings,
    ) -> Result<Self, Error> {
        let dimensions = settings.dimensions;
        let got = embedded.vectors.len();
        let (mut splits, mut expected) = (Vec::new(), 0);
        let (mut rest, mut next) = (&embedded.splits[..], 0);
        while let Some((&[text, passages, count], later)) = rest.split_first_chunk() {
            let (text, count) = (text as usize, count as usize);
            let places = later.as_chunks::<3>().0.get(..count);
            let (Some(places), true) = (places, (next..texts.len()).contains(&text)) else {
                return Err(Error::Dimensions { expected: 0, got });
            };
            // The texts before it have one vector each.
            expected += text - next;
            splits.push(Split {
                text,
                passages: passages as usize,
                places,
                first: expected,
            });
            expected += count;
            next = text + 1;
            rest = &later[3 * count..];
        }
        let expected = (expected + texts.len() - next) * dimensions;
        if got != expected {
            return Err(Error::Dimensions { expected, got });
        }
        Ok(Self {
            dimensions,
            max_passages: settings.passages.per_record() as usize,
            texts,
            vectors: &embedded.vectors,
            splits,
        })
    }

    /// The vectors of a text, or why there are too many.
    ///
    /// # Errors
    /// [`Error::Vector`] for a vector that is no unit vector of the model.
    pub(crate) fn get(&self, text: usize) -> Result<Result<Vectors, TooManyPassages>, Error> {
        let before = self.splits.partition_point(|split| split.text < text);
        let split = self.splits.get(before).filter(|split| split.text == text);
        let Some(split) = split else {
            let at = match before.checked_sub(1).map(|at| &self.splits[at]) {
                Some(last) => last.first + last.places.len() + text - last.text - 1,
                None => text,
            };
            return Ok(Ok(Vectors::one(self.vector(at)?)));
        };
        let (passages, max) = (split.passages, self.max_passages);
        if passages > max || split.places.len() != passages {
            return Ok(Err(TooManyPassages { passages, max }));
        }
        let lines = &self.texts[text].lines;
        let mut found = Vec::with_capacity(passages);
        for (at, &[line, start, end]) in split.places.iter().enumerate() {
            let column = lines.get(line as usize).map_or("", |(column, _)| column);
            let place = Passage {
                column: column.into(),
                start,
                end,
            };
            found.push((place, self.vector(split.first + at)?));
        }
        Ok(Ok(Vectors::of_passages(self.dimensions, found.into_iter())))
    }

    fn vector(&self, at: usize) -> Result<Vec<i32>, Error> {
        let vector = &self.vectors[at * self.dimensions..][..self.dimensions];
        Ok(text_vector(vector)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(count: usize) -> Vec<RecordText> {
        let text = |at: usize| RecordText {
            text: format!("text: {at}"),
            lines: vec![("text".into(), 6..7)],
        };
        (0..count).map(text).collect()
    }

    fn settings() -> Settings {
        Settings::parse(r#"{"dimensions":1}"#).expect("settings")
    }

    /// Vectors of one dimension, with alternating signs.
    fn embedded(vectors: usize, splits: &[u32]) -> Embedded {
        let sign = |at: usize| if at.is_multiple_of(2) { 1.0 } else { -1.0 };
        Embedded {
            vectors: (0..vectors).map(sign).collect(),
            splits: splits.to_vec(),
            fingerprint: None,
        }
    }

    #[test]
    fn each_text_gets_its_own_vectors() {
        let texts = texts(5);
        let embedded = embedded(6, &[1, 3, 3, 0, 0, 4, 0, 3, 8, 0, 7, 9, 3, 80, 0]);
        let vectors = TextVectors::of(&embedded, &texts, &settings()).expect("6 vectors");
        let sign = |vectors: &Vectors| vectors.first[0].signum();
        let get = |text| vectors.get(text).expect("unit vectors");
        assert_eq!(get(0).map(|one| sign(&one)), Ok(1));
        let split = get(1).expect("3 passages");
        assert_eq!(sign(&split), -1);
        let passages = split.passages.expect("3 passages");
        let ranges: Vec<_> = passages.places.iter().map(|at| at.start..at.end).collect();
        assert_eq!(ranges, [0..4, 3..8, 7..9]);
        assert!(passages.places.iter().all(|at| &*at.column == "text"));
        assert_eq!(passages.vectors, [1 << 30, -(1 << 30)]);
        assert_eq!(get(2).map(|one| sign(&one)), Ok(1));
        let refused = TooManyPassages {
            passages: 80,
            max: 64,
        };
        assert_eq!(get(3), Err(refused));
        assert_eq!(get(4).map(|one| sign(&one)), Ok(-1));
    }

    #[test]
    fn another_number_of_vectors_is_refused() {
        let texts = texts(3);
        for (vectors, splits) in [
            (2, &[][..]),
            (4, &[]),
            (3, &[1, 2, 2, 0, 0, 1, 0, 1, 2]),
            (4, &[1, 2, 2, 0, 0, 1]),
            (4, &[3, 2, 2, 0, 0, 1, 0, 1, 2]),
            (4, &[1, 2, 1, 0, 0, 1, 1, 1, 1, 0, 0, 1]),
        ] {
            let embedded = embedded(vectors, splits);
            let refused = TextVectors::of(&embedded, &texts, &settings());
            assert!(refused.is_err(), "{vectors} {splits:?}");
        }
    }
}
