//! The order of a listing, and places in it.

use std::borrow::Cow;
use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::columns::ColumnId;
use crate::error::Error;
use crate::filter::RequestReader;
use crate::record::{IdKey, RecordRow, Value, Variant, content_hash, cursor};
use crate::runtime::Stopped;
use crate::snapshot::{Block, Published, Snapshot};

/// A longer text is not written into a cursor: its digest is, with the records that followed.
const MAX_TEXT: usize = 1024;

/// Records that followed which a cursor names. Its place is known as long as one of them, or the record before them,
/// is there unchanged.
const FOLLOWING: usize = 32;

/// Bytes of a value's digest: that another value has the same has a probability of 2^-64.
const DIGEST: usize = 8;

/// What orders the records; ties by identity, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Sort {
    pub(crate) by: SortBy,
    descending: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum SortBy {
    Created,
    Changed,
    Synced,
    Column(String),
}

/// A value that records are ordered by. Records without one come last in either direction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SortKey<'a> {
    Time(i64),
    Boolean(bool),
    Number(f64),
    Text(Cow<'a, str>),
    Missing,
}

/// A place in the order.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) key: SortKey<'a>,
    pub(crate) id: IdKey,
}

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    place: Place<'static>,
    /// Whether the page begins with this place itself.
    inclusive: bool,
}

/// Where the page before ended, as the cursor tells it.
#[derive(Clone, Debug)]
pub(crate) enum Cursor {
    Place(Place<'static>),
    /// The record with a long text that the page ended with, and those that followed.
    Records(Vec<Named>),
}

/// A record and the digest of the value that it was ordered by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    id: IdKey,
    digest: [u8; DIGEST],
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

    fn of(value: Option<Value<'a>>) -> Self {
        match value {
            None | Some(Value::Null) => Self::Missing,
            Some(Value::Boolean(value)) => Self::Boolean(value),
            Some(Value::Number(value)) => Self::Number(value),
            Some(Value::Text(value)) => Self::Text(Cow::Borrowed(value)),
        }
    }

    fn compare(&self, other: &SortKey<'_>, descending: bool) -> Ordering {
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

    /// As a cursor holds it: a letter for the kind, then the value.
    fn write(&self, out: &mut Vec<u8>) {
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

    fn into_owned(self) -> SortKey<'static> {
        match self {
            Self::Time(time) => SortKey::Time(time),
            Self::Boolean(value) => SortKey::Boolean(value),
            Self::Number(value) => SortKey::Number(value),
            Self::Text(text) => SortKey::Text(Cow::Owned(text.into_owned())),
            Self::Missing => SortKey::Missing,
        }
    }

    fn digest(&self) -> [u8; DIGEST] {
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
    fn parse(text: &str) -> Option<Self> {
        let kind = text.chars().next()?;
        let rest = &text[kind.len_utf8()..];
        match kind {
            't' => rest.parse().ok().map(Self::Time),
            'b' => matches!(rest, "0" | "1").then(|| Self::Boolean(rest == "1")),
            'n' => u64::from_str_radix(rest, 16)
                .ok()
                .map(|bits| Self::Number(f64::from_bits(bits))),
            's' => String::from_utf8(URL_SAFE_NO_PAD.decode(rest).ok()?)
                .ok()
                .map(|text| Self::Text(Cow::Owned(text))),
            'm' => rest.is_empty().then_some(Self::Missing),
            _ => None,
        }
    }
}

impl Sort {
    pub(crate) fn parse(request: &RequestReader) -> Result<Self, Error> {
        let Some(sort) = request.get("sort") else {
            return Ok(Self {
                by: SortBy::Synced,
                descending: true,
            });
        };
        let member = |name: &str| sort.get(name).and_then(|value| value.as_str());
        let by = match (member("column"), member("time")) {
            (Some(column), None) => SortBy::Column(column.to_owned()),
            (None, Some("created_at" | "first_seen_time")) => SortBy::Created,
            (None, Some("changed_at" | "last_changed_time")) => SortBy::Changed,
            (None, Some("synced_at" | "last_seen_time")) => SortBy::Synced,
            _ => {
                return Err(Error::invalid(
                    "invalid_request",
                    "/sort",
                    "give either column or time",
                ));
            }
        };
        let descending = match member("direction") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => {
                let detail = "must be \"asc\" or \"desc\"";
                return Err(Error::invalid("invalid_request", "/sort/direction", detail));
            }
        };
        Ok(Self { by, descending })
    }

    pub(crate) fn rank(&self, a: &Place<'_>, b: &Place<'_>) -> Ordering {
        a.key.compare(&b.key, self.descending).then(a.id.cmp(&b.id))
    }

    pub(crate) fn key<'a>(
        &self,
        block: &'a Block,
        slot: usize,
        column: Option<ColumnId>,
    ) -> SortKey<'a> {
        match &self.by {
            SortBy::Created => SortKey::Time(block.body.created.get(slot)),
            SortBy::Changed => SortKey::Time(block.body.changed.get(slot)),
            SortBy::Synced => SortKey::Time(block.synced.get(slot)),
            SortBy::Column(_) => {
                SortKey::of(column.and_then(|column| block.body.columns.value(slot, column)))
            }
        }
    }

    /// Places beyond the page that its cursor may have to name.
    pub(crate) fn places_beyond(&self) -> usize {
        match self.by {
            SortBy::Column(_) => FOLLOWING,
            _ => 0,
        }
    }
}

impl Start {
    /// Whether a place is on this page or a later one.
    pub(crate) fn admits(&self, sort: &Sort, place: &Place<'_>) -> bool {
        match sort.rank(place, &self.place) {
            Ordering::Less => false,
            Ordering::Equal => self.inclusive,
            Ordering::Greater => true,
        }
    }
}

impl Cursor {
    /// Reads a cursor that [`write_cursor`] wrote.
    pub(crate) fn parse(variant: Variant, text: &str) -> Option<Self> {
        let (key, id) = text.rsplit_once(cursor::separator(variant))?;
        let id = cursor::parse_id(variant, id)?;
        let Some(records) = key.strip_prefix('l') else {
            let key = SortKey::parse(key)?;
            return Some(Self::Place(Place { key, id }));
        };
        let bytes = URL_SAFE_NO_PAD.decode(records).ok()?;
        let (digest, following) = bytes.split_first_chunk::<DIGEST>()?;
        let mut records = vec![Named {
            id,
            digest: *digest,
        }];
        let (named, []) = following.as_chunks::<{ 16 + DIGEST }>() else {
            return None;
        };
        if named.len() > FOLLOWING {
            return None;
        }
        for named in named {
            let (id, digest) = named.split_first_chunk::<16>()?;
            records.push(Named {
                id: IdKey(u128::from_be_bytes(*id)),
                digest: digest.try_into().ok()?,
            });
        }
        Some(Self::Records(records))
    }

    /// The rows of the records that the cursor names; `None` for one that is gone.
    pub(crate) fn rows(&self, published: &Published, variant: Variant) -> Vec<Option<RecordRow>> {
        let Published { snapshot, index } = published;
        match self {
            Self::Place(_) => Vec::new(),
            Self::Records(named) => named
                .iter()
                .map(|named| index.find(snapshot, variant, named.id))
                .collect(),
        }
    }

    /// Where the next page begins; `None` when all records that the cursor names are changed or gone.
    ///
    /// `rows` are those of [`Self::rows`]. A record that is not `visible` counts as gone: a caller makes cursors of its
    /// own, and would learn the values of records that are hidden from it.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        rows: &[Option<RecordRow>],
        sort: &Sort,
        visible: impl Fn((&Block, usize)) -> Result<bool, Stopped>,
    ) -> Result<Option<Start>, Stopped> {
        let named = match self {
            Self::Place(place) => {
                return Ok(Some(Start {
                    place: place.clone(),
                    inclusive: false,
                }));
            }
            Self::Records(named) => named,
        };
        let column = match &sort.by {
            SortBy::Column(name) => snapshot.names.id(name),
            _ => None,
        };
        for (at, (named, row)) in named.iter().zip(rows).enumerate() {
            let Some(row) = row else { continue };
            let (block, slot) = snapshot.at(*row);
            if !visible((block, slot))? {
                continue;
            }
            let key = sort.key(block, slot, column);
            if key.digest() == named.digest {
                return Ok(Some(Start {
                    place: Place {
                        key: key.into_owned(),
                        id: named.id,
                    },
                    inclusive: at > 0,
                }));
            }
        }
        Ok(None)
    }
}

/// The cursor of the page that ended with `last`, before `following`.
pub(crate) fn write_cursor<'a>(
    variant: Variant,
    last: &Place<'_>,
    following: impl Iterator<Item = &'a Place<'a>>,
) -> Vec<u8> {
    let mut out = Vec::new();
    match &last.key {
        SortKey::Text(text) if text.len() > MAX_TEXT => {
            let mut records = last.key.digest().to_vec();
            for place in following.take(FOLLOWING) {
                records.extend_from_slice(&place.id.0.to_be_bytes());
                records.extend_from_slice(&place.key.digest());
            }
            out.push(b'l');
            out.extend_from_slice(URL_SAFE_NO_PAD.encode(records).as_bytes());
        }
        key => key.write(&mut out),
    }
    out.push(cursor::separator(variant) as u8);
    cursor::write_id(variant, last.id, &mut out);
    out
}
