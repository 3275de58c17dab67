//! The columns whose words count: those that are embedded.

use crate::columns::{ColumnId, ColumnNames, Columns};
use crate::json::write_number;
use crate::record::Value;

/// The embedded columns of a database.
#[derive(Clone, Debug)]
pub(crate) enum TextColumns {
    /// Every string column.
    Strings,
    /// These columns, with their strings, numbers and booleans.
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
        match self {
            Self::Strings => {
                for (id, value) in columns.cells(slot) {
                    if let Value::Text(text) = value {
                        visit(id, text);
                    }
                }
            }
            Self::Chosen(ids) => {
                for &id in ids {
                    match columns.value(slot, id) {
                        Some(Value::Text(text)) => visit(id, text),
                        Some(Value::Number(number)) => {
                            let mut text = Vec::new();
                            write_number(number, &mut text);
                            visit(id, &String::from_utf8_lossy(&text));
                        }
                        Some(Value::Boolean(true)) => visit(id, "true"),
                        Some(Value::Boolean(false)) => visit(id, "false"),
                        Some(Value::Null) | None => {}
                    }
                }
            }
        }
    }
}
