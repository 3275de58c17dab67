//! The columns whose words count.

use std::collections::BTreeMap;

use crate::columns::{ColumnId, ColumnNames, Columns};
use crate::json::write_text;
use crate::lexical::term::FULL;
use crate::record::Value;
use crate::settings::{Lexical, Settings};

/// The columns whose words count in searches, by the settings of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum WordColumns {
    /// None: there is no index.
    #[default]
    None,
    /// The embedded ones; `None` for every string column.
    Embedded(Option<Vec<String>>),
    /// These, each with the part of its matches that counts, in thousandths.
    Weighted(BTreeMap<String, u32>),
}

impl WordColumns {
    pub(crate) fn of(settings: &Settings) -> Self {
        let weights = match &settings.lexical {
            Lexical::Off => return Self::None,
            Lexical::Embedded => return Self::Embedded(settings.embed.clone()),
            Lexical::Columns(weights) => weights,
        };
        let highest = weights.values().copied().max().unwrap_or(1);
        let part = |(name, weight): (&String, &u32)| (name.clone(), FULL * weight / highest);
        Self::Weighted(weights.iter().map(part).collect())
    }

    /// The columns by their ids. A column that no record has yet is left out.
    pub(crate) fn bind(&self, names: &ColumnNames) -> TextColumns {
        match self {
            Self::None => TextColumns::Chosen(Vec::new()),
            Self::Embedded(embed) => TextColumns::new(embed.as_deref(), names),
            Self::Weighted(parts) => {
                let bound = |(name, part): (&String, &u32)| Some((names.id(name)?, *part));
                TextColumns::Weighted(parts.iter().filter_map(bound).collect())
            }
        }
    }
}

/// Columns of a database whose values are texts.
#[derive(Clone, Debug)]
pub(crate) enum TextColumns {
    /// Every string column, and lists with a string.
    Strings,
    /// These columns, with their strings, numbers, booleans and lists.
    Chosen(Vec<ColumnId>),
    /// As [`TextColumns::Chosen`], each with the part of the matches of its words that counts, in thousandths.
    Weighted(Vec<(ColumnId, u32)>),
}

impl TextColumns {
    /// The columns that the setting `embed` names. A column that no record has yet is left out.
    pub(crate) fn new(embed: Option<&[String]>, names: &ColumnNames) -> Self {
        match embed {
            None => Self::Strings,
            Some(embed) => Self::Chosen(embed.iter().filter_map(|name| names.id(name)).collect()),
        }
    }

    /// The part of the matches of words that counts, in thousandths, if columns have weights. `None`: it depends on the place
    /// of a column.
    pub(crate) fn part_of(&self, id: ColumnId) -> Option<u32> {
        match self {
            Self::Strings | Self::Chosen(_) => None,
            Self::Weighted(parts) => parts
                .iter()
                .find(|(of, _)| *of == id)
                .map(|(_, part)| *part),
        }
    }

    /// The least [`TextColumns::part_of`] a column.
    pub(crate) fn least_part(&self) -> Option<u32> {
        match self {
            Self::Strings | Self::Chosen(_) => None,
            Self::Weighted(parts) => parts.iter().map(|(_, part)| *part).min(),
        }
    }

    /// Calls `visit` with each of the columns of a record that has a text, and with the text.
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
        let mut visit_one = |id| {
            if let Some(value) = columns.value(slot, id) {
                visit(id, value);
            }
        };
        match self {
            Self::Strings => {
                let cells = columns.cells(slot);
                cells
                    .filter(|(_, value)| value.strings().next().is_some())
                    .for_each(|(id, value)| visit(id, value));
            }
            Self::Chosen(ids) => ids.iter().for_each(|&id| visit_one(id)),
            Self::Weighted(parts) => parts.iter().for_each(|&(id, _)| visit_one(id)),
        }
    }
}
