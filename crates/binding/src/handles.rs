//! Values of the engine that JavaScript holds and passes back.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use napi_derive::napi;

use crate::results::{NativeLineProblem, NativePassageSettings, NativeTextLine};

/// Records that were checked and wait for the vectors of their texts.
#[napi]
pub struct Prepared {
    pub(crate) inner: Arc<cosift_engine::Prepared>,
}

#[napi]
impl Prepared {
    /// The texts to embed, in the order that `commit` takes their vectors in.
    #[napi]
    pub fn texts(&self) -> Vec<String> {
        self.inner.texts()
    }

    /// The values of columns in a text, by its number in the last call of `texts`.
    #[napi]
    pub fn lines(&self, text: u32) -> Vec<NativeTextLine> {
        native_lines(self.inner.lines(text as usize))
    }

    /// How the texts are split.
    #[napi]
    pub fn passages(&self) -> NativePassageSettings {
        self.inner.passages().into()
    }

    /// Bad lines that were left out.
    #[napi]
    pub fn problems(&self) -> Vec<NativeLineProblem> {
        let problems = self.inner.problems.iter().cloned();
        problems.map(NativeLineProblem::from).collect()
    }

    /// Identifies the database that the records were prepared for, among all that had its id.
    #[napi(getter)]
    pub fn epoch(&self) -> String {
        self.inner.epoch()
    }

    /// Records to write or touch.
    #[napi(getter)]
    pub fn records(&self) -> u32 {
        self.inner.records() as u32
    }
}

/// Databases as they were at one moment.
#[napi]
pub struct Backup {
    pub(crate) inner: Arc<cosift_engine::Backup>,
}

#[napi]
impl Backup {
    /// `[{"id","records","version","position","epochs","model","fingerprint","dimensions","bytes"}]`, JSON.
    #[napi(getter)]
    pub fn databases(&self) -> String {
        self.inner.databases().to_string()
    }

    /// Lets the logs of the databases that are not copied be emptied again.
    #[napi]
    pub fn release(&self) {
        self.inner.release();
    }
}

/// Records that wait for the vectors of their texts by another model.
#[napi]
pub struct ReembeddingBatch {
    pub(crate) inner: Arc<cosift_engine::ReembeddingBatch>,
}

#[napi]
impl ReembeddingBatch {
    /// The texts to embed, in the order that the commit takes their vectors in.
    #[napi]
    pub fn texts(&self) -> Vec<String> {
        self.inner.texts()
    }

    /// The values of columns in a text, by its number.
    #[napi]
    pub fn lines(&self, text: u32) -> Vec<NativeTextLine> {
        native_lines(self.inner.lines(text as usize))
    }

    /// How the texts are split.
    #[napi]
    pub fn passages(&self) -> NativePassageSettings {
        self.inner.passages().into()
    }

    /// Whether the database had nothing more when the batch was made.
    #[napi(getter)]
    pub fn is_last(&self) -> bool {
        self.inner.is_last()
    }
}

/// An export in progress.
#[napi]
pub struct Export {
    pub(crate) inner: Arc<cosift_engine::Export>,
}

#[napi]
impl Export {
    /// Frees what the export holds. No further chunk can be read.
    #[napi]
    pub fn close(&self) {
        self.inner.close();
    }
}

/// Ends the calls it is given to, at their next block. A stopped call fails with `stopped`.
#[napi]
pub struct StopFlag {
    pub(crate) flag: cosift_engine::StopFlag,
}

#[napi]
impl StopFlag {
    /// A flag that is not set.
    #[napi(constructor)]
    pub fn new() -> Self {
        let flag = Default::default();
        Self { flag }
    }

    /// Sets the flag.
    #[napi]
    pub fn stop(&self) {
        self.flag.store(true, Relaxed);
    }
}

/// How far an examination has come.
#[napi]
pub struct DoctorProgress {
    pub(crate) progress: cosift_engine::DoctorProgress,
}

#[napi]
impl DoctorProgress {
    /// The progress of an examination that has not begun.
    #[napi(constructor)]
    pub fn new() -> Self {
        let progress = Default::default();
        Self { progress }
    }

    /// Records that were read so far.
    #[napi(getter)]
    pub fn done(&self) -> f64 {
        self.progress.read().0 as f64
    }

    /// Records of the databases whose examination has begun.
    #[napi(getter)]
    pub fn records(&self) -> f64 {
        self.progress.read().1 as f64
    }
}

macro_rules! handles {
    ($($name:ident)*) => { $(
        impl From<cosift_engine::$name> for $name {
            fn from(inner: cosift_engine::$name) -> Self {
                let inner = Arc::new(inner);
                Self { inner }
            }
        }
    )* };
}

handles! { Prepared Backup ReembeddingBatch Export }

/// The values of columns in a text, as objects of JavaScript.
pub(crate) fn native_lines(lines: Vec<cosift_engine::TextLine>) -> Vec<NativeTextLine> {
    lines.into_iter().map(Into::into).collect()
}
