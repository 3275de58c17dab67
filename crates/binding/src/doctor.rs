//! The doctor of a data directory.

use std::path::Path;
use std::sync::Arc;

use cosift_engine::Doctor;
use napi::bindgen_prelude::{Either, Either3, PromiseRaw};
use napi_derive::napi;

use crate::buffer::Buffer;
use crate::failure::NativeFailure;
use crate::handles::{DoctorProgress, StopFlag};
use crate::promise::{outcome, promises};

/// The doctor of a data directory that no service has open.
#[napi]
pub struct NativeDoctor {
    /// `None` once it is closed.
    doctor: Option<Arc<Doctor>>,
}

/// Takes the lock of a data directory. With `repair`, what is derived is repaired; without, nothing changes.
#[napi]
pub fn open_doctor(directory: String, repair: bool) -> Either<NativeDoctor, NativeFailure> {
    let doctor = Doctor::open(Path::new(&directory), repair);
    outcome(doctor.map(|doctor| NativeDoctor {
        doctor: Some(doctor),
    }))
}

#[napi]
impl NativeDoctor {
    /// The databases, a JSON array of ids.
    #[napi]
    pub fn databases(&self) -> Either<String, NativeFailure> {
        let ids = self.open().and_then(|doctor| doctor.databases());
        outcome(ids.map(|ids| serde_json::json!(ids).to_string()))
    }

    /// Releases the lock of the directory, once no examination runs.
    #[napi]
    pub fn close(&mut self) {
        self.doctor = None;
    }

    fn open(&self) -> Result<&Arc<Doctor>, cosift_engine::Error> {
        self.doctor.as_ref().ok_or(cosift_engine::Error::Closed)
    }
}

promises! { impl NativeDoctor {
    #[doc = " Examines a database: `{\"checks\",\"settings\",\"identity\",\"sample\"}`."]
    fn examine(self, id: String, stop: &StopFlag, progress: &DoctorProgress) -> Buffer, |done| {
        match self.open() {
            Ok(doctor) => doctor.examine(id, Arc::clone(&stop.flag), progress.progress.clone(), done),
            Err(error) => done(Err(error)),
        }
    };
} }
