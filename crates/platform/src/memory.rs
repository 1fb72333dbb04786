//! The memory of this process.

/// From which size on the allocator asks the system for a block of its own.
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
const LARGE_BYTES: i32 = 256 << 10;
/// How many heaps threads share.
#[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
const MAX_ARENAS: i32 = 4;

/// Bounds what a service keeps of memory that it has freed: large blocks, such as bodies of requests, go back to the
/// system at once, and threads share a few heaps. For glibc on Linux, which otherwise keeps both.
pub fn bound_allocator() {
    #[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
    super::launch::bound_allocator(LARGE_BYTES, MAX_ARENAS);
}
