//! SQLite files of other programs, which are only read.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde_json::{Value, json};

/// How long a statement waits for a program that writes.
const BUSY: Duration = Duration::from_secs(5);

/// A SQLite file of another program, which is only read.
///
/// It must not be opened in the process of a program that has the file open too: when a process closes a file, it loses all
/// its POSIX locks on the file.
pub struct SqliteFile {
    connection: Connection,
}

impl SqliteFile {
    /// Opens a file that exists.
    ///
    /// # Errors
    ///
    /// Why the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, String> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || {
            let connection = Connection::open_with_flags(path, flags)?;
            connection.busy_timeout(BUSY)?;
            connection.pragma_update(None, "query_only", true)?;
            Ok(connection)
        };
        let connection: Result<Connection, rusqlite::Error> = open();
        connection
            .map(|connection| Self { connection })
            .map_err(|error| error.to_string())
    }

    /// Runs a statement and writes each row as a line: a JSON list of its values. Blobs, infinite numbers and texts that are
    /// not UTF-8, which JSON does not have, are objects that say what they are. The last line is an object: `{}`, or
    /// `{"error","is_busy"}`.
    ///
    /// # Errors
    ///
    /// If the output fails.
    pub fn answer(&self, statement: &str, output: &mut impl Write) -> io::Result<()> {
        let end = match self.write_rows(statement, output) {
            Ok(()) => json!({}),
            Err(Failure::Output(error)) => return Err(error),
            Err(Failure::Statement(error)) => json!({
                "error": error.to_string(),
                "is_busy": matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
                ),
            }),
        };
        writeln!(output, "{end}")?;
        output.flush()
    }

    fn write_rows(&self, statement: &str, output: &mut impl Write) -> Result<(), Failure> {
        let mut statement = self.connection.prepare(statement)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                output.write_all(if column == 0 { b"[" } else { b"," })?;
                write_value(row.get_ref(column)?, output)?;
            }
            output.write_all(b"]\n")?;
        }
        Ok(())
    }
}

enum Failure {
    Statement(rusqlite::Error),
    Output(io::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Statement(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn write_value(value: ValueRef<'_>, output: &mut impl Write) -> io::Result<()> {
    let json = match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(integer) => return write!(output, "{integer}"),
        ValueRef::Real(real) if real.is_finite() => json!(real),
        ValueRef::Real(_) => json!({ "value": "an infinite number" }),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => json!(text),
            Err(_) => json!({ "value": "a text that is not UTF-8" }),
        },
        ValueRef::Blob(_) => json!({ "value": "a blob" }),
    };
    serde_json::to_writer(output, &json).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn values_are_written_exactly() -> Result<(), Box<dyn Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("values.db");
        let writer = Connection::open(&path)?;
        writer.execute_batch(
            "CREATE TABLE t (a); INSERT INTO t VALUES (9223372036854775807), (0.1), (1e300), ('a\"\n'), (NULL), \
             (x'00'), (CAST(x'ff' AS TEXT)), (9e999), (2.0)",
        )?;
        let file = SqliteFile::open(&path)?;
        let answer = |statement: &str| -> Result<String, Box<dyn Error>> {
            let mut output = Vec::new();
            file.answer(statement, &mut output)?;
            Ok(String::from_utf8(output)?)
        };
        assert_eq!(
            answer("SELECT a FROM t ORDER BY rowid")?,
            "[9223372036854775807]\n[0.1]\n[1e+300]\n[\"a\\\"\\n\"]\n[null]\n[{\"value\":\"a blob\"}]\n\
             [{\"value\":\"a text that is not UTF-8\"}]\n[{\"value\":\"an infinite number\"}]\n[2.0]\n{}\n"
        );
        assert!(answer("DELETE FROM t")?.contains("\"error\""));
        assert!(answer("SELECT b FROM t")?.contains("no such column: b"));
        let version = answer("PRAGMA data_version")?;
        assert_eq!(version, answer("PRAGMA data_version")?);
        writer.execute_batch("DELETE FROM t")?;
        assert_ne!(version, answer("PRAGMA data_version")?);
        Ok(())
    }
}
