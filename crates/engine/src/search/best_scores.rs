//! The highest scores that records certainly reach.

use std::cmp::Reverse;

use crate::record::{Score, TopK};

/// The `places` highest of the lower bounds of records, one for each place of a page.
pub(crate) struct BestScores {
    top: TopK<Reverse<Score>>,
}

impl BestScores {
    /// No scores yet, for a page of `places` places.
    pub(crate) fn new(places: usize) -> Self {
        Self {
            top: TopK::new(places),
        }
    }

    /// Adds a score that one more record certainly reaches. Returns the lowest score kept, once every place is taken.
    pub(crate) fn add(&mut self, score: Score) -> Option<Score> {
        self.top.push(Reverse(score));
        self.top.last().map(|&Reverse(lowest)| lowest)
    }

    /// The score at a place, the first being 1; `None` when the place is not taken.
    pub(crate) fn at(&self, place: usize) -> Option<Score> {
        // `Reverse` puts the highest first.
        let mut scores: Vec<Reverse<Score>> = self.top.iter().copied().collect();
        let at = place.checked_sub(1).filter(|&at| at < scores.len())?;
        let (_, Reverse(score), _) = scores.select_nth_unstable(at);
        Some(*score)
    }
}
