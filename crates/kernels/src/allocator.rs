//! What the allocator of the process keeps.

/// Returns freed memory to the operating system where the allocator would keep it: the one of glibc gives back only what
/// lies at the end of a heap. Takes some milliseconds for each hundred megabytes.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(keep_bytes: usize) -> std::ffi::c_int;
        }
        // SAFETY: the function of glibc with the parameter and result of its manual. It may be called by any thread.
        unsafe { malloc_trim(0) };
    }
}
