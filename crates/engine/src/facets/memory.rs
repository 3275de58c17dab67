//! The memory of tallies, which is limited for each request and for all of them. A facet of unique texts needs about 50
//! bytes for each record.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::Error;

/// Bytes of the tallies of one request.
const MAX_OF_REQUEST: usize = 192 << 20;

/// Bytes of the tallies of all requests of the process.
const MAX_OF_ALL: usize = 384 << 20;

static OF_ALL: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the tallies of a request.
#[derive(Debug)]
pub(super) struct TallyMemory {
    bytes: AtomicUsize,
    pub(super) max_bytes: usize,
}

impl Default for TallyMemory {
    fn default() -> Self {
        Self {
            bytes: AtomicUsize::new(0),
            max_bytes: MAX_OF_REQUEST,
        }
    }
}

impl TallyMemory {
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Notes that tallies of the request had `before` bytes, and have `after` now.
    pub(super) fn change(&self, before: usize, after: usize) {
        // Differences below zero wrap around, and so do the sums.
        let difference = after.wrapping_sub(before);
        self.bytes.fetch_add(difference, Relaxed);
        OF_ALL.fetch_add(difference, Relaxed);
    }

    /// Whether tallies must be merged: each thread has its own, and equal values are counted in all of them.
    pub(super) fn is_scarce(&self) -> bool {
        self.bytes.load(Relaxed) > self.max_bytes / 2 || OF_ALL.load(Relaxed) > MAX_OF_ALL / 2
    }

    /// Checks the limits.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a request that needs more than one may have; [`Error::Busy`] when all requests together do.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.bytes.load(Relaxed) > self.max_bytes {
            let detail = "the matches have too many different values to be counted at once: take fewer facets, or a filter";
            return Err(Error::request("/facets", detail));
        }
        if OF_ALL.load(Relaxed) > MAX_OF_ALL {
            return Err(Error::Busy {
                what: "bytes of facets",
                limit: MAX_OF_ALL,
            });
        }
        Ok(())
    }
}

impl Drop for TallyMemory {
    fn drop(&mut self) {
        OF_ALL.fetch_sub(self.bytes.load(Relaxed), Relaxed);
    }
}
