//! Searches of the engine, compared with those by brute force.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::doctor::oracle::{Oracle, PAGE, Question};
use crate::doctor::record_check::is_findable;
use crate::doctor::sample::mixed;
use crate::error::Error;
use crate::limits::Limits;
use crate::record::{OwnedValue, SCORE_STEPS, Value as Cell};
use crate::reply::outcome_of;
use crate::runtime::{Metrics, StopFlag};
use crate::search::{NewSearch, Page, Search, SearchScheduler, Searchable};
use crate::settings::Settings;
use crate::snapshot::{IdentityIndex, Published, PublishedCell, Snapshot, VectorMemory};
use crate::store::{Findings, Inspection, StoreError};
use crate::write::parse_data;

/// Records whose vectors are searched for.
const VECTORS: u64 = 8;

/// Bytes of a text that a filter compares with at most.
const MAX_TEXT_BYTES: usize = 1_000;

/// Chooses what to search for: vectors of records, each without a filter and with one of a value of the record.
///
/// # Errors
/// Those of the store, except for damaged records, which are not chosen.
pub(super) fn questions(
    inspection: &Inspection,
    settings: &Settings,
) -> Result<Oracle, StoreError> {
    let mut oracle = Oracle::default();
    let end = inspection.state.map_or(1, |state| state.next_id);
    for at in 0..VECTORS {
        let from = mixed(at + 1) % end.max(1);
        inspection.record_from(from, |record| {
            let Ok(data) = parse_data(record.data) else {
                return;
            };
            if !is_findable(settings, &record) {
                return;
            }
            let usable = |value: &Cell<'_>| match value {
                Cell::Null | Cell::List(_) => false,
                Cell::Text(text) => text.len() <= MAX_TEXT_BYTES,
                Cell::Boolean(_) | Cell::Number(_) => true,
            };
            let cells = data.cells().iter().flat_map(|(name, value)| {
                let elements = value.borrow().elements().filter(usable);
                elements.map(move |element| (name, element))
            });
            let cell = cells
                .max_by_key(|(name, _)| mixed(at ^ name.len() as u64))
                .map(|(name, value)| (name.clone(), OwnedValue::from(value)));
            let vector = record.first_vector().to_vec();
            oracle.questions.push(Question::new(vector.clone(), None));
            oracle.questions.push(Question::new(vector, cell));
        })?;
    }
    Ok(oracle)
}

/// Asks the engine the questions of the oracle, over `snapshot`, and compares the pages.
///
/// # Errors
/// [`Error::Stopped`]; those of a search.
pub(super) fn compare(
    oracle: &Oracle,
    snapshot: &Arc<Snapshot>,
    stop: &StopFlag,
    findings: &mut Findings,
) -> Result<(), Error> {
    let started = SearchScheduler::start(1, Arc::<Metrics>::default(), VectorMemory::new(0));
    let scheduler = started.map_err(Error::file("thread"))?;
    let published = Published {
        snapshot: Arc::clone(snapshot),
        index: IdentityIndex::default(),
    };
    let published = Arc::new(PublishedCell::new(published));
    let searchable = Arc::new(Searchable::new(published, None, None));
    let compared = oracle.questions.iter().try_for_each(|question| {
        let page = search(&scheduler, &searchable, question, stop)?;
        if results(&page.body).as_deref() != Some(question.results()) {
            let filter = if question.equals.is_some() {
                "with a filter"
            } else {
                "without a filter"
            };
            findings.add(format!(
                "a search {filter} finds other records or scores than the vectors of the store give"
            ));
        }
        Ok(())
    });
    scheduler.close();
    compared
}

fn search(
    scheduler: &SearchScheduler,
    searchable: &Arc<Searchable>,
    question: &Question,
    stop: &StopFlag,
) -> Result<Page, Error> {
    let mut request = json!({ "form": "integer", "threshold": 0, "limit": PAGE });
    if let Some((column, value)) = &question.equals {
        let value = match value {
            OwnedValue::Null | OwnedValue::List(_) => Value::Null,
            OwnedValue::Boolean(boolean) => json!(boolean),
            OwnedValue::Number(number) => json!(number),
            OwnedValue::Text(text) => json!(text),
        };
        let rule = json!({ "column": column, "operator": "equals", "value": value });
        request["filter"] = json!({ "rules": [rule] });
    }
    let limits = Limits {
        page_bytes: usize::MAX,
        ..Limits::default()
    };
    let request = Search::parse(&request.to_string(), &limits)?;
    outcome_of(|reply| {
        let vector = question.vector.clone();
        let search = NewSearch {
            request,
            vector,
            reply,
        };
        scheduler.submit(searchable, vec![search], stop);
    })
}

/// Score and id of each result of a page.
fn results(body: &[u8]) -> Option<Vec<(u32, u64)>> {
    let page: Value = serde_json::from_slice(body).ok()?;
    let results = page["results"].as_array()?.iter().map(|result| {
        let score = result["relevance_score"].as_f64()? * f64::from(SCORE_STEPS);
        Some((score.round() as u32, result["id"].as_u64()?))
    });
    results.collect()
}
