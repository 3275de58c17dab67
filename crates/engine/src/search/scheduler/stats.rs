//! How busy the scan threads are.

/// The load of the scan threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScannerStats {
    /// Searches that wait for a scan.
    pub waiting: usize,
    /// Shared scans under way.
    pub passes: usize,
    /// Searches answered since the start.
    pub answered: u64,
}
