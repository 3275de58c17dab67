//! The memory of tallies, which is limited for each request and for all of them.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use cosift_kernels::return_freed_memory;

use crate::error::Error;

/// Bytes of the tallies of one request.
const MAX_OF_REQUEST: usize = 128 << 20;

/// Bytes of the tallies of all requests of the process.
const MAX_OF_ALL: usize = 256 << 20;

/// Requests with more bytes of tallies return their memory at the end.
const RETURNED: usize = 16 << 20;

static OF_ALL: AtomicUsize = AtomicUsize::new(0);

/// The bytes of the tallies of a request.
#[derive(Debug)]
pub(crate) struct TallyMemory {
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
    /// The memory of a request that may have only `max_bytes`.
    #[cfg(test)]
    pub(crate) fn of_at_most(max_bytes: usize) -> Self {
        Self {
            bytes: AtomicUsize::new(0),
            max_bytes,
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Notes that the tallies of the request have `bytes`.
    pub(crate) fn set(&self, bytes: usize) {
        self.change(self.bytes.load(Relaxed), bytes);
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
    /// `refusal` for a request that needs more than one may have; [`Error::Busy`] when all requests together do.
    pub(crate) fn check(&self, refusal: impl FnOnce() -> Error) -> Result<(), Error> {
        if self.bytes.load(Relaxed) > self.max_bytes {
            return Err(refusal());
        }
        if OF_ALL.load(Relaxed) > MAX_OF_ALL {
            return Err(Error::Busy {
                what: "bytes of facets and distinct values",
                limit: MAX_OF_ALL,
            });
        }
        Ok(())
    }
}

impl Drop for TallyMemory {
    fn drop(&mut self) {
        let bytes = self.bytes.load(Relaxed);
        let of_others = OF_ALL.fetch_sub(bytes, Relaxed) - bytes;
        if bytes > RETURNED && of_others < RETURNED {
            return_freed_memory();
        }
    }
}
