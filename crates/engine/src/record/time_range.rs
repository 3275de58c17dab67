//! Times of records, and ranges of time.

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

/// One of a record's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordTime {
    /// When the record was first written.
    Created,
    /// When its content last changed.
    Changed,
    /// When it was last synced.
    Synced,
}

impl RecordTime {
    /// All times with their names.
    pub(crate) const ALL: [(Self, &'static str); 3] = [
        (Self::Created, "created"),
        (Self::Changed, "changed"),
        (Self::Synced, "synced"),
    ];

    /// The time with this name in requests of either variant.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "created_at" | "first_seen_time" => Some(Self::Created),
            "changed_at" | "last_changed_time" => Some(Self::Changed),
            "synced_at" | "last_seen_time" => Some(Self::Synced),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        // `ALL` lists the times in the order of the enum.
        Self::ALL[self as usize].1
    }
}
