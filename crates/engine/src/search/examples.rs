//! Examples: records whose mean is the query of a search.

use serde_json::Value;

use crate::error::Error;
use crate::filter::{Filter, RequestReader};
use crate::limits::Limits;
use crate::record::{RecordRow, TimeRange, Variant, direction_of, q30_to_f64};
use crate::runtime::StopCheck;
use crate::settings::Settings;
use crate::snapshot::{Published, Selection, Snapshot, VectorBuffer};
use crate::write::RecordRef;

/// The examples of a search, parsed.
pub(crate) struct Examples {
    /// Positive examples, then negative ones.
    examples: Vec<Example>,
    forced: Option<Filter>,
    /// Fingerprint of the model that the caller believes the database has.
    embedded_by: Option<String>,
    /// Whether the query is wanted, not only the ids of the examples.
    wants_query: bool,
}

struct Example {
    /// `positive` or `negative`.
    list: &'static str,
    /// The place in the list.
    at: usize,
    /// The id as the request has it.
    id: String,
    /// `None` for what can be the id of no record.
    record: Option<RecordRef>,
}

/// The query that examples make.
#[derive(Clone, Debug)]
pub struct ExampleQuery {
    /// The integer ids of the examples that exist for the caller.
    pub ids: Vec<u64>,
    /// The unit vector, as numbers that a search takes unchanged; empty if the request does not want it.
    pub vector: Vec<f64>,
    /// The epoch of the database. Callers that may not read records never see it.
    pub epoch: [u8; 16],
}

/// Where the examples of a request were found.
pub(crate) type ExampleRows = Vec<Option<RecordRow>>;

impl Examples {
    /// Reads `positive`, `negative`, `query`, `forced_filter` and `embedded_by`.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub(crate) fn parse(json: &str, limits: &Limits) -> Result<Self, Error> {
        let request = RequestReader::new(json, limits)?;
        let mut examples = Vec::new();
        for list in ["positive", "negative"] {
            let ids = request.get(list).and_then(Value::as_array);
            let ids = ids.into_iter().flatten().enumerate();
            examples.extend(ids.map(|(at, id)| Example {
                list,
                at,
                id: id.as_str().map_or_else(|| id.to_string(), str::to_owned),
                record: RecordRef::of(id),
            }));
        }
        Ok(Self {
            examples,
            forced: request.filter(Variant::B)?,
            embedded_by: request.text("embedded_by")?.map(str::to_owned),
            wants_query: request.flag("query")?,
        })
    }

    /// The identities of the examples.
    pub(crate) fn references(&self) -> impl Iterator<Item = RecordRef> + '_ {
        self.examples.iter().filter_map(|example| example.record)
    }

    /// The rows of the examples; `None` for a record that is not there.
    pub(crate) fn rows(&self, published: &Published) -> ExampleRows {
        let records = self.examples.iter().map(|example| example.record);
        records
            .map(|record| record.and_then(|record| record.find(published)))
            .collect()
    }

    /// Makes the query: the direction of the mean `p` of the directions of the positive examples, or of `2p - n` where
    /// there are negative ones with the mean `n`. `rows` are those of [`Self::rows`] in the snapshot.
    ///
    /// # Errors
    /// [`Error::Stale`] when the database has another model; with `query`, [`Error::Invalid`] for an example that does
    /// not exist for the caller or has no vector, and for examples without a common direction.
    pub(crate) fn query(
        &self,
        epoch: [u8; 16],
        settings: &Settings,
        snapshot: &Snapshot,
        rows: &ExampleRows,
    ) -> Result<ExampleQuery, Error> {
        if self.embedded_by.is_some() && self.embedded_by != settings.fingerprint {
            return Err(Error::Stale);
        }
        let selection = Selection::bind(snapshot, self.forced.as_ref(), TimeRange::ALWAYS);
        let mut buffer = VectorBuffer::default();
        let (mut ids, mut directions) = (Vec::new(), Vec::new());
        for (example, row) in self.examples.iter().zip(rows) {
            let found = row.map(|row| snapshot.at(row));
            let holds = |found| selection.holds(found, &StopCheck::never());
            let found = match found {
                Some(found) if holds(found)? => Some(found),
                _ => None,
            };
            if let Some((block, slot)) = found {
                ids.push(block.id(slot).0);
            }
            if !self.wants_query {
                continue;
            }
            let Some((block, slot)) = found else {
                return Err(example.refused(format!("no record has the id {}", example.id)));
            };
            let vectors = block.vectors_of(slot, &mut buffer)?;
            match vectors.direction() {
                Some(direction) => directions.push((example.list, direction)),
                None => return Err(example.refused(format!("record {} has no vector", example.id))),
            }
        }
        let vector = match self.wants_query {
            true => mean_direction(&directions, settings.dimensions)?,
            false => Vec::new(),
        };
        Ok(ExampleQuery { ids, vector, epoch })
    }
}

impl Example {
    fn refused(&self, detail: String) -> Error {
        Error::request(format!("/search/like/{}/{}", self.list, self.at), detail)
    }
}

/// The direction of `2p - n`, as numbers that [`to_unit_q30`](crate::record::to_unit_q30) returns unchanged.
fn mean_direction(
    directions: &[(&'static str, Vec<i32>)],
    dimensions: usize,
) -> Result<Vec<f64>, Error> {
    let of = |list: &str| directions.iter().filter(|(of, _)| *of == list).count() as i64;
    let (positive, negative) = (of("positive"), of("negative"));
    // Both means have the denominator `positive * negative`, which does not change the direction.
    let (for_positive, for_negative) = match negative {
        0 => (1, 0),
        _ => (2 * negative, -positive),
    };
    let weighted = directions.iter().map(|(list, direction)| {
        let is_positive = *list == "positive";
        let weight = if is_positive {
            for_positive
        } else {
            for_negative
        };
        (weight, &**direction)
    });
    let direction = direction_of(weighted, dimensions).map_err(|_| {
        Error::request(
            "/search/like",
            "the examples have no direction in common: their vectors cancel out",
        )
    })?;
    Ok(q30_to_f64(&direction).collect())
}
