//! Every record against its checksum, and all of them against the count and the checksum of the state.

use std::ops::ControlFlow;

use rusqlite::Statement;

use crate::record::MAX_RECORD_ID;
use crate::store::error::StoreError;
use crate::store::inspection::inspected::{Findings, Inspection, is_damage};
use crate::store::places::{Model, files_of};
use crate::store::state::Tally;
use crate::store::stored_record::{COLUMNS, JOINS, StoredRecord, VectorsRead, read};

/// Times of the years 0 to 9999, which have a text form.
const TIMES: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

/// What a pass over the records found.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// What is wrong with single records.
    pub(crate) findings: Findings,
    /// How the state differs from what was read.
    pub(crate) state: Findings,
    /// Records that could be read.
    pub(crate) records: u64,
    tally: Tally,
    largest_id: u64,
    largest_version: u64,
}

/// How one part of the pass ended.
enum Part {
    Ended,
    Stopped,
    /// A page cannot be read. The records after the last that was read may be affected.
    Unreadable,
}

impl Inspection {
    /// Reads every record, gives those whose checksum matches to `each`, until that breaks, and compares all with the
    /// count and the checksum of the state. Returns `None` when `each` broke.
    ///
    /// A damaged record or page does not end the pass.
    ///
    /// # Errors
    /// SQLite's, unless the error is that of a damaged file, which is a finding.
    pub(crate) fn rows(
        &self,
        mut each: impl FnMut(&StoredRecord<'_>, &mut Findings) -> ControlFlow<()>,
    ) -> Result<Option<Rows>, StoreError> {
        let mut rows = Rows::default();
        let mut statement = self.connection.prepare(&format!(
            "SELECT {COLUMNS} FROM records r NOT INDEXED {JOINS}
             WHERE r.id > ?1 ORDER BY r.id"
        ))?;
        let mut last = i64::MIN;
        let mut skip = 1_i64;
        loop {
            let before = last;
            match self.part(&mut statement, &mut last, &mut rows, &mut each)? {
                Part::Ended => break,
                Part::Stopped => return Ok(None),
                Part::Unreadable => {
                    // The page may hold many records, so each attempt skips twice as many ids.
                    skip = if before == last {
                        skip.saturating_mul(2)
                    } else {
                        1
                    };
                    rows.findings.add_record(
                        "a page of the file cannot be read, so records from this id on are lost",
                        last.max(0).cast_unsigned() + 1,
                    );
                    last = last.max(0).saturating_add(skip);
                    if last.cast_unsigned() > MAX_RECORD_ID {
                        break;
                    }
                }
            }
        }
        self.orphans(&mut rows)?;
        self.places(Model::Current, &mut rows.findings)?;
        self.compare_state(&mut rows);
        Ok(Some(rows))
    }

    /// Reads records after `last` up to the end, or up to a page that cannot be read.
    fn part(
        &self,
        statement: &mut Statement<'_>,
        last: &mut i64,
        rows: &mut Rows,
        each: &mut impl FnMut(&StoredRecord<'_>, &mut Findings) -> ControlFlow<()>,
    ) -> Result<Part, StoreError> {
        let mut found = statement.query([*last])?;
        let mut vectors = VectorsRead::default();
        loop {
            let row = match found.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(Part::Ended),
                Err(error) if is_damage(&error) => return Ok(Part::Unreadable),
                Err(error) => return Err(error.into()),
            };
            let number: i64 = row.get(0)?;
            let id = number.cast_unsigned();
            if number <= *last {
                // A damaged tree may have its rows in any order, and the pass must end.
                return Ok(Part::Unreadable);
            }
            *last = number;
            rows.records += 1;
            if !(1..=MAX_RECORD_ID).contains(&id) {
                rows.findings.add_record("the id is not allowed", id);
            }
            match read(row, &self.files, &mut vectors) {
                Ok(record) => {
                    let header = &record.header;
                    rows.tally.add(header);
                    rows.largest_id = rows.largest_id.max(id);
                    rows.largest_version = rows.largest_version.max(header.version);
                    let times = [header.created, header.changed, header.synced];
                    if !times.iter().all(|time| TIMES.contains(time)) {
                        rows.findings.add_record("a time is not allowed", id);
                    }
                    if each(&record, &mut rows.findings).is_break() {
                        return Ok(Part::Stopped);
                    }
                }
                Err(error @ StoreError::LostVectors { .. }) if error.code() != "damaged" => {
                    return Err(error);
                }
                Err(StoreError::LostVectors { .. }) => rows.findings.add_record(
                    "the file with the vectors of the record is missing or damaged",
                    id,
                ),
                Err(_) if matches!(row.get_ref(7), Ok(rusqlite::types::ValueRef::Null)) => {
                    rows.findings.add_record("the content is missing", id);
                }
                Err(_) => rows
                    .findings
                    .add_record("the checksum of the record does not match", id),
            }
        }
    }

    /// Finds contents that belong to no record.
    fn orphans(&self, rows: &mut Rows) -> Result<(), StoreError> {
        let found = self.orphan_ids(rows.records);
        match found {
            Ok(ids) if ids.is_empty() => {}
            Ok(ids) => rows
                .findings
                .add_records("the identity of the record is missing", ids),
            Err(error) if is_damage(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn orphan_ids(&self, records: u64) -> rusqlite::Result<Vec<u64>> {
        let count = "SELECT count(*) FROM contents NOT INDEXED";
        let contents: i64 = self.connection.query_row(count, [], |row| row.get(0))?;
        if contents.cast_unsigned() <= records {
            return Ok(Vec::new());
        }
        let sql = "SELECT id FROM contents WHERE NOT EXISTS
                   (SELECT 1 FROM records NOT INDEXED WHERE records.id = contents.id)";
        let mut statement = self.connection.prepare(sql)?;
        let ids = statement.query_map([], |row| row.get::<_, i64>(0))?;
        ids.map(|id| Ok(id?.cast_unsigned())).collect()
    }

    /// Checks the vector files of a model, compares their counts with the places of the records, and finds vectors that no
    /// record has.
    pub(super) fn places(&self, model: Model, findings: &mut Findings) -> Result<(), StoreError> {
        for id in files_of(&self.connection, model)? {
            if let Err(error) = self.files.file(id).verify() {
                findings.add(error.to_string());
            }
        }
        let count = |sql: &str| -> rusqlite::Result<i64> {
            self.connection.query_row(sql, [], |row| row.get(0))
        };
        let (places, vectors) = (model.places(), model.vectors());
        let is_next = model == Model::Next;
        let differing = count(&format!(
            "SELECT count(*) FROM vector_files f LEFT JOIN
             (SELECT place >> 12 AS number, count(*) AS n FROM {places} NOT INDEXED WHERE place >= 0 GROUP BY 1) p
             ON p.number = f.number WHERE f.next = {is_next} AND f.living != ifnull(p.n, 0)",
        ));
        let without_record = count(&format!(
            "SELECT count(*) FROM {vectors} v WHERE NOT EXISTS
             (SELECT 1 FROM {places} NOT INDEXED WHERE id = v.id AND place < 0)",
        ));
        for (found, what) in [
            (differing, "the number of records of a vector file is wrong"),
            (without_record, "vectors belong to no record"),
        ] {
            match found {
                Ok(0) => {}
                Ok(_) => findings.add(what),
                Err(error) if is_damage(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Compares what was read with the state.
    fn compare_state(&self, rows: &mut Rows) {
        let Some(state) = self.state else {
            rows.state
                .add("the row that counts the records is missing or damaged");
            return;
        };
        if let Err(error) = rows.tally.compare(&state.tally) {
            let StoreError::Inconsistent { what } = error else {
                return;
            };
            rows.state.add(what);
        }
        if rows.largest_id >= state.next_id {
            rows.state
                .add("a record has an id above all that were given");
        }
        if rows.largest_version > state.version {
            rows.state
                .add("a record has a version above that of the last commit");
        }
    }
}

impl Rows {
    /// The number of records and a checksum over them, of what was read.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// The largest id and the largest version of a record.
    pub(crate) fn largest(&self) -> (u64, u64) {
        (self.largest_id, self.largest_version)
    }
}
