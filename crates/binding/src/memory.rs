//! How the process gives freed memory back to the system.

/// Bytes from which on an allocation is given back as soon as it is freed.
const MAPPED_BYTES: libc::c_int = 1 << 20;

/// Bytes that may lie free at the end of a heap.
const FREE_BYTES: libc::c_int = 4 << 20;

/// Sets the limits of the allocator of the GNU C library. By itself, it raises the first to 32 MiB as such allocations
/// are freed, and keeps hundreds of megabytes that one request has taken.
#[napi_derive::module_init]
fn set_limits() {
    // SAFETY: `mallopt` takes any values, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, FREE_BYTES);
    }
}
