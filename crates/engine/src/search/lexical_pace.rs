//! How long the words of a search take in one block, as measured, so that a scan shares its parts among few such searches.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// How long a part of a shared scan may take for the words of its searches. Searches of other databases wait that long.
const PART: Duration = Duration::from_millis(20);

/// The time of the words of a search in a block of one database.
#[derive(Default)]
pub(crate) struct LexicalPace {
    /// Nanoseconds; 0 until the first part of a scan is measured.
    block_ns: AtomicU64,
}

impl LexicalPace {
    /// Takes account of a part that took `time` for `searches` searches with words in `blocks` blocks. One part counts little,
    /// because a thread may have waited for a processor.
    pub(crate) fn observe(&self, time: Duration, searches: usize, blocks: usize) {
        let measured = time.as_nanos() as u64 / (searches * blocks).max(1) as u64;
        let before = self.block_ns.load(Relaxed);
        let after = match before {
            0 => measured,
            _ => before - before / 4 + measured / 4,
        }
        .max(1);
        self.block_ns.store(after, Relaxed);
    }

    /// How many searches with words may share a scan: at least one, and no more until a part was measured.
    pub(crate) fn searches_of_a_scan(&self) -> usize {
        match self.block_ns.load(Relaxed) {
            0 => 1,
            ns => (PART.as_nanos() as u64 / ns).max(1) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_searches_share_a_scan_where_words_take_long() {
        let pace = LexicalPace::default();
        assert_eq!(pace.searches_of_a_scan(), 1);
        pace.observe(Duration::from_millis(400), 4, 2);
        assert_eq!(pace.searches_of_a_scan(), 1);
        for _ in 0..100 {
            pace.observe(Duration::from_millis(1), 1, 1);
        }
        assert_eq!(pace.searches_of_a_scan(), 19);
        pace.observe(Duration::from_millis(5), 1, 1);
        assert_eq!(pace.searches_of_a_scan(), 9);
    }
}
