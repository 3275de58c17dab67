//! The columns whose words count: those that are embedded.

use crate::columns::{ColumnId, ColumnNames, Columns};
use crate::json::write_text;
use crate::record::Value;

/// The embedded columns of a database.
#[derive(Clone, Debug)]
pub(crate) enum TextColumns {
    /// Every string column, and lists with a string.
    Strings,
    /// These columns, with their strings, numbers, booleans and lists.
    Chosen(Vec<ColumnId>),
}

impl TextColumns {
    /// The columns that the setting `embed` names. A column that no record has yet is left out.
    pub(crate) fn new(embed: Option<&[String]>, names: &ColumnNames) -> Self {
        match embed {
            None => Self::Strings,
            Some(embed) => Self::Chosen(embed.iter().filter_map(|name| names.id(name)).collect()),
        }
    }

    /// Calls `visit` with each embedded column of a record that has a text, and with the text.
    pub(crate) fn each_text(
        &self,
        columns: &Columns,
        slot: usize,
        mut visit: impl FnMut(ColumnId, &str),
    ) {
        let mut visit = |id, value: Value<'_>| match value {
            Value::Text(text) => visit(id, text),
            value => {
                let mut text = Vec::new();
                write_text(value, &mut text);
                if !text.is_empty() {
                    visit(id, &String::from_utf8_lossy(&text));
                }
            }
        };
        match self {
            Self::Strings => {
                let cells = columns.cells(slot);
                cells
                    .filter(|(_, value)| value.strings().next().is_some())
                    .for_each(|(id, value)| visit(id, value));
            }
            Self::Chosen(ids) => {
                for &id in ids {
                    if let Some(value) = columns.value(slot, id) {
                        visit(id, value);
                    }
                }
            }
        }
    }
}
