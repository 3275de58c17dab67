//! What the next model made of the records, against its checksums.

use crate::store::error::StoreError;
use crate::store::inspection::inspected::{Findings, Inspection, is_damage};
use crate::store::meta::NEXT_SETTINGS;
use crate::store::places::Model;
use crate::store::stored_record::{NEXT_COLUMNS, NEXT_JOINS, VectorsRead, read};

impl Inspection {
    /// Reads the vectors of the next model of all records that have some, until `go_on` returns false, and returns what is wrong
    /// with them and how many records they are. `None` without a re-embedding, and when it was stopped.
    ///
    /// # Errors
    /// SQLite's, unless the error is that of a damaged file, which is a finding.
    pub(crate) fn next_rows(
        &self,
        go_on: impl Fn() -> bool,
    ) -> Result<Option<(Findings, u64)>, StoreError> {
        if self.meta(NEXT_SETTINGS)?.is_none() {
            return Ok(None);
        }
        let (mut findings, mut records) = (Findings::default(), 0);
        let mut statement = self.connection.prepare(&format!(
            "SELECT {NEXT_COLUMNS} FROM records r NOT INDEXED {NEXT_JOINS} ORDER BY r.id"
        ))?;
        let mut rows = statement.query([])?;
        let mut vectors = VectorsRead::default();
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) if is_damage(&error) => {
                    findings.add("a page of the file cannot be read");
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            if !go_on() {
                return Ok(None);
            }
            records += 1;
            if let Err(error) = read(row, &self.files, &mut vectors) {
                if error.code() != "damaged" {
                    return Err(error);
                }
                let id = row.get::<_, i64>(0)?.cast_unsigned();
                findings.add_record("the new vectors of the record are missing or damaged", id);
            }
        }
        self.places(Model::Next, &mut findings)?;
        Ok(Some((findings, records)))
    }
}
