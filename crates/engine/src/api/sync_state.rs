//! What a sync keeps between its rounds, and the records that it owns.

use serde_json::json;

use crate::api::database::Database;
use crate::error::Error;
use crate::filter::RequestReader;
use crate::limits::Limits;
use crate::store::sync_key;

/// The state of a sync, the number of its records, and some of their keys, as JSON. `request` holds `name`, and perhaps
/// `after` and `limit`.
///
/// # Errors
/// [`Error::Invalid`], [`Error::Store`].
pub(crate) fn sync_state(
    database: &Database,
    request: &str,
    limits: &Limits,
) -> Result<Vec<u8>, Error> {
    let request = RequestReader::new(request, limits)?;
    let name = request.text("name")?.unwrap_or_default();
    let after = request.text("after")?;
    let limit = request.integer("limit")?.unwrap_or(0) as usize;
    let state = database.reader.meta(&sync_key(name))?;
    let state = state.map(|state| String::from_utf8_lossy(&state).into_owned());
    let prefix = format!("{name}/");
    let snapshot = database.snapshot();
    let mut records = 0_u64;
    let mut keys = Vec::new();
    for block in &snapshot.blocks {
        let owned = block.alive.iter().filter_map(|slot| block.key(slot));
        for key in owned.filter(|key| key.starts_with(&prefix)) {
            records += 1;
            if limit > 0 && after.is_none_or(|after| key > after) {
                keys.push(key);
            }
        }
    }
    if keys.len() > limit {
        keys.select_nth_unstable(limit);
        keys.truncate(limit);
    }
    keys.sort_unstable();
    let found = json!({ "state": state, "records": records, "keys": keys });
    Ok(found.to_string().into_bytes())
}
