//! Pages of records that a store outside of the engine has selected.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::error::Error;
use crate::lexical::{TextColumns, WordColumns};
use crate::record::{Hit, IdKey, Position, Ranked, RecordRow, RecordUuid, Score, Variant};
use crate::runtime::StopCheck;
use crate::search::blend::Blend;
use crate::search::common::Common;
use crate::search::explain::Report;
use crate::search::highlights::Highlights;
use crate::search::page::{PageContent, PagePosition};
use crate::search::passages::{BestPassages, PassageWriter};
use crate::search::request::Search;
use crate::search::score_parts::ScoreParts;
use crate::snapshot::Snapshot;

/// How a store selected the records of a response.
#[derive(Clone, Debug, Default)]
pub struct ExternalSelection {
    /// The number of all matches, if the request asks for it.
    pub total: Option<u64>,
    /// The member `facets` as JSON, if the request asks for it.
    pub facets: Option<Vec<u8>>,
    /// How many matches have the value of each record, if the request asks for it.
    pub group_sizes: Option<Vec<u32>>,
    /// Records that exist for the caller.
    pub records: u64,
    /// Numbers of records by what was done with them.
    pub counters: Vec<(&'static str, u64)>,
    /// How long the selection took.
    pub scan: Duration,
}

/// What a response with selected records is written from.
pub(crate) struct Selected<'a> {
    /// The records of the page in order, and the first one after it if there is one.
    pub(crate) snapshot: &'a Snapshot,
    /// The fingerprint of the model that made their vectors.
    pub(crate) fingerprint: Option<&'a str>,
    pub(crate) selection: &'a ExternalSelection,
    /// When the request arrived.
    pub(crate) arrived: Instant,
}

impl Selected<'_> {
    /// Writes the response; see [`PageContent`] for `records`, `passages`, `highlights` and `score_parts`.
    pub(super) fn write<P: PagePosition>(
        &self,
        request: &Common,
        records: &[Ranked<P>],
        passages: Option<PassageWriter<'_>>,
        highlights: Option<Highlights<'_>>,
        score_parts: Vec<ScoreParts>,
    ) -> Result<Vec<u8>, Error> {
        let selection = self.selection;
        let explain = request.explain.as_ref();
        let explain = explain.map(|explain| explain.bind(&self.snapshot.names));
        let report = || Report {
            records: Some(selection.records),
            counters: selection.counters.clone(),
            arrived: self.arrived,
            waited: None,
            scan: selection.scan,
            of_all_records: Vec::new(),
        };
        let content = PageContent {
            request,
            snapshot: self.snapshot,
            fingerprint: self.fingerprint,
            records,
            total: selection.total,
            facets: selection.facets.as_ref(),
            group_sizes: selection.group_sizes.as_ref(),
            passages,
            highlights,
            explain: explain.as_ref().map(|explain| (explain, report())),
            score_parts,
        };
        content.write(&StopCheck::never())
    }
}

impl Search {
    /// What a store needs to select the records of the page.
    pub(crate) fn plan(&self) -> Value {
        let cursor = self.cursor.map(|position| {
            json!({ "score": position.score.0, "id": id_text(self.common.variant, position.id) })
        });
        let mut plan = self.common.plan();
        plan["limit"] = self.common.limit.into();
        plan["threshold"] = json!(Score::at_least(self.threshold).map(|score| score.0));
        plan["cursor"] = json!(cursor);
        let is_blended = self.lexical.is_some() || !self.boosts.is_empty();
        plan["cosine_weight"] = json!(is_blended.then(|| self.cosine_weight.value()));
        plan["passages"] = self.passages.needs_vectors().into();
        plan
    }

    /// The parts of the scores, bound to the columns of a snapshot; see [`Blend::bind`].
    pub(crate) fn blend(&self, words: &WordColumns, snapshot: &Snapshot) -> Option<Blend> {
        Blend::bind(self, words, &snapshot.names)
    }

    /// Writes the response. `scores` are those of the selected records; `parts` are the parts of their scores, if the
    /// request asks to explain scores of several parts. `best` finds the best passages of a record, which are of the
    /// columns `embedded`. `blend` are the parts of the scores, if there are several.
    ///
    /// # Errors
    /// The error of a vector that cannot be read.
    pub(crate) fn page_of(
        &self,
        selected: &Selected<'_>,
        scores: &[Score],
        parts: Vec<ScoreParts>,
        (best, embedded): (&BestPassages<'_>, TextColumns),
        blend: Option<&Blend>,
    ) -> Result<Vec<u8>, Error> {
        let hits: Vec<Hit> = rows_of(selected.snapshot, self.common.variant)
            .zip(scores)
            .map(|((row, id), &score)| Ranked {
                position: Position { score, id },
                row,
            })
            .collect();
        let passages = self.passages.needs_vectors().then_some(PassageWriter {
            request: self.passages,
            best,
            embedded,
            words: blend.and_then(Blend::words_of_passages),
        });
        let signal = blend.and_then(|blend| blend.lexical.as_ref());
        let highlights = self.highlights.then_some(Highlights(signal));
        selected.write(&self.common, &hits, passages, highlights, parts)
    }
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
        Variant::B | Variant::Both => id.0.to_string(),
    }
}
