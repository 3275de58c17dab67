//! Patches, second half: stages a patch of the record as it is at the time of the commit.

use crate::error::Error;
use crate::json::{write_cells, write_id, write_key};
use crate::record::{RecordKey, Vectors};
use crate::settings::RecordText;
use crate::write::checks::check_columns;
use crate::write::embedded::TextVectors;
use crate::write::patch::{Patched, PatchedVector};
use crate::write::prepared::{PreparedPatch, PreparedRecord};
use crate::write::stage::Stage;
use crate::write::staged::{Comparison, Context, Upserted};

/// What a patch did, and the JSON of the record after the patch.
pub(super) type StagedPatch = (Upserted, Vec<u8>);

/// Applies a patch to the record as the stage has it, so that a patch keeps what other writes have changed since it was
/// prepared. `embedded` are the texts that were embedded and their vectors.
///
/// Returns `None` when another text needs a vector, because another write has changed the record since it was prepared.
/// The text is then that of `prepared`.
///
/// # Errors
/// [`Error::RecordNotFound`], [`Error::Invalid`].
pub(super) fn stage_patch(
    stage: &mut Stage,
    context: &Context<'_>,
    (prepared, max_columns): (&mut PreparedPatch, usize),
    (texts, vectors): (&[RecordText], &TextVectors<'_>),
) -> Result<Option<StagedPatch>, Error> {
    let settings = context.settings;
    let patch = &prepared.patch;
    let id = stage.find(context, patch.record);
    let id = id.ok_or_else(|| patch.not_found())?;
    if let Some(condition) = patch.condition {
        let checked = condition.check(Some((id, stage.times_of(id).changed)));
        checked.map_err(|problem| Error::invalid_records(vec![problem]))?;
    }
    let stored = stage.data_of(context, id);
    let Patched {
        data,
        json,
        is_changed,
        vector,
    } = patch.apply(settings, &stored)?;
    check_columns(&stage.names, &data, max_columns, settings.flatten)
        .map_err(|problem| Error::invalid_records(vec![problem]))?;
    let vectors = match vector {
        PatchedVector::Stored => None,
        PatchedVector::None => Some(Vectors::none(settings.dimensions)),
        PatchedVector::Text(text) if texts.first() == Some(&text) => {
            let vectors = vectors.get(0)?;
            Some(vectors.map_err(|many| Error::invalid_records(vec![many.problem()]))?)
        }
        PatchedVector::Text(text) => {
            prepared.text = Some(text);
            return Ok(None);
        }
    };
    let upserted = if is_changed {
        let vectors = match vectors {
            Some(vectors) => vectors,
            None => stage.vectors_of(context, id)?,
        };
        let given = settings.model.is_none().then_some(&vectors.first[..]);
        let record = PreparedRecord::patched(id, data, json, given);
        let compared = Comparison::Different(id);
        stage.put(context, &compared, &record, vectors)
    } else {
        stage.touch(id, context.now)
    };
    let mut shown = Vec::new();
    shown.extend_from_slice(b"{\"id\":");
    write_id(patch.variant, id, upserted.uuid, &mut shown);
    write_key(upserted.key.as_ref().map(RecordKey::as_str), &mut shown);
    shown.extend_from_slice(b",\"data\":");
    // A record that is unchanged keeps what is stored, including columns with null that the patch removes.
    write_cells(&stage.data_of(context, id), &mut shown);
    stage.times_of(id).write_member(patch.variant, &mut shown);
    shown.push(b'}');
    Ok(Some((upserted, shown)))
}
