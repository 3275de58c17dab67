//! A range of time.

/// A range of time, both ends inclusive, in milliseconds since 1970. A range within a millisecond is empty: its start is
/// after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRange {
    /// The first millisecond inside.
    pub start: i64,
    /// The last millisecond inside.
    pub end: i64,
}

impl TimeRange {
    /// All of time.
    pub(crate) const ALWAYS: Self = Self {
        start: i64::MIN,
        end: i64::MAX,
    };
}
