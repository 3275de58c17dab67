//! How many files the process may have open.

/// The limit of the process; a large number where the system has none.
#[cfg(unix)]
pub(crate) fn max_open_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// The limit of the process; a large number where the system has none.
#[cfg(not(unix))]
pub(crate) fn max_open_files() -> usize {
    usize::MAX
}
