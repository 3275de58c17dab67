//! How the process gives freed memory back to the system.

/// Allocations of at least so many bytes are unmapped when they are freed.
const MAPPED_BYTES: libc::c_int = 1 << 20;

/// Free bytes at the end of a heap above which it is trimmed.
const FREE_BYTES: libc::c_int = 4 << 20;

/// Sets the limits of the allocator of the GNU C library, except those that the environment sets. By itself, it raises the
/// first to 32 MiB as such allocations are freed, and keeps hundreds of megabytes that one request has taken.
#[napi_derive::module_init]
fn set_limits() {
    let limits = [
        (
            "MALLOC_MMAP_THRESHOLD_",
            libc::M_MMAP_THRESHOLD,
            MAPPED_BYTES,
        ),
        ("MALLOC_TRIM_THRESHOLD_", libc::M_TRIM_THRESHOLD, FREE_BYTES),
    ];
    for (variable, parameter, bytes) in limits {
        if std::env::var_os(variable).is_none() {
            // SAFETY: `mallopt` only changes a parameter of the allocator, under its lock. A refused value changes nothing.
            unsafe { libc::mallopt(parameter, bytes) };
        }
    }
}
