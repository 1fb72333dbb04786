//! The memory of this process.

/// Gives back what was freed, and unmaps the pages of the program's code, of which starting needs much that nothing else does.
/// What is needed again is mapped again when it is touched, from the system's cache of files. Linux only.
pub fn give_back() {
    #[cfg(all(target_os = "linux", not(feature = "portable-launch")))]
    super::launch::give_back_memory();
}
