//! Answering a search whose blocks were scanned.

use std::sync::Arc;

use crate::error::Error;
use crate::record::{Hit, Position, Ranked, Score, Variant, cursor};
use crate::reply::caught;
use crate::search::caches::Counted;
use crate::search::explain::Report;
use crate::search::highlights::Highlights;
use crate::search::page::{Page, PageContent, PagePosition};
use crate::search::running::RunningSearch;
use crate::search::score_parts::ScoreParts;
use crate::snapshot::Block;

/// Answers a search with the page or the error. Later calls do nothing.
pub(crate) fn answer(search: &RunningSearch) {
    if let Some(reply) = search.outcome.reply.take() {
        reply(caught(|| page(search)));
    }
}

fn page(search: &RunningSearch) -> Result<Page, Error> {
    search.outcome.check()?;
    let scan = search.timing.scan();
    let hits = find_hits(search)?;
    let counted = count_matches(search)?;
    let request = &search.request.common;
    // Read before the records are written, so that `explain` shows what the search itself took.
    let report = || Report {
        records: None,
        counters: vec![search.counters.selected()],
        arrived: search.timing.arrived,
        waited: Some(search.timing.waited()),
        scan,
        of_all_records: of_all_records(search),
    };
    let explain = search.explain.as_ref();
    let passage = |block: &Block, slot: usize| search.query.passage(block, slot);
    let words = search
        .blend
        .as_ref()
        .and_then(|blend| blend.lexical.as_ref());
    let content = PageContent {
        request,
        snapshot: search.snapshot(),
        fingerprint: search.database.fingerprint.as_deref(),
        records: &hits,
        total: request.total.then_some(counted.total),
        facets: (!request.facets.is_empty()).then_some(&counted.facets),
        passage: search.request.shows_passages().then_some(&passage),
        highlights: (search.request.highlights).then_some(Highlights(words)),
        explain: explain.map(|explain| (explain, report())),
        score_parts: score_parts(search, &hits)?,
    };
    let body = content.write(&search.outcome.stop_check())?;
    Ok(Page::new(body, search.timing.arrived))
}

/// The hits of the page in order, and those that were found beyond it.
fn find_hits(search: &RunningSearch) -> Result<Vec<Hit>, Error> {
    if let Some(hits) = &search.cached.hits {
        return Ok(hits.clone());
    }
    let hits = search.ranking.finish(|row, extra| {
        // Each score may wait for the disk.
        search.outcome.check()?;
        let (block, slot) = search.snapshot().at(row);
        let score = search.blended(search.cosine(block, slot)?, extra);
        Ok(search.hit(block, slot, score))
    })?;
    if let (Some(start), Some(key), false) = (
        search.ranking.start(),
        search.cached.key,
        search.counts_all(),
    ) {
        let (after, size) = (*start.position(), search.ranking.size());
        let pages = &search.database.pages;
        pages.insert(key, search.snapshot(), after, &hits, size);
    }
    Ok(hits)
}

/// The parts of the scores of the hits, if the request asks to explain them.
fn score_parts(search: &RunningSearch, hits: &[Hit]) -> Result<Vec<ScoreParts>, Error> {
    let (Some(blend), Some(_)) = (&search.blend, &search.explain) else {
        return Ok(Vec::new());
    };
    let shown = hits.iter().take(search.request.common.limit);
    shown
        .map(|hit| {
            let (block, slot) = search.snapshot().at(hit.row);
            Ok(ScoreParts {
                meaning: search.cosine(block, slot)?,
                others: blend.parts(block, slot, &search.outcome.stop_check())?,
            })
        })
        .collect()
}

/// What the search counts over all its matches.
fn count_matches(search: &RunningSearch) -> Result<Arc<Counted>, Error> {
    let stop_check = &search.outcome.stop_check();
    let counted = (search.match_counts).finish(&search.request.common, stop_check)?;
    if let (Some(key), true) = (search.cached.key, search.counts_all()) {
        let counts = &search.database.counts;
        counts.insert(key, search.snapshot(), &counted);
    }
    Ok(counted)
}

fn of_all_records(search: &RunningSearch) -> Vec<(&'static str, serde_json::Value)> {
    let rotated = ("rotated", search.snapshot().rotated().into());
    let counters = search.counters.dependent();
    let counters = counters.map(|(name, count)| (name, count.into()));
    counters.into_iter().chain([rotated]).collect()
}

impl PagePosition for Position {
    const PLANS: [&'static str; 2] = ["filtered scan", "full scan"];
    const IS_SCORED: bool = true;

    fn score(&self) -> Option<Score> {
        Some(self.score)
    }

    fn cursor(&self, variant: Variant, _following: &[Ranked<Self>]) -> Vec<u8> {
        let mut text = Vec::new();
        cursor::write(variant, *self, &mut text);
        text
    }
}
