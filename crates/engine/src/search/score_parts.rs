//! The parts of a record's score, for `explain`.

use crate::record::Score;

/// The parts of a record's score.
pub(crate) struct ScoreParts {
    /// The cosine of the vectors, clamped to 0..1.
    pub(crate) meaning: Score,
    pub(crate) others: OtherParts,
}

/// The parts of a record's score besides the cosine.
pub(crate) struct OtherParts {
    pub(crate) lexical: Score,
    /// In the order of the request; `None` for a search without boosts.
    pub(crate) boosts: Option<Vec<Score>>,
}

impl ScoreParts {
    /// Appends the member `score`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"score\":{\"meaning\":");
        self.meaning.write(out);
        out.extend_from_slice(b",\"lexical\":");
        self.others.lexical.write(out);
        if let Some(boosts) = &self.others.boosts {
            out.extend_from_slice(b",\"boosts\":[");
            for (at, boost) in boosts.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                boost.write(out);
            }
            out.push(b']');
        }
        out.push(b'}');
    }
}
