//! Scores of several parts: the cosine, the lexical score, and the boosts.

use crate::columns::{ColumnNames, Mask};
use crate::lexical::{BlockMatches, WordColumns};
use crate::record::{Extra, Score, Weight};
use crate::runtime::{StopCheck, Stopped};
use crate::search::boosts::{BlockBoosts, BoundBoosts};
use crate::search::lexical_signal::LexicalSignal;
use crate::search::passages::PassageWords;
use crate::search::request::Search;
use crate::search::score_parts::OtherParts;
use crate::snapshot::{Block, Snapshot};

/// The parts of the scores of a search, bound to the columns of a database.
#[derive(Debug)]
pub(crate) struct Blend {
    /// The weight of the cosine, which the other parts leave.
    pub(crate) cosine: Weight,
    pub(crate) lexical: Option<LexicalSignal>,
    /// `None` for a search without boosts.
    boosts: Option<BoundBoosts>,
}

/// The parts of the scores of a block besides the cosine.
pub(crate) struct BlockParts {
    /// The records that have words of the search; `None` for a search without words.
    words: Option<Box<BlockMatches>>,
    boosts: Option<BlockBoosts>,
    /// The records whose other parts may exceed [`BlendOfBlock::high`].
    above_high: Mask,
}

impl Default for BlockParts {
    fn default() -> Self {
        Self {
            words: None,
            boosts: None,
            above_high: Mask::empty(),
        }
    }
}

impl Blend {
    /// The parts of the scores of a search; `None` for a search whose scores are cosines.
    pub(crate) fn bind(search: &Search, words: &WordColumns, names: &ColumnNames) -> Option<Self> {
        let lexical = search.lexical.as_ref();
        let boosts = (!search.boosts.is_empty()).then(|| BoundBoosts::bind(&search.boosts, names));
        (lexical.is_some() || boosts.is_some()).then(|| Self {
            cosine: search.cosine_weight,
            lexical: lexical.map(|lexical| LexicalSignal::bind(lexical, words, names)),
            boosts,
        })
    }

    /// The parts of a record's score.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn parts(
        &self,
        block: &Block,
        slot: usize,
        stop_check: &StopCheck<'_>,
    ) -> Result<OtherParts, Stopped> {
        let lexical = self.lexical.as_ref();
        let boosts = self.boosts.as_ref();
        Ok(OtherParts {
            lexical: lexical.map_or(Score(0), |signal| signal.score(block, slot, u64::MAX)),
            boosts: boosts
                .map(|boosts| boosts.of_record(block, slot, stop_check))
                .transpose()?,
        })
    }

    /// What the words of a passage count; `None` for a search without words.
    pub(crate) fn words_of_passages(&self) -> Option<PassageWords<'_>> {
        let signal = self.lexical.as_ref()?;
        let query = signal.query.as_ref()?;
        Some(PassageWords {
            query,
            cosine: self.cosine,
            weight: signal.weight(),
        })
    }

    /// The weighted sum of the parts of a record's score.
    pub(crate) fn extra(&self, parts: &OtherParts) -> Extra {
        let lexical = self.lexical.as_ref();
        let words = lexical.map_or(Extra::default(), |signal| signal.weight().of(parts.lexical));
        match (&self.boosts, &parts.boosts) {
            (Some(boosts), Some(of_record)) => words + boosts.sum(of_record),
            _ => words,
        }
    }

    /// Finds what the records of `within` have of the parts. The buffers of earlier blocks are used again.
    ///
    /// # Errors
    /// [`Stopped`].
    pub(crate) fn find(
        &self,
        block: &Block,
        within: &Mask,
        stop_check: &StopCheck<'_>,
        parts: &mut BlockParts,
    ) -> Result<(), Stopped> {
        match &self.lexical {
            Some(signal) => signal.find_matches(block, parts.words.get_or_insert_default()),
            None => parts.words = None,
        }
        match &self.boosts {
            Some(boosts) => {
                let found = parts.boosts.get_or_insert_default();
                boosts.find(block, within, stop_check, found)?;
            }
            None => parts.boosts = None,
        }
        parts.above_high = match &parts.boosts {
            Some(boosts) => boosts.above_high(within),
            None => Mask::empty(),
        };
        if let Some(words) = &parts.words {
            parts.above_high.or(words.rows());
        }
        Ok(())
    }

    /// Whether the boosts of all records of a snapshot take longer than `max_ns` nanoseconds.
    pub(crate) fn takes_longer(&self, max_ns: f64, snapshot: &Snapshot) -> bool {
        let Some(boosts) = &self.boosts else {
            return false;
        };
        let mut cost = 0.0;
        let mut blocks = snapshot.blocks.iter();
        blocks.any(|block| {
            cost += boosts.cost(block);
            cost > max_ns
        })
    }
}

/// The parts of the scores of a block, and the search that they are of.
#[derive(Clone, Copy)]
pub(crate) struct BlendOfBlock<'a> {
    blend: &'a Blend,
    block: &'a Block,
    parts: &'a BlockParts,
}

impl<'a> BlendOfBlock<'a> {
    pub(crate) fn new(blend: &'a Blend, block: &'a Block, parts: &'a BlockParts) -> Self {
        Self {
            blend,
            block,
            parts,
        }
    }

    /// The weight of the cosine.
    pub(crate) fn cosine(&self) -> Weight {
        self.blend.cosine
    }

    /// Whether the other parts of a record may add to its score.
    pub(crate) fn has_others(&self, slot: usize) -> bool {
        self.parts.boosts.is_some() || self.with_words().is_some_and(|words| words.get(slot))
    }

    /// What the other parts of a record certainly add to its score.
    pub(crate) fn lowest(&self, slot: usize) -> Extra {
        self.sum(slot, |signal, matches| signal.lowest(matches, slot))
    }

    /// What the other parts of a record add to its score at most.
    pub(crate) fn highest(&self, slot: usize) -> Extra {
        self.sum(slot, |signal, matches| match &signal.query {
            Some(query) => matches.highest(query, slot),
            None => Score(0),
        })
    }

    /// What the other parts of a record add to its score.
    pub(crate) fn exact(&self, slot: usize) -> Extra {
        self.sum(slot, |signal, matches| {
            signal.score(self.block, slot, matches.found(slot))
        })
    }

    /// What the other parts of a record of the block add to its score at most.
    pub(crate) fn highest_of_all(&self) -> Extra {
        let words = self
            .words()
            .map(|(signal, matches)| signal.weight().of(matches.highest_score()));
        words.unwrap_or_default() + self.highest_boosts()
    }

    /// What the boosts of a record of the block add to its score at most.
    pub(crate) fn highest_boosts(&self) -> Extra {
        let boosts = self.parts.boosts.as_ref();
        boosts.map_or(Extra::default(), BlockBoosts::highest)
    }

    /// What the other parts add to the score of most records at most.
    pub(crate) fn high(&self) -> Extra {
        let boosts = self.parts.boosts.as_ref();
        boosts.map_or(Extra::default(), BlockBoosts::high)
    }

    /// The records whose other parts may exceed [`BlendOfBlock::high`].
    pub(crate) fn above_high(&self) -> &'a Mask {
        &self.parts.above_high
    }

    /// The records that have words of the search; `None` for a search without words.
    fn with_words(&self) -> Option<&'a Mask> {
        self.words().map(|(_, matches)| matches.rows())
    }

    /// Removes the records of `mask` whose score is below `floor` whatever their cosine.
    pub(crate) fn remove_unreachable(&self, mask: &mut Mask, floor: Score) {
        let needed = self.cosine().extra_needed(floor);
        if needed == Extra::default() {
            return;
        }
        let words = self.with_words();
        let Some(boosts) = &self.parts.boosts else {
            words.into_iter().for_each(|words| mask.and(words));
            return;
        };
        let mut reaching = boosts.at_least(needed, mask);
        if let Some(words) = words {
            let with_words = mask.iter().filter(|&slot| words.get(slot));
            let reaches = |slot: &usize| self.highest(*slot) >= needed;
            with_words
                .filter(reaches)
                .for_each(|slot| reaching.set(slot));
        }
        *mask = reaching;
    }

    fn words(&self) -> Option<(&'a LexicalSignal, &'a BlockMatches)> {
        self.blend.lexical.as_ref().zip(self.parts.words.as_deref())
    }

    /// The sum of a record's boosts and of its lexical score, which is computed only for a record with words.
    fn sum(
        &self,
        slot: usize,
        lexical: impl FnOnce(&LexicalSignal, &BlockMatches) -> Score,
    ) -> Extra {
        let words = self.words().filter(|(_, matches)| matches.rows().get(slot));
        let words = words.map(|(signal, matches)| signal.weight().of(lexical(signal, matches)));
        let boosts = self.parts.boosts.as_ref().map(|boosts| boosts.of(slot));
        words.unwrap_or_default() + boosts.unwrap_or_default()
    }
}
