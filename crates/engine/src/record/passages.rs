//! The passages of a text that is longer than the window of its model, and their vectors.

use crate::record::unit_vector::direction_of;

/// The place of a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The column that most of the passage comes from.
    pub(crate) column: Box<str>,
    /// The first character in the value of the column. Characters are UTF-16 code units.
    pub(crate) start: u32,
    /// The character after the last one.
    pub(crate) end: u32,
}

/// The passages of a record that has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passages {
    /// All passages, in the order of the text.
    pub(crate) places: Vec<Passage>,
    /// The vectors of the passages after the first, one after the other, in Q30. The first passage has the vector of the
    /// record.
    pub(crate) vectors: Vec<i32>,
}

/// The vectors of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vectors {
    /// The vector of the text or of its first passage, in Q30. All 0 for a record without a vector.
    pub(crate) first: Vec<i32>,
    /// The passages, if the text has several.
    pub(crate) passages: Option<Box<Passages>>,
}

impl Vectors {
    /// The vectors of a record with one vector.
    pub(crate) fn one(vector: Vec<i32>) -> Self {
        Self {
            first: vector,
            passages: None,
        }
    }

    /// The vectors of a record without a vector.
    pub(crate) fn none(dimensions: usize) -> Self {
        Self::one(vec![0; dimensions])
    }

    /// The vectors of the passages at `places`. Passages without a token, whose vectors are all 0, are left out.
    pub(crate) fn of_passages(
        dimensions: usize,
        passages: impl Iterator<Item = (Passage, Vec<i32>)>,
    ) -> Self {
        let mut first: Option<Vec<i32>> = None;
        let (mut places, mut vectors) = (Vec::new(), Vec::new());
        for (place, vector) in passages {
            if vector.iter().all(|&component| component == 0) {
                continue;
            }
            places.push(place);
            match &first {
                None => first = Some(vector),
                Some(_) => vectors.extend_from_slice(&vector),
            }
        }
        let has_several = places.len() > 1;
        Self {
            first: first.unwrap_or_else(|| vec![0; dimensions]),
            passages: has_several.then(|| Box::new(Passages { places, vectors })),
        }
    }

    /// The vectors of a record from the parts that the store has: all vectors, one after the other, and the bytes of
    /// [`Passages::places_to_bytes`] of a record with several. `None` when they do not fit each other.
    pub(crate) fn from_parts(vectors: &[i32], places: Option<&[u8]>) -> Option<Self> {
        let Some(mut bytes) = places else {
            return Some(Self::one(vectors.to_vec()));
        };
        let places =
            take_places(&mut bytes).filter(|places| bytes.is_empty() && places.len() > 1)?;
        let dimensions = vectors.len() / places.len();
        if dimensions * places.len() != vectors.len() {
            return None;
        }
        let (first, later) = vectors.split_at(dimensions);
        let vectors = later.to_vec();
        Some(Self {
            first: first.to_vec(),
            passages: Some(Box::new(Passages { places, vectors })),
        })
    }

    /// All vectors, one after the other, as [`Vectors::from_parts`] takes them.
    pub(crate) fn joined(&self) -> Vec<i32> {
        self.all().collect::<Vec<_>>().concat()
    }

    /// All vectors, in the order of the text.
    pub(crate) fn all(&self) -> impl Iterator<Item = &[i32]> {
        (0..).map_while(|passage| self.get(passage))
    }

    /// The direction of the record: that of its vector, or of the mean of the vectors of its passages; `None` if there is
    /// none.
    pub(crate) fn direction(&self) -> Option<Vec<i32>> {
        direction_of(self.all().map(|vector| (1, vector)), self.first.len()).ok()
    }

    /// The vector of a passage, by its number.
    pub(crate) fn get(&self, passage: usize) -> Option<&[i32]> {
        let Some(later) = passage.checked_sub(1) else {
            return Some(&self.first);
        };
        let dimensions = self.first.len();
        let vectors = &self.passages.as_ref()?.vectors;
        vectors.get(later * dimensions..(later + 1) * dimensions)
    }
}

impl Passages {
    /// The places as the store has them: their number, then start, end, length of the column name and the name of each.
    /// Numbers are little-endian, four bytes each.
    pub(crate) fn places_to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32 * self.places.len() + 4);
        let number = |number: u32, out: &mut Vec<u8>| out.extend_from_slice(&number.to_le_bytes());
        number(self.places.len() as u32, &mut out);
        for place in &self.places {
            number(place.start, &mut out);
            number(place.end, &mut out);
            number(place.column.len() as u32, &mut out);
            out.extend_from_slice(place.column.as_bytes());
        }
        out
    }

    /// The bytes of [`Passages::places_to_bytes`], then the components of the vectors.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.places_to_bytes();
        out.reserve(4 * self.vectors.len());
        for component in &self.vectors {
            out.extend_from_slice(&component.to_le_bytes());
        }
        out
    }

    /// Reads the bytes of [`Passages::to_bytes`]; `None` when they are not those of passages with vectors of `dimensions`.
    pub(crate) fn from_bytes(bytes: &[u8], dimensions: usize) -> Option<Self> {
        let mut rest = bytes;
        let places = take_places(&mut rest)?;
        let (components, []) = rest.as_chunks::<4>() else {
            return None;
        };
        let fits = places.len() > 1 && components.len() == (places.len() - 1) * dimensions;
        let vectors = components.iter().map(|bytes| i32::from_le_bytes(*bytes));
        fits.then(|| Self {
            places,
            vectors: vectors.collect(),
        })
    }
}

/// The number of passages that the bytes of [`Passages::places_to_bytes`] begin with; 0 for none.
pub(crate) fn passage_count(mut places: &[u8]) -> usize {
    take_number(&mut places).unwrap_or(0) as usize
}

/// Takes places off the start of `rest`.
fn take_places(rest: &mut &[u8]) -> Option<Vec<Passage>> {
    let count = take_number(rest)? as usize;
    let mut places = Vec::new();
    for _ in 0..count {
        let (start, end) = (take_number(rest)?, take_number(rest)?);
        let length = take_number(rest)? as usize;
        let (name, later) = rest.split_at_checked(length)?;
        *rest = later;
        places.push(Passage {
            column: std::str::from_utf8(name).ok()?.into(),
            start,
            end,
        });
    }
    Some(places)
}

/// Takes a number off the start of `rest`.
pub(crate) fn take_number(rest: &mut &[u8]) -> Option<u32> {
    let (bytes, later) = rest.split_first_chunk::<4>()?;
    *rest = later;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passages() -> Passages {
        let place = |column: &str, start| Passage {
            column: column.into(),
            start,
            end: start + 100,
        };
        Passages {
            places: vec![place("title", 0), place("text ✓", 0), place("text ✓", 90)],
            vectors: vec![1, -2, i32::MAX, i32::MIN],
        }
    }

    #[test]
    fn bytes_give_the_same_passages() {
        let bytes = passages().to_bytes();
        assert_eq!(Passages::from_bytes(&bytes, 2), Some(passages()));
    }

    #[test]
    fn bytes_that_were_cut_or_have_another_number_of_components_are_refused() {
        let bytes = passages().to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Passages::from_bytes(&bytes[..length], 2), None, "{length}");
        }
        assert_eq!(Passages::from_bytes(&bytes, 4), None);
    }

    #[test]
    fn passages_without_a_token_are_left_out() {
        let place = || Passage {
            column: "text".into(),
            start: 0,
            end: 1,
        };
        let of = |vectors: &[[i32; 2]]| {
            let passages = vectors.iter().map(|vector| (place(), vector.to_vec()));
            Vectors::of_passages(2, passages)
        };
        assert_eq!(of(&[[0, 0], [0, 0]]), Vectors::none(2));
        assert_eq!(of(&[[0, 0], [1, 0]]), Vectors::one(vec![1, 0]));
        let several = of(&[[0, 0], [1, 0], [0, 0], [0, 1]]);
        assert_eq!(several.get(0), Some(&[1, 0][..]));
        assert_eq!(several.get(1), Some(&[0, 1][..]));
        assert_eq!(several.get(2), None);
    }
}
