//! Cursors of listings.
//!
//! A cursor holds the position at which its page ended. A text longer than [`MAX_TEXT`] is too long for a cursor: then
//! the cursor names the last record of the page and the records that followed, each with a digest of its value.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::error::Error;
use crate::record::{IdKey, PageStart, Ranked, RecordRow, Score, Variant, cursor};
use crate::runtime::Stopped;
use crate::search::listing::position::ListingPosition;
use crate::search::listing::sort::{BoundSort, MAX_FOLLOWING};
use crate::search::listing::sort_key::{DIGEST_BYTES, SortKey};
use crate::search::page::PagePosition;
use crate::snapshot::{Block, Published, Snapshot};

/// The longest text, in bytes of UTF-8, that is written into a cursor.
const MAX_TEXT: usize = 1024;

pub(crate) const LOST_CURSOR: &str = "the record that the cursor names and those that followed it are changed or gone: begin with the first page again";

/// Where the page before ended, as the cursor holds it.
#[derive(Clone, Debug)]
pub(crate) enum Cursor {
    /// The last position of the page.
    Position { key: SortKey<'static>, id: IdKey },
    /// The last record of the page, which has a long text, and the records that followed.
    Records(Vec<NamedRecord>),
}

/// A record and the digest of the value that it was ordered by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedRecord {
    id: IdKey,
    digest: [u8; DIGEST_BYTES],
}

impl Cursor {
    /// Reads a cursor that [`PagePosition::cursor`] wrote.
    pub(crate) fn parse(variant: Variant, text: &str) -> Option<Self> {
        let (key, id) = text.rsplit_once(cursor::separator(variant))?;
        let id = cursor::parse_id(variant, id)?;
        let Some(records) = key.strip_prefix('l') else {
            let key = SortKey::parse(key)?;
            return Some(Self::Position { key, id });
        };
        let bytes = URL_SAFE_NO_PAD.decode(records).ok()?;
        let (digest, following) = bytes.split_first_chunk::<DIGEST_BYTES>()?;
        let mut records = vec![NamedRecord {
            id,
            digest: *digest,
        }];
        let (named, []) = following.as_chunks::<{ 16 + DIGEST_BYTES }>() else {
            return None;
        };
        if named.len() > MAX_FOLLOWING {
            return None;
        }
        for named in named {
            let (id, digest) = named.split_first_chunk::<16>()?;
            records.push(NamedRecord {
                id: IdKey(u128::from_be_bytes(*id)),
                digest: digest.try_into().ok()?,
            });
        }
        Some(Self::Records(records))
    }

    /// The identities of the records that the cursor names; none for a cursor that holds a position.
    pub(crate) fn named_ids(&self) -> Vec<IdKey> {
        match self {
            Self::Position { .. } => Vec::new(),
            Self::Records(named) => named.iter().map(|named| named.id).collect(),
        }
    }

    /// The rows of the records that the cursor names; `None` for a record that was deleted.
    pub(crate) fn rows(&self, published: &Published, variant: Variant) -> Vec<Option<RecordRow>> {
        let Published { snapshot, index } = published;
        match self {
            Self::Position { .. } => Vec::new(),
            Self::Records(named) => named
                .iter()
                .map(|named| index.find(snapshot, variant, named.id))
                .collect(),
        }
    }

    /// Where the next page begins; `None` when all records that the cursor names were changed or deleted.
    ///
    /// `rows` are those of [`Self::rows`]. A record that is not `visible` counts as deleted: otherwise a caller could
    /// make cursors of its own, and learn the values of records that are hidden from it.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn find(
        &self,
        snapshot: &Snapshot,
        rows: &[Option<RecordRow>],
        sort: &BoundSort<'_>,
        visible: impl Fn((&Block, usize)) -> Result<bool, Stopped>,
    ) -> Result<Option<PageStart<ListingPosition<'static>>>, Stopped> {
        let named = match self {
            Self::Position { key, id } => {
                return Ok(Some(PageStart::after(sort.position_of(key.clone(), *id))));
            }
            Self::Records(named) => named,
        };
        for (at, (named, row)) in named.iter().zip(rows).enumerate() {
            let Some(row) = row else { continue };
            let (block, slot) = snapshot.at(*row);
            if !visible((block, slot))? {
                continue;
            }
            let key = sort.keys(block).at(slot);
            if key.digest() == named.digest {
                let position = sort.position_of(key.into_owned(), named.id);
                // The first record is the last one of the page before.
                return Ok(Some(if at == 0 {
                    PageStart::after(position)
                } else {
                    PageStart::at(position)
                }));
            }
        }
        Ok(None)
    }
}

impl PagePosition for ListingPosition<'_> {
    const PLANS: [&'static str; 2] = ["filter", "all records"];
    const IS_SCORED: bool = false;

    fn score(&self) -> Option<Score> {
        None
    }

    fn cursor(&self, variant: Variant, following: &[Ranked<Self>]) -> Vec<u8> {
        let mut out = Vec::new();
        match &self.key {
            SortKey::Text(text) if text.len() > MAX_TEXT => {
                let mut records = self.key.digest().to_vec();
                for Ranked { position, .. } in following.iter().take(MAX_FOLLOWING) {
                    records.extend_from_slice(&position.id.0.to_be_bytes());
                    records.extend_from_slice(&position.key.digest());
                }
                out.push(b'l');
                out.extend_from_slice(URL_SAFE_NO_PAD.encode(records).as_bytes());
            }
            key => key.write(&mut out),
        }
        out.push(cursor::separator(variant) as u8);
        cursor::write_id(variant, self.id, &mut out);
        out
    }
}

/// The error of a cursor.
pub(crate) fn invalid_cursor(detail: &str) -> Error {
    Error::invalid("invalid_cursor", "/pagination/cursor", detail)
}
