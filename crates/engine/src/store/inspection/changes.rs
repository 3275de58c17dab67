//! The change feed: its positions, and its last change of each record.

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::record::RecordKey;
use crate::store::change::{Change, ChangeKind};
use crate::store::error::StoreError;
use crate::store::inspection::inspected::{Findings, Inspection, is_damage};
use crate::store::meta::removed_of;
use crate::store::stored_record::StoredRecord;

/// The last change of each record that the feed still has.
pub(crate) struct LastChanges {
    of: HashMap<u64, Last>,
    /// Whether the feed has every change that there ever was.
    pub(crate) complete: bool,
    /// Changes that the feed has.
    pub(crate) changes: u64,
    /// Position and version of the last one.
    pub(crate) last: (u64, u64),
    /// The largest id of a record that it has.
    pub(crate) largest_id: u64,
}

struct Last {
    uuid: [u8; 16],
    /// Whether it names a key. The UUID follows from the key, so equal UUIDs mean equal keys.
    has_key: bool,
    at: i64,
    version: u64,
    deleted: bool,
}

impl Inspection {
    /// Reads the feed. `each` gets the data that a change keeps, and breaks to stop: then the result is `None`.
    ///
    /// # Errors
    /// SQLite's, unless the error is that of a damaged file, which is a finding.
    pub(crate) fn changes(
        &self,
        findings: &mut Findings,
        mut each: impl FnMut(Option<&[u8]>) -> ControlFlow<(), bool>,
    ) -> Result<Option<LastChanges>, StoreError> {
        let removed = removed_of(&self.connection)?;
        let mut last = LastChanges {
            of: HashMap::new(),
            complete: removed == 0,
            changes: 0,
            last: (0, 0),
            largest_id: 0,
        };
        let mut statement = self.connection.prepare(&format!(
            "SELECT {}, data FROM changes ORDER BY position",
            Change::COLUMNS
        ))?;
        let mut rows = statement.query([])?;
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) if is_damage(&error) => {
                    findings.add("a page of the change feed cannot be read");
                    last.complete = false;
                    return Ok(Some(last));
                }
                Err(error) => return Err(error.into()),
            };
            last.changes += 1;
            let Ok(change) = Change::read(row, true) else {
                let id = row.get::<_, i64>(2).unwrap_or_default().cast_unsigned();
                findings.add_record("a change of the feed is damaged", id);
                last.complete = false;
                continue;
            };
            match each(change.data.as_deref()) {
                ControlFlow::Break(()) => return Ok(None),
                ControlFlow::Continue(true) => {}
                ControlFlow::Continue(false) => findings.add_record(
                    "a change of the feed holds data that is no JSON object",
                    change.id,
                ),
            }
            last.add(&change, removed, findings);
        }
        if let Some(state) = self.state {
            if state.position > removed && last.last.0 != state.position {
                findings.add(format!(
                    "the change feed ends with position {}, but {} was the last",
                    last.last.0, state.position
                ));
                last.complete = false;
            }
            if last.last.1 > state.version {
                findings.add("a change has a version above that of the last commit");
            }
        }
        Ok(Some(last))
    }
}

impl LastChanges {
    fn add(&mut self, change: &Change, removed: u64, findings: &mut Findings) {
        let (position, version) = self.last;
        // Of the changes up to `removed`, any may be left.
        if change.position > removed && change.position != position.max(removed) + 1 {
            findings.add(format!(
                "changes of the feed are missing before position {}",
                change.position
            ));
            self.complete = false;
        }
        if change.version < version {
            findings.add_record("a change of the feed has a wrong version", change.id);
        }
        if !RecordKey::is_of(change.key.as_deref(), change.uuid) {
            findings.add_record(
                "a change of the feed has a key that is not that of its UUID",
                change.id,
            );
        }
        self.last = (change.position, change.version);
        self.largest_id = self.largest_id.max(change.id);
        let now = Last {
            uuid: change.uuid,
            has_key: change.key.is_some(),
            at: change.at,
            version: change.version,
            deleted: change.kind == ChangeKind::Deleted,
        };
        let before = self.of.insert(change.id, now);
        let existed = before.map(|before| (!before.deleted, before.uuid));
        let fits = match (change.kind, existed) {
            (ChangeKind::Created, Some((true, _))) => false,
            (ChangeKind::Changed | ChangeKind::Deleted, Some((exists, uuid))) => {
                exists && uuid == change.uuid
            }
            (ChangeKind::Changed | ChangeKind::Deleted, None) => !self.complete,
            (ChangeKind::Created, _) => true,
        };
        // Of removed changes, only deletions are left, so the one before may be missing.
        if !fits && change.position > removed && self.complete {
            findings.add_record("the changes of the record contradict each other", change.id);
        }
    }

    /// Compares a record with its last change.
    pub(crate) fn compare(&mut self, record: &StoredRecord<'_>, findings: &mut Findings) {
        let header = &record.header;
        let what = match self.of.remove(&header.id) {
            Some(last) if last.deleted => {
                "the record exists, but the change feed says that it was deleted"
            }
            Some(last) if last.uuid != header.uuid => {
                "the record has another UUID than in the change feed"
            }
            Some(last) if last.has_key != record.key.is_some() => {
                "the record has another key than in the change feed"
            }
            Some(last) if last.at != header.changed => {
                "the record was changed at another time than in the change feed"
            }
            Some(last) if last.version > header.version => {
                "the record is older than its last change in the change feed"
            }
            None if self.complete => "no change of the feed created the record",
            _ => return,
        };
        findings.add_record(what, header.id);
    }

    /// Finds records that the feed has and that were not compared.
    pub(crate) fn missing(&self, findings: &mut Findings) {
        let mut ids: Vec<u64> = self
            .of
            .iter()
            .filter(|(_, last)| !last.deleted)
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        if !ids.is_empty() {
            findings.add_records(
                "the record is missing or damaged, but the change feed has it",
                ids,
            );
        }
    }
}
