//! The repair of the state of a store.

use crate::doctor::patient::Patient;
use crate::error::Error;
use crate::store::{Findings, LastChanges, Repaired, Rows, State, store_path};

/// Makes the state again from rows and changes, and the number of the last commit that switched to another model. Returns
/// whether these prove that no record is missing: every record has its checksum, and the change feed has every change and
/// leads to the same records.
///
/// # Errors
/// Those of the store.
pub(super) fn rebuild_state(
    patient: &Patient,
    (rows, switch): (&Rows, u64),
    changes: &LastChanges,
    changes_found: &Findings,
) -> Result<bool, Error> {
    if !changes.complete || !changes_found.is_empty() {
        return Ok(false);
    }
    let (largest_id, largest_version) = rows.largest();
    let state = State {
        version: largest_version.max(changes.last.1).max(switch),
        position: changes.last.0,
        next_id: largest_id.max(changes.largest_id) + 1,
        tally: rows.tally(),
    };
    Repaired::State(state).apply(&store_path(&patient.directory))?;
    Ok(true)
}
