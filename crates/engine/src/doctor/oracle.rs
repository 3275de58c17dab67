//! Searches by brute force: plain sums of products over the vectors of the store.

use crate::doctor::record_check::is_findable;
use crate::record::{Data, OwnedValue, Vectors};
use crate::settings::Settings;
use crate::store::StoredRecord;

/// Results of a page that is compared.
pub(super) const PAGE: usize = 20;

/// A search whose results the oracle collects.
pub(super) struct Question {
    pub(super) vector: Vec<i32>,
    /// Only records whose column has this value, or a list with it.
    pub(super) equals: Option<(Box<str>, OwnedValue)>,
    /// Score and id, best first; equal scores by rising id.
    best: Vec<(u32, u64)>,
}

impl Question {
    pub(super) fn new(vector: Vec<i32>, equals: Option<(Box<str>, OwnedValue)>) -> Self {
        Self {
            vector,
            equals,
            best: Vec::with_capacity(PAGE + 1),
        }
    }

    /// The results, best first.
    pub(super) fn results(&self) -> &[(u32, u64)] {
        &self.best
    }

    fn admits(&self, data: &Data) -> bool {
        self.equals.as_ref().is_none_or(|(column, wanted)| {
            let mut elements = data
                .get(column)
                .into_iter()
                .flat_map(|value| value.borrow().elements());
            elements.any(|element| element == wanted.borrow())
        })
    }

    fn add(&mut self, score: u32, id: u64) {
        if self.best.len() == PAGE && self.best.last().is_some_and(|last| last.0 > score) {
            return;
        }
        let at = self.best.partition_point(|&(other, other_id)| {
            other > score || (other == score && other_id < id)
        });
        self.best.insert(at, (score, id));
        self.best.truncate(PAGE);
    }
}

/// All questions of an examination. Each vector is asked with and without a filter.
#[derive(Default)]
pub(super) struct Oracle {
    pub(super) questions: Vec<Question>,
}

impl Oracle {
    /// Shows a record to every question.
    pub(super) fn show(&mut self, settings: &Settings, data: &Data, record: &StoredRecord<'_>) {
        // Damaged passages are a finding of another check.
        let (true, Ok(vectors)) = (is_findable(settings, record), record.vectors()) else {
            return;
        };
        let mut last: Option<u32> = None;
        for at in 0..self.questions.len() {
            // The second question of a pair has the vector of the first.
            let score = match last.filter(|_| at % 2 == 1) {
                Some(score) => score,
                None => best_score(&self.questions[at].vector, &vectors),
            };
            last = Some(score);
            if self.questions[at].admits(data) {
                self.questions[at].add(score, record.header.id);
            }
        }
    }
}

/// The relevance score of a record: that of its best passage.
fn best_score(query: &[i32], record: &Vectors) -> u32 {
    record
        .all()
        .map(|vector| score(query, vector))
        .max()
        .unwrap_or(0)
}

/// The relevance score in steps of 1e-9: the cosine of two unit vectors in Q30, rounded to the nearest step; at most 64
/// steps below 1 counts as 1.
fn score(query: &[i32], record: &[i32]) -> u32 {
    // Both are unit vectors, so the sum is at most 2^60 and a little.
    let dot: i64 = query
        .iter()
        .zip(record)
        .map(|(&a, &b)| i64::from(a) * i64::from(b))
        .sum();
    let steps = (i128::from(dot) * 1_000_000_000 + (1 << 59)) >> 60;
    let steps = steps.clamp(0, 1_000_000_000) as u32;
    if steps >= 1_000_000_000 - 64 {
        1_000_000_000
    } else {
        steps
    }
}
