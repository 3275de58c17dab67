//! Stages the key of a record that is otherwise unchanged.

use crate::error::Error;
use crate::json::write_cells;
use crate::record::RecordId;
use crate::write::parsing::NewRecord;
use crate::write::prepared::PreparedRecord;
use crate::write::stage::Stage;
use crate::write::staged::{Comparison, Context, Upserted};

/// Gives the record `id` the key of `record`, whose content is that of the stored record.
///
/// The stored data and the stored vectors are kept, because the data may have its columns in another order, and then its
/// text would need another vector.
///
/// # Errors
/// As [`Stage::vectors_of`].
pub(super) fn stage_key(
    stage: &mut Stage,
    context: &Context<'_>,
    (id, record): (RecordId, &PreparedRecord),
) -> Result<Upserted, Error> {
    let data = stage.data_of(context, id);
    let vectors = stage.vectors_of(context, id)?;
    let mut json = Vec::new();
    write_cells(&data, &mut json);
    let new = NewRecord {
        data,
        key: record.new.key.clone(),
        vector: None,
        passages: None,
        embedded_by: None,
        ..record.new
    };
    let keyed = PreparedRecord::unchanged(new, json, stage.hash_of(id));
    let compared = Comparison::Different(id);
    Ok(stage.put(context, &compared, &keyed, vectors))
}
