//! Patches, first half: finds the record and makes the text to embed, if the patch changes the text.

use crate::error::Error;
use crate::limits::Limits;
use crate::record::Data;
use crate::settings::Settings;
use crate::write::patch::{Patch, PatchedVector};
use crate::write::prepare::Target;
use crate::write::prepared::{Prepared, PreparedPatch, PreparedRecords};

/// Applies the patch to the stored record, to learn which text needs a vector. The commit applies the patch again, to the
/// record as it is then.
///
/// # Errors
/// [`Error::RecordNotFound`]; [`Error::Invalid`] when the patched record is too large.
pub(crate) fn prepare_patch(
    database: &Target<'_>,
    patch: Patch,
    limits: &Limits,
) -> Result<Prepared, Error> {
    let stored = {
        let published = database.published.read();
        let row = patch.record.find(&published);
        let row = row.ok_or_else(|| patch.not_found())?;
        published.snapshot.data_of(row)
    };
    let mut prepared = unapplied_patch(database.settings, patch, limits);
    add_patched_text(&mut prepared, &stored)?;
    Ok(Prepared::new(database.epoch, prepared, Vec::new()))
}

/// A patch that was not applied to a record yet, so that it has no text.
pub(crate) fn unapplied_patch(
    settings: &Settings,
    patch: Patch,
    limits: &Limits,
) -> PreparedRecords {
    PreparedRecords {
        patch: Some(PreparedPatch { patch, text: None }),
        ..PreparedRecords::new(settings, limits)
    }
}

/// Applies the patch to the data of the stored record, and adds the text that needs a vector, if there is one.
///
/// # Errors
/// [`Error::Invalid`] when the patched record is too large.
pub(crate) fn add_patched_text(prepared: &mut PreparedRecords, stored: &Data) -> Result<(), Error> {
    let Some(patch) = &mut prepared.patch else {
        return Ok(());
    };
    patch.text = match patch.patch.apply(&prepared.settings, stored)?.vector {
        PatchedVector::Text(text) => Some(text),
        PatchedVector::Stored | PatchedVector::None => None,
    };
    prepared.texts = patch.text.iter().cloned().collect();
    Ok(())
}
