//! What the process has: a clock, a number of files that it may open, and messages of the panics that it caught.

use std::any::Any;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, UTC.
pub(crate) fn now_ms() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64)
}

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

/// The available memory of the machine and all of it, bytes; `None` on systems that do not say so as Linux does.
pub(crate) fn available_memory() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kilobytes * 1024)
    };
    Some((bytes("MemAvailable:")?, bytes("MemTotal:")?))
}

/// The message of a caught panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic without a message".to_owned())
}
