//! The structure of the file, which SQLite itself checks, and the table `meta`.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use crate::store::error::StoreError;
use crate::store::inspection::inspected::{Findings, Inspection};
use crate::store::meta::CREATED_AT;

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

/// Keys whose values are a sequence of entries, and the bytes of an entry.
const SEQUENCES: [(&str, usize); 5] = [
    ("stamps", 16),
    ("feed_marks", 16),
    ("feed_removed", 8),
    ("clock", 8),
    ("settings_changes", 8),
];

/// Milliseconds of a day.
const DAY: i64 = 24 * 3600 * 1000;

impl Inspection {
    /// Checks what every store has. `now` is the time in milliseconds since 1970.
    ///
    /// # Errors
    /// SQLite's.
    pub(crate) fn meta_rows(&self, now: i64) -> Result<Findings, StoreError> {
        let mut findings = Findings::default();
        if self.identity.is_none() {
            findings
                .add("the id of the store or the epoch of its change feed is missing or damaged");
        }
        // The clock of another machine may be ahead.
        let is_time = |bytes: Vec<u8>| {
            let time = bytes.try_into().map(i64::from_le_bytes);
            time.is_ok_and(|time| (0..now + 366 * DAY).contains(&time))
        };
        if self.meta(CREATED_AT)?.is_some_and(|bytes| !is_time(bytes)) {
            findings.add("the time of its creation is damaged");
        }
        for (key, bytes) in SEQUENCES {
            let value = self.meta(key)?.unwrap_or_default();
            if value.len() % bytes != 0 {
                findings.add(format!("\"{key}\" is damaged"));
            }
        }
        Ok(findings)
    }
}
