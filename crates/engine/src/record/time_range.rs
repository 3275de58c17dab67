//! A window of time.

/// A window of time, both ends inclusive, milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRange {
    /// First moment inside.
    pub start: i64,
    /// Last moment inside.
    pub end: i64,
}

impl TimeRange {
    /// All of time.
    pub(crate) const ALWAYS: Self = Self {
        start: i64::MIN,
        end: i64::MAX,
    };
}
