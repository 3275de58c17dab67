//! Listings of records that a store outside of the engine has selected.

use serde_json::{Value, json};

use crate::columns::ColumnNames;
use crate::error::Error;
use crate::record::{PageStart, Ranked};
use crate::runtime::StopCheck;
use crate::search::external::{Selected, id_text, rows_of};
use crate::search::listing::cursor::Cursor;
use crate::search::listing::position::ListingPosition;
use crate::search::listing::request::Query;
use crate::search::listing::sort_key::SortKey;
use crate::snapshot::Published;

impl Query {
    /// What a store needs to select the records of the page. `named` are the records that the cursor names: the page
    /// begins where [`Self::start`] finds them.
    pub(crate) fn plan(&self) -> Value {
        let mut plan = self.common.plan();
        plan["fetch"] = (self.common.limit + 1 + self.sort.records_after_page()).into();
        plan["sort"] = self.sort.plan();
        let named = match &self.cursor {
            Some(Cursor::Records(_)) => self.cursor.as_ref().map(|cursor| {
                let ids = cursor.named_ids();
                let ids = ids.iter().map(|&id| id_text(self.common.variant, id));
                ids.collect::<Vec<_>>()
            }),
            _ => None,
        };
        plan["named"] = json!(named);
        plan["position"] = match &self.cursor {
            Some(Cursor::Position { key, id }) => {
                let names = ColumnNames::default();
                let position = self.sort.bind(&names).position_of(key.clone(), *id);
                self.position(&PageStart::after(position))
            }
            _ => Value::Null,
        };
        plan
    }

    /// Where the page begins. `published` has those of the named records that exist.
    ///
    /// # Errors
    /// [`Error::Invalid`] when all of them were changed, deleted or hidden.
    pub(crate) fn start(&self, published: &Published) -> Result<Value, Error> {
        let Some(cursor) = &self.cursor else {
            return Ok(Value::Null);
        };
        let rows = cursor.rows(published, self.common.variant);
        let never = StopCheck::never();
        let start = self.start_of(cursor, &published.snapshot, &rows, &never)?;
        Ok(self.position(&start))
    }

    /// Writes the response with the selected records, which are those of a snapshot in its order.
    pub(crate) fn page_of(&self, selected: &Selected<'_>) -> Result<Vec<u8>, Error> {
        let snapshot = selected.snapshot;
        let sort = self.sort.bind(&snapshot.names);
        let records: Vec<Ranked<ListingPosition<'_>>> = rows_of(snapshot, self.common.variant)
            .map(|(row, _)| {
                let (block, slot) = snapshot.at(row);
                let position = sort.position(block, slot, self.common.variant);
                Ranked { position, row }
            })
            .collect();
        selected.write(&self.common, &records, None, None, Vec::new())
    }

    fn position(&self, start: &PageStart<ListingPosition<'_>>) -> Value {
        let ListingPosition { key, id, .. } = start.position();
        let (kind, value) = match key {
            SortKey::Time(time) => ("time", json!(time)),
            SortKey::Boolean(value) => ("boolean", json!(value)),
            // A cursor of a caller's own may hold what no record has.
            SortKey::Number(value) if value.is_finite() => ("number", json!(value.to_string())),
            SortKey::Number(value) if value.is_sign_negative() => ("number", json!("-Infinity")),
            SortKey::Number(_) => ("number", json!("Infinity")),
            SortKey::Text(text) => ("string", json!(text)),
            SortKey::Missing => ("missing", Value::Null),
        };
        json!({
            "kind": kind,
            "value": value,
            "id": id_text(self.common.variant, *id),
            "inclusive": start.is_inclusive(),
        })
    }
}
