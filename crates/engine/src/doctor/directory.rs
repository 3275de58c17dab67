//! The doctor of a data directory that no service has open.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use crate::disk::{DataLock, Disk, RealDisk};
use crate::doctor::examination::examine;
use crate::doctor::patient::{DoctorProgress, Patient};
use crate::error::{Done, Error};
use crate::reply::run_on_thread;
use crate::runtime::StopFlag;
use crate::store::{has_traces, store_path};

/// Examines the databases of a data directory, and holds its lock meanwhile.
pub struct Doctor {
    directory: PathBuf,
    root: PathBuf,
    disk: Arc<dyn Disk>,
    repair: bool,
    /// `None` when the directory had no lock file, which is not created because nothing in the directory may change.
    lock: Option<DataLock>,
}

impl Doctor {
    /// Takes the lock of a data directory. With `repair`, examinations repair what is derived; without, nothing in the
    /// directory changes, not even its lock file.
    ///
    /// # Errors
    /// [`Error::Lock`] when another process has the directory open.
    pub fn open(directory: &Path, repair: bool) -> Result<Arc<Self>, Error> {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let lock = if repair {
            Some(DataLock::acquire(&*disk, directory)?)
        } else {
            DataLock::acquire_unchanged(&*disk, directory)?
        };
        Ok(Arc::new(Self {
            directory: directory.to_owned(),
            root: directory.join("databases"),
            disk,
            repair,
            lock,
        }))
    }

    /// The ids of the databases, in order.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn databases(&self) -> Result<Vec<String>, Error> {
        let paths = match self.disk.list(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            paths => paths.map_err(Error::file(&self.root))?,
        };
        let mut ids: Vec<String> = paths
            .iter()
            .filter(|path| {
                // A file of another program has no store below it.
                if !path.is_dir() {
                    return false;
                }
                let store = store_path(path);
                self.disk.exists(&store).unwrap_or(true) || has_traces(&*self.disk, &store)
            })
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .filter(|name| !name.starts_with('.'))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Examines one of [`Doctor::databases`] on a thread of its own. `done` gets JSON.
    pub fn examine(
        self: &Arc<Self>,
        id: String,
        stop: StopFlag,
        progress: DoctorProgress,
        done: Done<Vec<u8>>,
    ) {
        let patient = Patient {
            directory: self.root.join(&id),
            disk: Arc::clone(&self.disk),
            open: None,
            repair: self.repair,
            id,
            stop,
            progress,
        };
        let doctor = Arc::clone(self);
        run_examination(patient, done, move |report| {
            if doctor.lock.is_none() {
                // A process that opened the directory meanwhile may have changed what was examined.
                DataLock::check_unused(&*doctor.disk, &doctor.directory)?;
            }
            Ok(report)
        });
    }
}

/// Examines `patient` on a thread of its own, because an examination takes seconds.
pub(crate) fn run_examination(
    patient: Patient,
    done: Done<Vec<u8>>,
    finish: impl FnOnce(Value) -> Result<Value, Error> + Send + 'static,
) {
    run_on_thread("cosift-doctor", done, move || {
        let report = examine(&patient)?;
        Ok(finish(report)?.to_string().into_bytes())
    });
}
