//! The member `highlights` of a result: which of its words match those of the search.

use crate::columns::{ColumnId, ColumnNames};
use crate::json::write_integer;
use crate::runtime::{StopCheck, Stopped};
use crate::search::lexical_signal::LexicalSignal;
use crate::snapshot::Block;

/// Bytes that a byte of words counts for in the stop check.
const WORD_COST: usize = 16;

/// Finds the words of records that match those of a search. `None` for a search in which words do not count.
pub(crate) struct Highlights<'a>(pub(crate) Option<&'a LexicalSignal>);

impl Highlights<'_> {
    /// Writes an object with the places of the words that match in each column of a record, in UTF-16 code units. It has
    /// the columns of `shown`, which are ascending, or all for `None`, as far as they have such words.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn write(
        &self,
        (block, slot): (&Block, usize),
        names: &ColumnNames,
        shown: Option<&[ColumnId]>,
        stop_check: &StopCheck<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Stopped> {
        let mut stopped = Ok(());
        out.push(b'{');
        let start = out.len();
        let query = self.0.and_then(|signal| signal.query.as_ref());
        if let (Some(signal), Some(query)) = (self.0, query) {
            let columns = &block.body.columns;
            signal.columns.each_text(columns, slot, |id, text| {
                if shown.is_some_and(|shown| shown.binary_search(&id).is_err()) {
                    return;
                }
                stopped = stopped.and_then(|()| stop_check.before_testing(WORD_COST * text.len()));
                if stopped.is_err() {
                    return;
                }
                let places = query.highlights(text, signal.columns.part_of(id));
                if places.is_empty() {
                    return;
                }
                if out.len() > start {
                    out.push(b',');
                }
                out.extend_from_slice(names.member(id));
                for (at, place) in places.into_iter().enumerate() {
                    out.extend_from_slice(if at == 0 { b"[[" } else { b",[" });
                    write_integer(place.start as u64, out);
                    out.push(b',');
                    write_integer(place.end as u64, out);
                    out.push(b']');
                }
                out.push(b']');
            });
        }
        out.push(b'}');
        stopped
    }
}
