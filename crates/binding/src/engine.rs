//! The calls of the engine.

use std::sync::Arc;

use cosift_engine::{Embedded, Engine, Format};
use napi::bindgen_prelude::{
    Either, Either3, Float32Array, Float32ArraySlice, Float64ArraySlice, PromiseRaw, Uint8Array,
    Uint32Array,
};
use napi_derive::napi;

use crate::buffer::Buffer;
use crate::failure::NativeFailure;
use crate::handles::{Backup, DoctorProgress, Export, Prepared, ReembeddingBatch, StopFlag};
use crate::promise::{convert, promises};
use crate::results::{
    NativeCommitted, NativeExampleQuery, NativeMeter, NativePage, NativePages, NativeScanStats,
};

/// The databases of a data directory.
#[napi]
pub struct NativeEngine {
    pub(crate) engine: Arc<Engine>,
}

impl Drop for NativeEngine {
    /// Closes an engine whose handle is garbage-collected, or whose JavaScript environment ends, without `close`.
    fn drop(&mut self) {
        if !self.engine.is_closed() {
            Engine::close_in_background(&self.engine, Box::new(|_| ()));
        }
    }
}

promises! { impl NativeEngine {
    #[doc = " Brings every database to memory."]
    fn load(self) -> (), |done| self.engine.load(done);
} }

#[napi]
impl NativeEngine {
    /// How far loading has come: `{"databases":[{"id","loaded","writable","records"}]}`.
    #[napi]
    pub fn progress(&self) -> String {
        self.engine.progress().to_string()
    }
}

promises! { impl NativeEngine {
    #[doc = " Brings a database of an engine that is open for reading up to date, or all without an id."]
    fn refresh(self, id: Option<String>) -> (), |done| self.engine.refresh(id, done);
    #[doc = " Makes a database or finds it made: `{\"created\",\"database\"}`."]
    fn create_database(self, id: String, settings: String) -> Buffer,
        |done| self.engine.create_database(id, settings, done);
    #[doc = " Changes settings that no vector depends on, and describes the database, JSON."]
    fn configure_database(self, id: String, settings: String) -> Buffer,
        |done| self.engine.configure_database(id, settings, done);
    #[doc = " Describes every database, a JSON array."]
    fn list_databases(self) -> Buffer, |done| self.engine.list_databases(done);
    #[doc = " Describes a database, JSON."]
    fn describe_database(self, id: String) -> Buffer,
        |done| self.engine.describe_database(&id, done);
    #[doc = " One above every id that a database ever gave to a record."]
    fn next_id(self, id: String) -> f64, |done| {
        let done = convert(done, |next| next as f64);
        self.engine.next_id(&id, done);
    };
    #[doc = " A moment in the writes of a database: `{\"epoch\",\"version\",\"records\"}`."]
    fn mark(self, id: String) -> Buffer, |done| self.engine.mark(&id, done);
    #[doc = " The state of a sync and its records: `{\"state\",\"records\",\"keys\"}`; `request` holds `name`, `after`, `limit`."]
    fn sync_state(self, id: String, request: String) -> Buffer,
        |done| self.engine.sync_state(&id, request, done);
    #[doc = " Drops a database with all its files."]
    fn drop_database(self, id: String) -> (), |done| self.engine.drop_database(id, done);
    #[doc = " Checks a JSON batch. `vectors` are those of records that come without, one after the other, or none."]
    fn prepare_batch(self, id: String, body: Uint8Array, vectors: Float32Array) -> Prepared,
        |done| self.engine.prepare(&id, body, vectors.to_vec(), Format::Batch, done);
    #[doc = " Checks lines of JSON. `first_line` is the number of the first line. With `needs_identity`, a record without"]
    #[doc = " `id`, `uuid` and `key` is a bad line. With `read_at`, in milliseconds since 1970, the time of last sync of the"]
    #[doc = " records becomes this time unless it is later."]
    fn prepare_lines(
        self, id: String, body: Uint8Array, first_line: f64, needs_identity: bool, read_at: Option<f64>
    ) -> Prepared, |done| {
        let read_at = read_at.map(|at| at as i64);
        let lines = Format::Lines { first: first_line as u64, needs_identity, read_at };
        self.engine.prepare(&id, body, Vec::new(), lines, done)
    };
    #[doc = " Checks a patch of one record, `{\"data\"}`. `record` is an integer, a UUID, or `key:` and a key."]
    #[doc = " `form` is how the result shows it."]
    fn prepare_patch(self, id: String, record: String, form: String, body: Uint8Array) -> Prepared,
        |done| self.engine.prepare_patch(&id, record, form, body.to_vec(), done);
    #[doc = " Writes prepared records with the vectors of their texts, one after the other, and the fingerprint of the"]
    #[doc = " model that made them. `splits` tells which texts have several vectors."]
    fn commit(
        self, id: String, prepared: &Prepared, vectors: Float32Array, splits: Uint32Array,
        fingerprint: Option<String>
    ) -> NativeCommitted, |done| {
        let (vectors, splits) = (vectors.to_vec(), splits.to_vec());
        let embedded = Embedded { vectors, splits, fingerprint };
        self.engine.commit(&id, Arc::clone(&prepared.inner), embedded, done);
    };
    #[doc = " One record; `request` holds `form`, `vectors` and `forced_filter`."]
    fn record(self, id: String, record: String, request: String) -> Buffer,
        |done| self.engine.record(&id, record, request, done);
    #[doc = " Deletes records and tells how many there were; none once it is stopped."]
    fn delete_records(self, id: String, request: String, stop: &StopFlag) -> f64, |done| {
        let done = convert(done, |deleted| deleted as f64);
        self.engine.delete(&id, &request, Arc::clone(&stop.flag), done);
    };
    #[doc = " The query of examples; `request` holds `positive`, `negative`, `query`, `forced_filter`, `embedded_by`."]
    fn examples(self, id: String, request: String) -> NativeExampleQuery,
        |done| self.engine.examples(&id, request, done);
    #[doc = " Searches one snapshot by vectors, one for each request."]
    fn searches(
        self, id: String, requests: Vec<String>,
        vectors: Vec<Either<Float32ArraySlice<'env>, Float64ArraySlice<'env>>>, stop: &StopFlag
    ) -> NativePages, |done| {
        let vectors = vectors.iter().map(|vector| match vector {
            Either::A(vector) => vector.iter().copied().map(f64::from).collect(),
            Either::B(vector) => vector.to_vec(),
        });
        let searches = requests.into_iter().zip(vectors).collect();
        // Joined on the thread that answers.
        let done = convert(done, NativePages::from);
        self.engine.searches(&id, searches, Arc::clone(&stop.flag), done);
    };
    #[doc = " Runs the filter-only operation."]
    fn query(self, id: String, request: String, stop: &StopFlag) -> NativePage,
        |done| self.engine.query(&id, request, Arc::clone(&stop.flag), done);
    #[doc = " Reads the change feed: `{\"changes\",\"position\",\"has_more\",\"epoch\"}`."]
    fn changes(self, id: String, request: String, stop: &StopFlag) -> Buffer,
        |done| self.engine.changes(&id, request, Arc::clone(&stop.flag), done);
    #[doc = " Begins to export the records of the newest snapshot; `request` holds `vectors`, `filter`, `forced_filter`."]
    fn open_export(self, id: String, request: String, stop: &StopFlag) -> Export,
        |done| self.engine.open_export(&id, request, Arc::clone(&stop.flag), done);
    #[doc = " Reads the next lines of an export; empty after the last record."]
    fn export_chunk(self, opened: &Export, stop: &StopFlag) -> Buffer,
        |done| self.engine.export_chunk(&opened.inner, Arc::clone(&stop.flag), done);
    #[doc = " Examines a database while it is served: as `examine` of a doctor."]
    fn examine(self, id: String, stop: &StopFlag, progress: &DoctorProgress) -> Buffer,
        |done| self.engine.examine(id, Arc::clone(&stop.flag), progress.progress.clone(), done);
    #[doc = " Begins to embed a database with another model, or goes on: as `reembedding`. `settings` is JSON."]
    fn begin_reembedding(self, id: String, settings: String) -> Buffer,
        |done| self.engine.begin_reembedding(&id, settings, done);
    #[doc = " How far it has come: `{\"model\",\"fingerprint\",\"done\",\"started_at\"}` or `null`."]
    fn reembedding(self, id: String) -> Buffer, |done| self.engine.reembedding(&id, done);
    #[doc = " Reads what is to be embedded next."]
    fn prepare_reembedding(self, id: String) -> ReembeddingBatch,
        |done| self.engine.prepare_reembedding(&id, done);
    #[doc = " Stores a batch with the vectors of its texts, as `commit`, and tells how many records there are now."]
    fn commit_reembedding(
        self, id: String, batch: &ReembeddingBatch, vectors: Float32Array, splits: Uint32Array,
        fingerprint: String
    ) -> f64, |done| {
        let (vectors, splits) = (vectors.to_vec(), splits.to_vec());
        let embedded = Embedded { vectors, splits, fingerprint: Some(fingerprint) };
        let done = convert(done, |records| records as f64);
        self.engine.commit_reembedding(&id, Arc::clone(&batch.inner), embedded, done);
    };
    #[doc = " Makes ready what is embedded so far, so that the switch is quick."]
    fn warm_reembedding(self, id: String) -> (), |done| self.engine.warm_reembedding(id, done);
    #[doc = " Puts what is embedded in the database's place; nothing may be written since the last batch."]
    fn switch_reembedding(self, id: String) -> (),
        |done| self.engine.switch_reembedding(id, done);
    #[doc = " Fixes a moment of a database, or of all of them. Release the result."]
    fn begin_backup(self, id: Option<String>) -> Backup, |done| self.engine.begin_backup(id, done);
    #[doc = " Writes the store of one of `databases` of a backup to a new file."]
    fn copy_backup(self, backup: &Backup, index: u32, path: String, stop: &StopFlag) -> (), |done| {
        let stop = Arc::clone(&stop.flag);
        backup.inner.copy(&self.engine, index as usize, path.into(), stop, done);
    };
    #[doc = " Removes what is embedded so far."]
    fn cancel_reembedding(self, id: String) -> (),
        |done| self.engine.cancel_reembedding(&id, done);
} }

#[napi]
impl NativeEngine {
    /// How busy the scan threads are.
    #[napi]
    pub fn scan_stats(&self) -> NativeScanStats {
        self.engine.search_stats().into()
    }

    /// What has been done since the engine was opened, and what waits.
    #[napi]
    pub fn meter(&self) -> NativeMeter {
        self.engine.metrics().into()
    }

    /// Removes and returns the events since the last call, also after `close`:
    /// `{"events":[{"at","level","code","database","text"}],"dropped"}`.
    #[napi]
    pub fn take_events(&self) -> String {
        self.engine.take_events().to_json().to_string()
    }
}

promises! { impl NativeEngine {
    #[doc = " Answers what was taken, saves, and gives the directory free."]
    fn close(self) -> (), |done| Engine::close_in_background(&self.engine, done);
} }
