//! The order of a listing, as a request asks for it.

use serde_json::{Value, json};

use crate::columns::{Column, ColumnId, ColumnNames, Integers};
use crate::error::Error;
use crate::filter::RequestReader;
use crate::record::{IdKey, RecordTime, Variant};
use crate::search::listing::position::ListingPosition;
use crate::search::listing::sort_key::SortKey;
use crate::snapshot::Block;

/// Records that a cursor names at most after the last record of its page. Its position can be found as long as one of
/// them, or the last record of the page, exists unchanged.
pub(crate) const MAX_FOLLOWING: usize = 32;

/// The value that orders the records, and its direction. Ties are ordered by identity, ascending.
#[derive(Clone, Debug)]
pub(crate) struct Sort {
    by: SortBy,
    descending: bool,
}

#[derive(Clone, Debug)]
enum SortBy {
    Time(RecordTime),
    Column(String),
}

/// A [`Sort`] bound to the columns of a snapshot.
pub(crate) struct BoundSort<'a> {
    sort: &'a Sort,
    /// `None` for a time, and for a column that no record ever had.
    column: Option<ColumnId>,
}

/// The values that the records of a block are ordered by.
pub(crate) enum BlockKeys<'b> {
    Times(&'b Integers),
    /// `None` for a column that no record of the block has; whether the order is descending.
    Column(Option<&'b Column>, bool),
}

impl Sort {
    /// Reads the request member `sort`. Without it, records are ordered by the time of the last sync, newest first.
    ///
    /// # Errors
    /// [`Error::Invalid`] with a pointer.
    pub(crate) fn parse(request: &RequestReader<'_>) -> Result<Self, Error> {
        let Some(sort) = request.get("sort") else {
            return Ok(Self {
                by: SortBy::Time(RecordTime::Synced),
                descending: true,
            });
        };
        let member = |name: &str| sort.get(name).and_then(|value| value.as_str());
        let time = member("time").and_then(RecordTime::from_name);
        let by = match (member("column"), time) {
            (Some(column), None) => SortBy::Column(column.to_owned()),
            (None, Some(time)) => SortBy::Time(time),
            _ => {
                return Err(Error::request("/sort", "give either column or time"));
            }
        };
        let descending = match member("direction") {
            None | Some("asc") => false,
            Some("desc") => true,
            Some(_) => {
                let detail = "must be \"asc\" or \"desc\"";
                return Err(Error::request("/sort/direction", detail));
            }
        };
        Ok(Self { by, descending })
    }

    /// The order as a store outside of the engine reads it: `by` is a time, or `column` with its name.
    pub(crate) fn plan(&self) -> Value {
        let by = match &self.by {
            SortBy::Time(time) => time.name(),
            SortBy::Column(_) => "column",
        };
        json!({ "by": by, "column": self.column(), "descending": self.descending })
    }

    /// The column of the order, unless it is by a time.
    pub(crate) fn column(&self) -> Option<&str> {
        match &self.by {
            SortBy::Time(_) => None,
            SortBy::Column(name) => Some(name),
        }
    }

    /// Binds the order to the columns of a snapshot.
    pub(crate) fn bind(&self, names: &ColumnNames) -> BoundSort<'_> {
        let column = self.column().and_then(|name| names.id(name));
        BoundSort { sort: self, column }
    }

    /// Records after a page that its cursor may have to name.
    pub(crate) fn records_after_page(&self) -> usize {
        match self.by {
            SortBy::Column(_) => MAX_FOLLOWING,
            _ => 0,
        }
    }
}

impl BoundSort<'_> {
    /// The position of a record.
    pub(crate) fn position<'b>(
        &self,
        block: &'b Block,
        slot: usize,
        variant: Variant,
    ) -> ListingPosition<'b> {
        let id = IdKey::new(variant, block.id(slot), block.uuid(slot));
        self.position_of(self.keys(block).at(slot), id)
    }

    /// The position of a value and an identity.
    pub(crate) fn position_of<'b>(&self, key: SortKey<'b>, id: IdKey) -> ListingPosition<'b> {
        ListingPosition {
            key,
            descending: self.sort.descending,
            id,
        }
    }

    pub(crate) fn is_descending(&self) -> bool {
        self.sort.descending
    }

    /// The values that the records of a block are ordered by.
    pub(crate) fn keys<'b>(&self, block: &'b Block) -> BlockKeys<'b> {
        match &self.sort.by {
            SortBy::Time(time) => BlockKeys::Times(block.times_of(*time)),
            SortBy::Column(_) => {
                let column = self.column;
                let column = column.and_then(|column| block.body.columns.column(column));
                BlockKeys::Column(column, self.sort.descending)
            }
        }
    }
}

impl<'b> BlockKeys<'b> {
    /// The value of a record.
    pub(crate) fn at(&self, slot: usize) -> SortKey<'b> {
        match self {
            Self::Times(times) => SortKey::Time(times.get(slot)),
            Self::Column(column, descending) => {
                let value = column.and_then(|column| column.value(slot));
                SortKey::of(value, *descending)
            }
        }
    }
}
