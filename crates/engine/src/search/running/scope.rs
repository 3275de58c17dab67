//! The records that a search may find.

use std::sync::Arc;

use crate::columns::Mask;
use crate::filter::BoundFilter;
use crate::lexical::{MAX_WORDS, count_words};
use crate::record::RecordRow;
use crate::runtime::{StopCheck, Stopped};
use crate::search::request::Search;
use crate::search::running::match_counts::MAX_COUNTED;
use crate::search::running::waiting::{Found, WaitingSearch};
use crate::snapshot::{Block, Selection, Snapshot};

/// Words of a search, times records, from which on the search has many words.
const MANY_WORDS: usize = 2_000_000;

/// A snapshot, and the part of it that filter and time range select.
pub(crate) struct Scope {
    pub(crate) snapshot: Arc<Snapshot>,
    selection: Selection,
    /// Rules that are expensive to evaluate and keep many records: they are evaluated on the best candidates only.
    deferred_rules: Option<BoundFilter>,
    /// Whether the search was found to be expensive.
    pub(crate) is_expensive: bool,
    /// Whether the search compares so many words with so many records that no other search may wait for it.
    pub(crate) has_many_words: bool,
    /// The row of the record that the cursor names, if the search finds that record.
    pub(crate) cursor_row: Option<RecordRow>,
}

impl Scope {
    /// Binds the filters of a search to the snapshot that was found at its arrival, or to the newest.
    pub(crate) fn of(waiting: &mut WaitingSearch) -> Self {
        let WaitingSearch {
            database,
            request,
            stop,
            masks,
            found,
            ..
        } = waiting;
        let Found {
            snapshot,
            cursor_row,
            excluded,
        } = (found.clone()).unwrap_or_else(|| Found::new(&database.published.read(), request));
        let mut selection = Selection::bind(
            &snapshot,
            request.common.filter.as_ref(),
            request.common.time_range,
        );
        selection.require_vector();
        selection.exclude(excluded);
        // Callers can make cursors of their own: a record that is hidden from the caller must not decide a position.
        let stop_check = StopCheck::new(stop);
        let cursor_row =
            cursor_row.filter(|row| selection.holds(snapshot.at(*row), &stop_check) == Ok(true));
        let look_up = || database.filters.get(request.common.filter_key, &snapshot);
        selection.use_masks(masks.get_or_insert_with(look_up).clone());
        Self {
            has_many_words: has_many_words(request, snapshot.records()),
            snapshot,
            selection,
            deferred_rules: None,
            is_expensive: false,
            cursor_row,
        }
    }

    /// Whether the filter of the search takes longer than `max_ns` nanoseconds, or the search has many words, groups many
    /// records, makes a map or shows vectors.
    pub(crate) fn takes_longer(&self, max_ns: f64, request: &Search) -> bool {
        let groups_many =
            request.common.distinct.is_some() && self.snapshot.records() > MAX_COUNTED;
        if self.has_many_words || groups_many || request.common.writes_vectors() {
            return true;
        }
        let explained = request.common.explained();
        self.selection
            .takes_longer(max_ns, &self.snapshot, explained)
    }

    /// Defers the rules that are cheaper to evaluate on the best candidates than on all records.
    pub(crate) fn defer_rules(&mut self, stop_check: &StopCheck<'_>) {
        // A search that is stopped finds nothing, whatever its rules are.
        let deferred = self
            .selection
            .split_off_expensive(&self.snapshot, stop_check);
        self.deferred_rules = deferred.unwrap_or_default();
    }

    /// The records of a block that pass every rule that is not deferred.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn mask(&self, block: &Block, stop_check: &StopCheck<'_>) -> Result<Mask, Stopped> {
        self.selection.mask(block, stop_check)
    }

    /// Whether rules are deferred.
    pub(crate) fn defers_rules(&self) -> bool {
        self.deferred_rules.is_some()
    }

    /// Whether a record passes the deferred rules. Once the search is stopped, no record does.
    pub(crate) fn passes_deferred(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> bool {
        self.deferred_rules
            .as_ref()
            .is_none_or(|rules| rules.matches(&block.body.columns, slot, stop_check) == Ok(true))
    }
}

fn has_many_words(request: &Search, records: usize) -> bool {
    let lexical = request.lexical.as_ref();
    lexical.is_some_and(|lexical| {
        records * MAX_WORDS >= MANY_WORDS && records * count_words(&lexical.text) >= MANY_WORDS
    })
}
