//! Crash images of a data directory.

use std::fs;
use std::path::Path;

/// Copies a data directory in its current state, which is the state that a crash would leave.
pub(crate) fn image(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from)
        .expect("a directory")
        .map(|entry| entry.expect("an entry"))
    {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            image(&from, &to);
        } else {
            fs::copy(&from, &to).expect("copied");
        }
    }
}
