//! What a page with some of the columns needs of the data of its records.

use crate::error::Error;
use crate::json::write_cells;
use crate::record::Data;
use crate::search::Common;
use crate::write::parse_data;

/// What a page with some of the columns needs of the data of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptData {
    /// The needed columns as JSON, in their order.
    pub data: Vec<u8>,
    /// The bytes of the data that the page shows.
    pub shown_bytes: usize,
}

impl KeptData {
    /// Reads the data of records. Each keeps the columns that results show, that of `distinct`, the embedded ones of `texts`
    /// (all for `Some(None)`), and `also` another one; all of them where the request explains its results, because any of them
    /// may pass a rule.
    ///
    /// # Errors
    /// [`Error::Internal`] for damaged data.
    pub(super) fn of(
        request: &Common,
        texts: Option<Option<&[String]>>,
        also: Option<&str>,
        records: &[String],
    ) -> Result<Vec<Self>, Error> {
        let columns = request.columns.as_deref().unwrap_or_default();
        let mut shown: Vec<&str> = columns.iter().map(String::as_str).collect();
        shown.sort_unstable();
        let distinct = request
            .distinct
            .as_ref()
            .map(|distinct| distinct.column.as_str());
        let is_shown = |name: &str| shown.binary_search(&name).is_ok();
        let is_text = |name: &str| {
            let embedded = |embed: &[String]| embed.iter().any(|column| column == name);
            texts.is_some_and(|embed| embed.is_none_or(embedded))
        };
        let keep = |json: &String| {
            let damaged = |_| Error::internal("the data of a record is damaged");
            let mut data = parse_data(json.as_bytes()).map_err(damaged)?;
            if request.explain.is_none() {
                data.retain(|name| {
                    is_shown(name) || is_text(name) || [also, distinct].contains(&Some(name))
                });
            }
            let kept = json_of(&data);
            data.retain(is_shown);
            Ok(Self {
                data: kept,
                shown_bytes: json_of(&data).len(),
            })
        };
        records.iter().map(keep).collect()
    }
}

fn json_of(data: &Data) -> Vec<u8> {
    let mut out = Vec::new();
    write_cells(data, &mut out);
    out
}
