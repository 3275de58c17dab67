//! The table `meta`: which store it is, its state, and what it notes of the change feed.

use crate::store::error::StoreError;
use crate::store::inspection::findings::Findings;
use crate::store::inspection::inspected::Inspection;
use crate::store::meta::CREATED_AT;

/// Keys whose values are a sequence of entries, and the bytes of an entry.
const SEQUENCES: [(&str, usize); 4] = [
    ("stamps", 16),
    ("feed_marks", 16),
    ("feed_removed", 8),
    ("clock", 8),
];

/// Milliseconds of a day.
const DAY: i64 = 24 * 3600 * 1000;

impl Inspection {
    /// Checks what every store has. `now` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn meta_rows(&self, now: i64) -> Result<Findings, StoreError> {
        let mut findings = Findings::default();
        if self.identity.is_none() {
            findings
                .add("the id of the store or the epoch of its change feed is missing or damaged");
        }
        // The clock of another machine may be ahead.
        let is_time = |bytes: Vec<u8>| {
            let time = bytes.try_into().map(i64::from_le_bytes);
            time.is_ok_and(|time| (0..now + 366 * DAY).contains(&time))
        };
        if self.meta(CREATED_AT)?.is_some_and(|bytes| !is_time(bytes)) {
            findings.add("the time of its creation is damaged");
        }
        for (key, bytes) in SEQUENCES {
            let value = self.meta(key)?.unwrap_or_default();
            if value.len() % bytes != 0 {
                findings.add(format!("\"{key}\" is damaged"));
            }
        }
        Ok(findings)
    }
}
