//! Sets of rows of a column that take no memory when they are empty or full.

use crate::columns::encoding::{Damaged, Decoder, put_values};
use crate::columns::mask::Mask;

/// A set of rows; most sets hold no row or all rows.
#[derive(Clone, Debug)]
pub(crate) enum RowSet {
    None,
    All,
    Some(Box<[u64]>),
}

impl RowSet {
    pub(crate) fn build(mask: &Mask, len: usize) -> Self {
        match mask.count() {
            0 => Self::None,
            count if count == len => Self::All,
            _ => Self::Some(mask.0[..len.div_ceil(64)].into()),
        }
    }

    pub(crate) fn get(&self, row: usize) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Some(words) => words[row / 64] >> (row % 64) & 1 == 1,
        }
    }

    /// The number of rows in the set; there are `rows` in all.
    pub(crate) fn count(&self, rows: usize) -> u32 {
        match self {
            Self::None => 0,
            Self::All => rows as u32,
            Self::Some(words) => words.iter().map(|word| word.count_ones()).sum(),
        }
    }

    /// The rows of `mask` that are in this set.
    pub(crate) fn within(&self, mask: &Mask) -> Mask {
        match self {
            Self::None => Mask::empty(),
            Self::All => mask.clone(),
            Self::Some(words) => {
                let mut out = Mask::empty();
                for ((out, word), mask) in out.0.iter_mut().zip(words).zip(&mask.0) {
                    *out = word & mask;
                }
                out
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::None | Self::All => 0,
            Self::Some(words) => size_of_val::<[u64]>(words),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(0),
            Self::All => out.push(1),
            Self::Some(words) => {
                out.push(2);
                put_values(words, u64::to_le_bytes, out);
            }
        }
    }

    pub(crate) fn read(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        match decoder.u8()? {
            0 => Ok(Self::None),
            1 => Ok(Self::All),
            2 => {
                let words = decoder.values(len.div_ceil(64), u64::from_le_bytes)?;
                let full = Mask::full(len);
                if words
                    .iter()
                    .zip(&full.0)
                    .any(|(word, full)| word & !full != 0)
                {
                    return Err(Damaged("bits beyond the last row"));
                }
                Ok(Self::Some(words))
            }
            _ => Err(Damaged("bits")),
        }
    }
}
