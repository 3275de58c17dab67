//! The index files of a database that is not open.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::disk::{FileError, remove_if_exists};
use crate::doctor::patient::Patient;
use crate::error::Error;
use crate::settings::Settings;
use crate::snapshot::{Coding, IndexFiles, Snapshot, Unusable, Use, VectorMemory};
use crate::store::{Findings, Inspection};
use crate::write::replay;

/// Commits after the saved snapshot are read into memory when they have at most this many records.
const MAX_REPLAYED: u64 = 100_000;

/// What the index files hold.
pub(super) enum Saved {
    /// They can be used: all records as of the last commit.
    Complete(Arc<Snapshot>),
    /// They are not used or there are none, which is in order; why.
    Unused(String),
    /// They are damaged.
    Damaged,
}

/// Reads the index files as the next start does, without changing any.
///
/// # Errors
/// Those of the store.
pub(super) fn read_saved(
    patient: &Patient,
    inspection: &Inspection,
    settings: &Settings,
    findings: &mut Findings,
) -> Result<Saved, Error> {
    let (Some(state), Some((owner, _))) = (inspection.state, inspection.identity) else {
        let reason = "they were not checked, because the store has no valid state";
        return Ok(Saved::Unused(reason.to_owned()));
    };
    let directory = directory(patient);
    let reader = inspection.reader();
    let files = IndexFiles::of(
        &patient.disk,
        &directory,
        settings.dimensions,
        owner,
        reader.clone(),
        &VectorMemory::new(0),
    );
    let saved = match files.load(Use::Reading) {
        Ok(saved) => saved,
        Err(unusable) if is_damage(&unusable) => {
            findings.add(unusable.to_string());
            return Ok(Saved::Damaged);
        }
        Err(_) if !files.has_list() => {
            let reason = "there are none: the next start makes them from the records";
            return Ok(Saved::Unused(reason.to_owned()));
        }
        Err(unusable) => {
            let reason = format!("the next start makes them again: {unusable}");
            return Ok(Saved::Unused(reason));
        }
    };
    if !findings.is_empty() {
        return Ok(Saved::Damaged);
    }
    let since = saved.snapshot.version;
    if since > state.version {
        findings.add("the index files are from a later commit than the store");
        return Ok(Saved::Damaged);
    }
    if inspection.written_since(since)? > MAX_REPLAYED {
        let reason = "they lack many records: the next start reads these from the store";
        return Ok(Saved::Unused(reason.to_owned()));
    }
    let mut coding = Coding::untrained(settings.dimensions);
    if let Some(basis) = saved.basis {
        coding.basis = basis;
    }
    let replayed =
        reader.at_one_commit(|moment| replay(&coding, None, saved.snapshot, moment, &|_| true));
    match replayed {
        Ok((published, _)) => Ok(Saved::Complete(published.snapshot)),
        // The pass over the records reports the damage.
        Err(Error::Store(_)) => Ok(Saved::Unused(
            "they were not checked, because records of the store cannot be read".to_owned(),
        )),
        Err(error) => Err(error),
    }
}

/// Removes the index files. The next start makes them again from the records.
///
/// # Errors
/// [`Error::File`].
pub(super) fn remove_saved(patient: &Patient) -> Result<(), Error> {
    let path = directory(patient);
    remove_if_exists(&*patient.disk, &path).map_err(Error::file(&path))
}

fn directory(patient: &Patient) -> PathBuf {
    patient.directory.join("derived")
}

/// Whether files are damaged. Files that are missing, or from another release or an earlier state of the database, are
/// made again, and are no sign of damage.
fn is_damage(unusable: &Unusable) -> bool {
    match unusable {
        Unusable::File(FileError::Io { source, .. }) | Unusable::Io(source) => {
            source.kind() != io::ErrorKind::NotFound
        }
        Unusable::File(FileError::Damaged { .. }) | Unusable::Columns(_) => true,
        Unusable::Content(what) => {
            !what.contains("another state of the database") && !what.contains("another version")
        }
        Unusable::Store(_) | Unusable::File(FileError::Dropped) => false,
    }
}
