//! How busy the scan threads are.

/// The load of the scan threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchStats {
    /// Searches that wait for a scan.
    pub waiting: usize,
    /// Shared scans in progress.
    pub shared_scans: usize,
    /// Searches answered since the start.
    pub answered: u64,
}
