//! Where the codes of a scan are read from.

use std::sync::LazyLock;

/// Where the codes of a scan are read from. It changes the time of a scan, not its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// A cache of the CPU. Prefetching the tiles of a scan takes longer than it saves.
    Cache,
    /// The memory.
    Memory,
}

impl Residence {
    /// Where codes are after they were read, if `bytes` of codes are read again and again in the same order.
    #[must_use]
    pub fn of(bytes: usize) -> Self {
        if bytes > *LAST_LEVEL_CACHE {
            Self::Memory
        } else {
            Self::Cache
        }
    }
}

/// The bytes of the largest cache of a CPU.
static LAST_LEVEL_CACHE: LazyLock<usize> = LazyLock::new(|| largest_cache().unwrap_or(USUAL_CACHE));

/// The largest cache of many servers, for a CPU that does not tell.
const USUAL_CACHE: usize = 32 << 20;

#[cfg(target_arch = "x86_64")]
fn largest_cache() -> Option<usize> {
    let caches = raw_cpuid::CpuId::new().get_cache_parameters()?;
    caches
        .map(|cache| {
            cache.sets()
                * cache.associativity()
                * cache.physical_line_partitions()
                * cache.coherency_line_size()
        })
        .max()
        .filter(|&bytes| bytes > 0)
}

#[cfg(not(target_arch = "x86_64"))]
fn largest_cache() -> Option<usize> {
    None
}
