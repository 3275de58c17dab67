//! SQLite files of other programs.

use std::io::{BufWriter, stdout};
use std::path::Path;

use cosift_engine::SqliteFile;
use napi_derive::napi;

/// A SQLite file of another program, which is only read. Only for a process that does nothing else.
#[napi]
pub struct NativeSqliteFile {
    file: SqliteFile,
}

#[napi]
impl NativeSqliteFile {
    /// Opens a file that exists. Throws if it cannot be opened.
    #[napi(constructor)]
    pub fn new(path: String) -> napi::Result<Self> {
        SqliteFile::open(Path::new(&path))
            .map(|file| Self { file })
            .map_err(napi::Error::from_reason)
    }

    /// Runs a statement and writes its rows to standard output, each as a line with a JSON list. Then follows a line with an
    /// object: `{}`, or `{"error","is_busy"}`. Throws if the output is closed.
    #[napi]
    pub fn answer(&self, statement: String) -> napi::Result<()> {
        let mut output = BufWriter::with_capacity(1 << 16, stdout().lock());
        self.file
            .answer(&statement, &mut output)
            .map_err(|error| napi::Error::from_reason(error.to_string()))
    }
}
