//! The column names of a database.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::json;

/// Identifies a column of a database. Ids are given in the order in which names are first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnId(pub(crate) u32);

/// The names of all columns that a database ever had. Append-only.
///
/// A clone is a snapshot that shares the table. Inserting copies the table first if a clone shares it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnNames {
    table: Arc<Table>,
}

#[derive(Clone, Debug, Default)]
struct Table {
    names: Vec<Name>,
    ids: HashMap<Arc<str>, ColumnId>,
    /// Bytes of all members.
    member_bytes: usize,
}

#[derive(Clone, Debug)]
struct Name {
    text: Arc<str>,
    /// `"name":`, as it is copied into a page.
    member: Arc<[u8]>,
}

impl ColumnNames {
    /// The id of the column; `None` if no record ever had it.
    pub(crate) fn id(&self, name: &str) -> Option<ColumnId> {
        self.table.ids.get(name).copied()
    }

    pub(crate) fn name(&self, id: ColumnId) -> &str {
        &self.table.names[id.0 as usize].text
    }

    /// The name as a JSON member, quoted, escaped, with its colon.
    pub(crate) fn member(&self, id: ColumnId) -> &[u8] {
        &self.table.names[id.0 as usize].member
    }

    /// The name as JSON, quoted and escaped.
    pub(crate) fn quoted(&self, id: ColumnId) -> &[u8] {
        let member = self.member(id);
        &member[..member.len() - 1]
    }

    /// The id of the column. A new name gets the next id.
    pub(crate) fn insert(&mut self, name: &str) -> ColumnId {
        if let Some(id) = self.id(name) {
            return id;
        }
        let table = Arc::make_mut(&mut self.table);
        let id = ColumnId(u32::try_from(table.names.len()).expect("fewer than 2^32 columns"));
        let text: Arc<str> = name.into();
        let mut member = Vec::with_capacity(name.len() + 3);
        json::write_string(name, &mut member);
        member.push(b':');
        table.member_bytes += member.len();
        table.names.push(Name {
            text: text.clone(),
            member: member.into(),
        });
        table.ids.insert(text, id);
        id
    }

    /// The first name of `given` with which there would be more than `max` distinct names, if there is one.
    pub(crate) fn beyond<'a>(
        &self,
        max: usize,
        given: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<&'a str> {
        if self.len() + given.len() <= max {
            return None;
        }
        // The names of one record are distinct.
        given
            .filter(|name| self.id(name).is_none())
            .nth(max.saturating_sub(self.len()))
    }

    /// Bytes of all names as JSON members.
    pub(crate) fn member_bytes(&self) -> usize {
        self.table.member_bytes
    }

    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.table.names.len()
    }

    /// All columns, in order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ColumnId, &str)> {
        (0..)
            .map(ColumnId)
            .zip(self.table.names.iter().map(|name| &*name.text))
    }
}
