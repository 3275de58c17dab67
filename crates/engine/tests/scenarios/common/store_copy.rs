//! A copy of a store that was closed: its SQLite file and its vector files.

use std::fs;
use std::path::Path;

pub(crate) struct StoreCopy(tempfile::TempDir);

impl StoreCopy {
    pub(crate) fn of(database: &Path) -> Self {
        let copy = tempfile::tempdir().expect("a directory");
        copy_store(database, copy.path());
        Self(copy)
    }

    /// Replaces the store of a database by this copy.
    pub(crate) fn put_back(&self, database: &Path) {
        fs::remove_dir_all(database.join(VECTORS)).expect("removed");
        copy_store(self.0.path(), database);
    }
}

const RECORDS: &str = "records.sqlite";
const VECTORS: &str = "vectors";

fn copy_store(from: &Path, to: &Path) {
    fs::copy(from.join(RECORDS), to.join(RECORDS)).expect("copied");
    fs::create_dir(to.join(VECTORS)).expect("made");
    for entry in fs::read_dir(from.join(VECTORS)).expect("listed") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(VECTORS).join(entry.file_name())).expect("copied");
    }
}
