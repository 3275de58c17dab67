//! The structure of the file: what SQLite itself finds in its pages and indexes.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::store::error::StoreError;
use crate::store::inspection::findings::Findings;
use crate::store::inspection::inspected::Inspection;

/// Messages of SQLite that are kept.
const MAX_MESSAGES: usize = 5;

/// How often a running check looks at the stop flag.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// What is wrong with the structure of a file.
#[derive(Debug, Default)]
pub(crate) struct Structure {
    pub(crate) findings: Findings,
    /// Whether only indexes are wrong, which can be made again from the tables.
    pub(crate) only_indexes: bool,
}

impl Inspection {
    /// Checks every page, and every index against its table. Ends early, with the error of SQLite, once `stop` is set.
    ///
    /// # Errors
    /// SQLite's, unless the error is that of a damaged file, which is a finding.
    pub(crate) fn structure(&self, stop: &AtomicBool) -> Result<Structure, StoreError> {
        let mut structure = Structure::default();
        match self.integrity(stop) {
            Ok(messages) => {
                let of_index = |text: &String| {
                    text.contains("missing from index")
                        || text.starts_with("wrong # of entries in index")
                        || text.starts_with("non-unique entry in index")
                };
                structure.only_indexes = !messages.is_empty() && messages.iter().all(of_index);
                for text in messages.iter().take(MAX_MESSAGES) {
                    structure.findings.add(format!("SQLite reports: {text}"));
                }
            }
            Err(error) if error.code() == "damaged" => {
                structure.findings.add(format!("SQLite reports: {error}"));
            }
            Err(error) => return Err(error),
        }
        Ok(structure)
    }

    /// The messages of SQLite's own check.
    fn integrity(&self, stop: &AtomicBool) -> Result<Vec<String>, StoreError> {
        let interrupt = self.connection.get_interrupt_handle();
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Relaxed) {
                    if stop.load(Relaxed) {
                        interrupt.interrupt();
                    }
                    thread::park_timeout(STOP_INTERVAL);
                }
            });
            let checked = self.run_integrity_check();
            ended.store(true, Relaxed);
            checked
        })
    }

    fn run_integrity_check(&self) -> Result<Vec<String>, StoreError> {
        let mut statement = self.connection.prepare("PRAGMA integrity_check(1000)")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
        let mut messages: Vec<String> = rows.collect::<rusqlite::Result<_>>()?;
        // One message may have several lines, each with a finding.
        messages = messages
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| *line != "ok" && !line.starts_with("*** in database"))
            .map(str::to_owned)
            .collect();
        Ok(messages)
    }
}
