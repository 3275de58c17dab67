//! Upgrade of a file of an earlier format: format 1 has neither identity, epoch nor state, formats 1 and 2 have no keys of
//! records, formats 1 to 3 have no passages, and formats 1 to 4 have no checksums of changes.

use rusqlite::{Connection, Transaction};

use crate::store::error::StoreError;
use crate::store::meta::{EPOCH, STORE_ID, new_identity, read_meta};
use crate::store::record_row::RecordRow;
use crate::store::schema::{ADD_CHECKSUMS, ADD_KEYS, ADD_PASSAGES, FORMAT};
use crate::store::state::{STATE, State};
use crate::store::tally::Tally;

/// Key under which format 1 kept the next id.
const NEXT_ID: &str = "next_id";

/// Converts a file of an earlier `format` to the current format, in one transaction.
///
/// # Errors
/// [`StoreError::Damaged`] when a row cannot be read; SQLite's. The file is then unchanged.
pub(super) fn upgrade(connection: &mut Connection, format: i64) -> Result<(), StoreError> {
    let transaction = connection.transaction()?;
    if format == 1 {
        add_state(&transaction)?;
    }
    if format < 3 {
        transaction.execute_batch(ADD_KEYS)?;
    }
    if format < 4 {
        transaction.execute_batch(ADD_PASSAGES)?;
    }
    transaction.execute_batch(ADD_CHECKSUMS)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    Ok(())
}

fn add_state(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    let next_id = read_meta(transaction, NEXT_ID)?
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(1, u64::from_le_bytes);
    // The feed's last entry counts too: the last commit may have only deleted.
    let (version, position) = transaction.query_row(
        "SELECT max(ifnull((SELECT max(version) FROM records), 0), ifnull(last.version, 0)), ifnull(last.position, 0)
         FROM (SELECT 1) LEFT JOIN (SELECT * FROM changes ORDER BY position DESC LIMIT 1) last",
        [],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)),
    )?;
    let state = State {
        version: version.cast_unsigned(),
        position: position.cast_unsigned(),
        next_id,
        tally: count(transaction)?,
    };
    transaction.execute("DELETE FROM meta WHERE key = ?1", [NEXT_ID])?;
    transaction.execute(
        "INSERT INTO meta VALUES (?1, ?2), (?3, ?4), (?5, ?6)",
        (
            STORE_ID,
            new_identity(),
            EPOCH,
            new_identity(),
            STATE,
            state.to_bytes(),
        ),
    )?;
    Ok(())
}

/// Counts the rows of `records`.
fn count(connection: &Connection) -> Result<Tally, StoreError> {
    let mut statement = connection.prepare(&format!(
        "SELECT {} FROM records ORDER BY id",
        RecordRow::COLUMNS
    ))?;
    let mut rows = statement.query([])?;
    let mut tally = Tally::default();
    while let Some(row) = rows.next()? {
        let id = row.get::<_, i64>(0)?.cast_unsigned();
        // A value of another type is damage, because the schema allows no other type.
        tally.add(&RecordRow::read(row).map_err(|_| StoreError::Damaged { id })?);
    }
    Ok(tally)
}
