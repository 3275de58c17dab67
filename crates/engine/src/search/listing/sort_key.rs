//! The values that a listing is ordered by.

use std::borrow::Cow;
use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::record::{Value, content_hash};

/// Bytes of a value's digest. A record whose value changed keeps its digest with a probability of 2^-64.
pub(crate) const DIGEST_BYTES: usize = 8;

/// Bytes of a text that a [`Rank`] holds.
pub(crate) const RANKED_BYTES: usize = 14;

/// Orders values as [`SortKey::compare`] does. Only texts that begin with the same bytes have the same rank and differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u128);

impl Rank {
    /// From the most significant byte on: the type of the value, 14 bytes, and how many of these the value has. Without
    /// the last, a text would equal itself with zeros after it.
    fn new(kind: u8, bytes: &[u8], descending: bool) -> Self {
        let len = bytes.len().min(RANKED_BYTES);
        let mut rank = [0; 16];
        rank[0] = kind;
        rank[1..=len].copy_from_slice(&bytes[..len]);
        rank[15] = len as u8;
        let rank = u128::from_be_bytes(rank);
        Self(if descending { !rank } else { rank })
    }
}

/// A value that records are ordered by.
#[derive(Clone, Debug)]
pub(crate) enum SortKey<'a> {
    Time(i64),
    Boolean(bool),
    Number(f64),
    Text(Cow<'a, str>),
    Missing,
}

impl<'a> SortKey<'a> {
    fn kind(&self) -> u8 {
        match self {
            Self::Time(_) => 0,
            Self::Boolean(_) => 1,
            Self::Number(_) => 2,
            Self::Text(_) => 3,
            Self::Missing => 4,
        }
    }

    /// The key of a column's value: of a list, that of the element which is the first one in this direction.
    pub(crate) fn of(value: Option<Value<'a>>, descending: bool) -> Self {
        match value {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Boolean(value)) => Self::Boolean(value),
            Some(Value::Number(value)) => Self::Number(value),
            Some(Value::Text(value)) => Self::Text(Cow::Borrowed(value)),
            Some(Value::List(list)) => {
                let keys = list
                    .iter()
                    .map(|element| Self::of(Some(element), descending));
                keys.min_by(|a, b| a.compare(b, descending))
                    .unwrap_or(Self::Missing)
            }
        }
    }

    /// The rank of the value in this direction.
    pub(crate) fn rank(&self, descending: bool) -> Rank {
        match self {
            Self::Time(time) => {
                let bits = (*time as u64) ^ (1 << 63);
                Rank::new(self.kind(), &bits.to_be_bytes(), descending)
            }
            Self::Number(number) => {
                // Positive numbers are ordered like their bits, negative ones the other way round.
                let bits = number.to_bits();
                let bits = bits ^ (((bits as i64 >> 63) as u64) | (1 << 63));
                Rank::new(self.kind(), &bits.to_be_bytes(), descending)
            }
            Self::Boolean(value) => Rank::new(self.kind(), &[u8::from(*value)], descending),
            Self::Text(text) => Rank::new(self.kind(), text.as_bytes(), descending),
            Self::Missing => Rank(u128::MAX),
        }
    }

    /// The rank of what follows the first `depth` bytes of a text; `None` for a shorter text, and for other types. Texts are
    /// compared by it when they have the same first `depth` bytes.
    pub(crate) fn rank_after(&self, depth: usize, descending: bool) -> Option<Rank> {
        let Self::Text(text) = self else { return None };
        let rest = text.as_bytes().get(depth..)?;
        Some(Rank::new(self.kind(), rest, descending))
    }

    /// The order of two values: by type, then by value. Records without a value come last in either direction.
    pub(crate) fn compare(&self, other: &SortKey<'_>, descending: bool) -> Ordering {
        let order = match (self, other) {
            (Self::Missing, SortKey::Missing) => return Ordering::Equal,
            (Self::Missing, _) => return Ordering::Greater,
            (_, SortKey::Missing) => return Ordering::Less,
            (Self::Time(a), SortKey::Time(b)) => a.cmp(b),
            (Self::Boolean(a), SortKey::Boolean(b)) => a.cmp(b),
            (Self::Number(a), SortKey::Number(b)) => a.total_cmp(b),
            (Self::Text(a), SortKey::Text(b)) => a.cmp(b),
            (a, b) => a.kind().cmp(&b.kind()),
        };
        if descending { order.reverse() } else { order }
    }

    /// Appends the value as a cursor holds it: a letter for the type, then the value.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Time(ms) => out.extend_from_slice(format!("t{ms}").as_bytes()),
            Self::Boolean(value) => out.extend_from_slice(if *value { b"b1" } else { b"b0" }),
            // Hexadecimal bits: the exact number, without a character that the cursor's shape uses.
            Self::Number(value) => {
                out.extend_from_slice(format!("n{:x}", value.to_bits()).as_bytes())
            }
            Self::Text(text) => {
                out.push(b's');
                out.extend_from_slice(URL_SAFE_NO_PAD.encode(&**text).as_bytes());
            }
            Self::Missing => out.push(b'm'),
        }
    }

    pub(crate) fn into_owned(self) -> SortKey<'static> {
        match self {
            Self::Time(time) => SortKey::Time(time),
            Self::Boolean(value) => SortKey::Boolean(value),
            Self::Number(value) => SortKey::Number(value),
            Self::Text(text) => SortKey::Text(Cow::Owned(text.into_owned())),
            Self::Missing => SortKey::Missing,
        }
    }

    /// The start of a hash of the value.
    pub(crate) fn digest(&self) -> [u8; DIGEST_BYTES] {
        let mut written = Vec::new();
        let value = match self {
            Self::Text(text) => text.as_bytes(),
            other => {
                other.write(&mut written);
                &written
            }
        };
        let hash = content_hash(&[&[self.kind()], value]);
        std::array::from_fn(|at| hash[at])
    }
}

impl SortKey<'static> {
    /// Reads what [`SortKey::write`] wrote.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let kind = text.chars().next()?;
        let rest = &text[kind.len_utf8()..];
        match kind {
            't' => rest.parse().ok().map(Self::Time),
            'b' => matches!(rest, "0" | "1").then(|| Self::Boolean(rest == "1")),
            'n' => u64::from_str_radix(rest, 16)
                .ok()
                .map(f64::from_bits)
                .filter(|number| !number.is_nan())
                .map(Self::Number),
            's' => String::from_utf8(URL_SAFE_NO_PAD.decode(rest).ok()?)
                .ok()
                .map(|text| Self::Text(Cow::Owned(text))),
            'm' => rest.is_empty().then_some(Self::Missing),
            _ => None,
        }
    }
}
