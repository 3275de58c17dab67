//! Answering a search whose blocks were scanned.

use std::sync::Arc;

use crate::error::Error;
use crate::lexical::TextColumns;
use crate::record::{Extra, Hit, Position, Ranked, Score, Variant, cursor};
use crate::reply::caught;
use crate::search::blend::Blend;
use crate::search::caches::Counted;
use crate::search::explain::Report;
use crate::search::highlights::Highlights;
use crate::search::page::{Page, PageContent, PagePosition};
use crate::search::passages::PassageWriter;
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
    let (hits, group_sizes): (Vec<Hit>, Vec<u32>) = find_hits(search)?.into_iter().unzip();
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
    let best = |block: &Block, slot: usize, count| search.query.best_passages(block, slot, count);
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
        group_sizes: request.shows_groups().then_some(&group_sizes),
        passages: search
            .request
            .passages
            .needs_vectors()
            .then(|| PassageWriter {
                request: search.request.passages,
                best: &best,
                words: (search.blend.as_ref()).and_then(Blend::words_of_passages),
                embedded: TextColumns::new(
                    search.database.embed.as_deref(),
                    &search.snapshot().names,
                ),
            }),
        highlights: (search.request.highlights).then_some(Highlights(words)),
        explain: explain.map(|explain| (explain, report())),
        score_parts: score_parts(search, &hits)?,
    };
    let body = content.write(&search.outcome.stop_check())?;
    Ok(Page::new(body, search.timing.arrived))
}

/// The hits of the page in order, and those that were found beyond it, with the sizes of their groups.
fn find_hits(search: &RunningSearch) -> Result<Vec<(Hit, u32)>, Error> {
    if let Some(hits) = &search.cached.hits {
        return Ok(hits.clone());
    }
    let snapshot = search.snapshot();
    let hit = |row, extra: Option<Extra>| {
        // Each score may wait for the disk.
        search.outcome.check()?;
        let (block, slot) = snapshot.at(row);
        let score = match extra {
            Some(extra) => search.blended(search.cosine(block, slot)?, extra),
            None => search.score(block, slot)?,
        };
        Ok(search.hit(block, slot, score))
    };
    if let Some(groups) = &search.groups {
        groups.rank(&search.ranking, |row| hit(row, None))?;
    }
    let hits = (search.ranking).finish(|row, extra| hit(row, Some(extra)))?;
    let shows_groups = search.request.common.shows_groups();
    let groups = search.groups.as_ref().filter(|_| shows_groups);
    let size_of = |row| groups.map_or(0, |groups| groups.matches_with(row));
    let hits = hits.into_iter().map(|hit| (hit, size_of(hit.row)));
    let hits: Vec<(Hit, u32)> = hits.collect();
    if let (Some(start), Some(key), false) = (
        search.ranking.start(),
        search.cached.key,
        search.match_counts.counts_all(),
    ) {
        let (after, size) = (*start.position(), search.ranking.size());
        let pages = &search.database.pages;
        pages.insert(key, snapshot, after, &hits, size);
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

/// What the search counts over all its matches and results.
fn count_matches(search: &RunningSearch) -> Result<Arc<Counted>, Error> {
    let stop_check = &search.outcome.stop_check();
    let groups = search.groups.as_ref();
    let results = |matches| groups.map_or(matches, |groups| groups.results(matches));
    let counted = (search.match_counts).finish(&search.request.common, results, stop_check)?;
    if let (Some(key), true) = (search.cached.key, search.match_counts.counts_all()) {
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
