//! The setting `lexical`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use crate::error::Error;

/// Which words of records searches can take into account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lexical {
    /// None.
    #[default]
    Off,
    /// Those of the embedded columns.
    Embedded,
    /// Those of these columns, each with its weight.
    Columns(BTreeMap<String, u32>),
}

/// The weights of columns.
const WORD_WEIGHTS: RangeInclusive<u64> = 1..=100;

impl Lexical {
    pub(crate) fn is_on(&self) -> bool {
        *self != Self::Off
    }

    pub(super) fn parse(value: Option<&Value>) -> Result<Self, Error> {
        let columns = match value {
            None | Some(Value::Null | Value::Bool(false)) => return Ok(Self::Off),
            Some(Value::Bool(true)) => return Ok(Self::Embedded),
            Some(value) => value.get("columns").and_then(Value::as_object),
        };
        let weight_of = |weight: &Value| {
            let weight = weight.as_u64()?;
            WORD_WEIGHTS.contains(&weight).then_some(weight as u32)
        };
        let columns = columns.and_then(|columns| {
            let columns = columns.iter();
            let columns = columns.map(|(name, weight)| Some((name.clone(), weight_of(weight)?)));
            columns.collect::<Option<BTreeMap<_, _>>>()
        });
        match columns {
            Some(columns) if !columns.is_empty() => Ok(Self::Columns(columns)),
            _ => {
                let detail = "must be true, false, or have columns with weights from 1 to 100";
                Err(Error::request("/lexical", detail))
            }
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Off => json!(false),
            Self::Embedded => json!(true),
            Self::Columns(columns) => json!({ "columns": columns }),
        }
    }
}
