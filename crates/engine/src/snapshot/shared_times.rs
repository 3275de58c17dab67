//! Shares equal times of a block in memory.

use std::sync::Arc;

use crate::columns::Integers;

/// Shares the times of creation, change and last sync where all those of a block are equal, as after most imports.
pub(super) fn share_times(
    created: Integers,
    changed: Integers,
    synced: Integers,
) -> [Arc<Integers>; 3] {
    let created = Arc::new(created);
    let changed = share_equal(changed, &[&created]);
    let synced = share_equal(synced, &[&changed, &created]);
    [created, changed, synced]
}

/// Returns the one of `others` that equals `times`, or else `times`.
pub(super) fn share_equal(times: Integers, others: &[&Arc<Integers>]) -> Arc<Integers> {
    let equal = others.iter().copied().find(|other| ***other == times);
    equal.map_or_else(|| Arc::new(times), Arc::clone)
}

/// Bytes on the heap. Times that are shared count once.
pub(super) fn times_memory_bytes(times: [&Arc<Integers>; 3]) -> usize {
    let is_first = |at: &usize| {
        !times[..*at]
            .iter()
            .any(|other| Arc::ptr_eq(other, times[*at]))
    };
    let first = (0..times.len()).filter(is_first);
    first.map(|at| times[at].memory_bytes()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_in_memory_once() {
        let [early, late] = [0, 700_000].map(|first| {
            let times: Vec<i64> = (first..first + 100_000).step_by(1_000).collect();
            Integers::build(&times)
        });
        let bytes = early.memory_bytes();
        for (which, kept) in [
            ([&early, &early, &early], 1),
            ([&early, &early, &late], 2),
            ([&early, &late, &early], 2),
            ([&early, &late, &late], 2),
        ] {
            let [created, changed, synced] = which.map(Integers::clone);
            let shared = share_times(created, changed, synced);
            assert_eq!(shared.each_ref().map(|times| &**times), which);
            assert_eq!(times_memory_bytes(shared.each_ref()), kept * bytes);
        }
    }
}
