//! The encoding of integers in a file.

use crate::columns::encoding::{Damaged, Decoder, put_values};
use crate::columns::integers::five_bytes::FiveBytes;
use crate::columns::integers::{Deltas, Integers};

impl Integers {
    /// Appends the encoding: base, width, deltas. The number of integers is not part of it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.base.to_le_bytes());
        match &self.deltas {
            Deltas::Zero => out.push(0),
            Deltas::U8(deltas) => {
                out.push(1);
                out.extend_from_slice(deltas);
            }
            Deltas::U16(deltas) => {
                out.push(2);
                put_values(deltas, u16::to_le_bytes, out);
            }
            Deltas::U32(deltas) => {
                out.push(4);
                put_values(deltas, u32::to_le_bytes, out);
            }
            Deltas::U40(deltas) => {
                out.push(5);
                deltas.write(out);
            }
            Deltas::U64(deltas) => {
                out.push(8);
                put_values(deltas, u64::to_le_bytes, out);
            }
        }
    }

    /// Decodes `len` integers, whose encoding must fill `bytes`.
    ///
    /// # Errors
    /// [`Damaged`] if the encoding is not valid.
    pub(crate) fn read(bytes: &[u8], len: usize) -> Result<Self, Damaged> {
        let mut decoder = Decoder::new(bytes);
        let integers = Self::read_from(&mut decoder, len)?;
        if decoder.is_at_end() {
            Ok(integers)
        } else {
            Err(Damaged("bytes after integers"))
        }
    }

    pub(crate) fn read_from(decoder: &mut Decoder<'_>, len: usize) -> Result<Self, Damaged> {
        let base = decoder.array().map(i64::from_le_bytes)?;
        let deltas = match decoder.u8()? {
            0 => Deltas::Zero,
            1 => Deltas::U8(decoder.bytes(len)?.into()),
            2 => Deltas::U16(decoder.values(len, u16::from_le_bytes)?),
            4 => Deltas::U32(decoder.values(len, u32::from_le_bytes)?),
            5 => Deltas::U40(FiveBytes::read(decoder, len)?),
            8 => Deltas::U64(decoder.values(len, u64::from_le_bytes)?),
            _ => {
                return Err(Damaged("width of integers"));
            }
        };
        let span = match &deltas {
            Deltas::Zero => 0,
            Deltas::U8(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U16(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U32(deltas) => deltas.iter().copied().max().unwrap_or(0).into(),
            Deltas::U40(deltas) => deltas.iter().max().unwrap_or(0),
            Deltas::U64(deltas) => deltas.iter().copied().max().unwrap_or(0),
        };
        if i128::from(base) + i128::from(span) > i128::from(i64::MAX) {
            return Err(Damaged("range of integers"));
        }
        Ok(Self {
            base,
            span,
            len,
            deltas,
        })
    }
}
