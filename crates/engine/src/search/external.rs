//! Pages of records that a store outside of the engine has selected.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::Error;
use crate::facets::Facet;
use crate::record::{
    Hit, IdKey, Position, Ranked, RecordRow, RecordUuid, Score, TimeRange, Variant,
};
use crate::runtime::StopCheck;
use crate::search::explain::{BoundExplain, Explain, Report, ScoreParts};
use crate::search::lexical_signal::LexicalSignal;
use crate::search::map::MapPoints;
use crate::search::page::{BestPassage, PageContent};
use crate::search::request::Search;
use crate::snapshot::Snapshot;

/// How a search with `approximate` used an index of the store.
#[derive(Clone, Debug)]
pub enum ExternalIndexUse {
    /// The candidates of the index were ranked.
    Used {
        /// The number of candidates.
        candidates: u64,
    },
    /// The search scanned all records.
    NotUsed {
        /// Why, for people.
        reason: String,
    },
}

/// What a page of selected records is written from.
pub(crate) struct Selected<'a> {
    /// The records of the page in order, and the first one after it if there is one.
    pub(crate) snapshot: &'a Snapshot,
    /// The number of all matches, if the request asks for it.
    pub(crate) total: Option<u64>,
    /// The member `facets` as JSON, if the request asks for it.
    pub(crate) facets: Option<&'a Vec<u8>>,
    /// How a search with `approximate` used an index of the store.
    pub(crate) index_use: Option<&'a ExternalIndexUse>,
    /// Records that exist for the caller.
    pub(crate) records: u64,
    /// Numbers of records by what was done with them.
    pub(crate) counters: Vec<(&'static str, u64)>,
    /// When the request arrived.
    pub(crate) arrived: Instant,
    /// How long the store took to select the records.
    pub(crate) scan: Duration,
}

impl Selected<'_> {
    pub(super) fn report(&self, plan: &'static str, kernel: Option<&'static str>) -> Report {
        Report {
            plan,
            records: Some(self.records),
            kernel,
            counters: self.counters.clone(),
            arrived: self.arrived,
            waited: None,
            scan: self.scan,
            of_all_records: self.explain_index().into_iter().collect(),
        }
    }

    /// The member `approximate` of `explain`.
    fn explain_index(&self) -> Option<(&'static str, Value)> {
        let explained = match self.index_use? {
            ExternalIndexUse::Used { candidates } => json!({ "candidates": candidates }),
            ExternalIndexUse::NotUsed { reason } => json!({ "not_used": reason }),
        };
        Some(("approximate", explained))
    }
}

impl Search {
    /// What a store needs to select the records of the page.
    pub(crate) fn plan(&self) -> Value {
        let cursor = self.cursor.map(|position| {
            json!({ "score": position.score.0, "id": id_text(self.variant, position.id) })
        });
        let mut plan = common_plan(
            self.time_range,
            self.total,
            &self.facets,
            self.explain.as_ref(),
        );
        plan["limit"] = self.limit.into();
        plan["threshold"] = json!(Score::at_least(self.threshold).map(|score| score.0));
        plan["cursor"] = json!(cursor);
        plan["lexical"] = self.lexical.is_some().into();
        plan["map"] = self.map.is_some().into();
        plan["passages"] = self.shows_passages().into();
        plan
    }

    /// The exact words of the search, bound to the columns of a snapshot. `embed` are the columns that the database
    /// embeds.
    pub(crate) fn lexical_signal(
        &self,
        embed: Option<&[String]>,
        snapshot: &Snapshot,
    ) -> Option<LexicalSignal> {
        let request = self.lexical.as_ref()?;
        Some(LexicalSignal::bind(request, embed, &snapshot.names))
    }

    /// Writes the response. `scores` are those of the selected records; `parts` are the parts of their scores, if the
    /// request asks to explain scores of several parts. `passage` finds the best passage of a record.
    ///
    /// # Errors
    /// The error of a vector that cannot be read.
    pub(crate) fn page_of(
        &self,
        selected: &Selected<'_>,
        scores: &[Score],
        parts: Vec<ScoreParts>,
        passage: &BestPassage<'_>,
    ) -> Result<Vec<u8>, Error> {
        let snapshot = selected.snapshot;
        let hits: Vec<Hit> = rows_of(snapshot, self.variant)
            .zip(scores)
            .map(|((row, id), &score)| Ranked {
                position: Position { score, id },
                row,
            })
            .collect();
        if let Some(map) = &self.map {
            let points = MapPoints {
                snapshot,
                variant: self.variant,
                limit: self.limit,
                max_bytes: self.page_bytes,
                records: &hits[..hits.len().min(self.limit + 1)],
                request: map,
            };
            return points.write(&StopCheck::never());
        }
        let explain = self.explain.as_ref();
        let explain = explain.map(|explain| explain.bind(&snapshot.names));
        let plan = |explain: &BoundExplain| {
            let is_used = matches!(selected.index_use, Some(ExternalIndexUse::Used { .. }));
            // The reason why the index was not used can tell how many records a forced filter hides.
            if is_used || (selected.index_use.is_some() && explain.is_scoped()) {
                "approximate"
            } else if explain.is_filtered() || self.time_range != TimeRange::ALWAYS {
                "filtered scan"
            } else {
                "full scan"
            }
        };
        let kernel = Some(cosift_kernels::kernel_name());
        let content = PageContent {
            snapshot,
            variant: self.variant,
            limit: self.limit,
            max_bytes: self.page_bytes,
            records: &hits,
            approximate: self.approximate,
            total: selected.total,
            facets: selected.facets,
            passage: self.shows_passages().then_some(passage),
            explain: explain
                .as_ref()
                .map(|explain| (explain, selected.report(plan(explain), kernel))),
            score_parts: parts,
        };
        content.write(&StopCheck::never())
    }
}

/// What searches and listings have in common.
pub(super) fn common_plan(
    time_range: TimeRange,
    total: bool,
    facets: &[Facet],
    explain: Option<&Explain>,
) -> Value {
    let TimeRange { start, end } = time_range;
    json!({
        "start": (start != i64::MIN).then_some(start),
        "end": (end != i64::MAX).then_some(end),
        "total": total,
        "facets": !facets.is_empty(),
        "explain": explain.is_some(),
    })
}

/// The rows of a snapshot in order, with their identities.
pub(super) fn rows_of(
    snapshot: &Snapshot,
    variant: Variant,
) -> impl Iterator<Item = (RecordRow, IdKey)> {
    snapshot.blocks.iter().flat_map(move |block| {
        (0..block.len()).map(move |slot| {
            let id = IdKey::new(variant, block.id(slot), block.uuid(slot));
            (block.row(slot), id)
        })
    })
}

/// An identity as a store compares it: an integer, or a UUID.
pub(super) fn id_text(variant: Variant, id: IdKey) -> String {
    match variant {
        Variant::A => RecordUuid(id.0.to_be_bytes()).to_string(),
        Variant::B => id.0.to_string(),
    }
}
