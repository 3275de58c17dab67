//! The engine's calls.

use std::sync::Arc;

use cosift_engine::{Committed, Embedded, Engine, Format, Status};
use napi::Env;
use napi::bindgen_prelude::{Buffer, Float32Array, Float64Array, Object, Result, Uint8Array};
use napi_derive::napi;

use crate::page::NativePage;
use crate::prepared::{NativeLineProblem, Prepared};
use crate::promise::promise;
use crate::reembedding::ReembeddingBatch;
use crate::stop::StopFlag;

/// What a commit did.
#[napi(object)]
pub struct NativeCommitted {
    /// `[{ "id", "uuid", "status" }]` in the order of the request, JSON.
    pub results: Buffer,
    /// Records that were not there before.
    pub created: u32,
    /// Records with other content.
    pub changed: u32,
    /// Records that were as they are.
    pub unchanged: u32,
    /// Lines that turned out to be bad only now.
    pub problems: Vec<NativeLineProblem>,
}

/// How busy the scan threads are.
#[napi(object)]
pub struct NativeScanStats {
    /// Searches not yet on a pass.
    pub waiting: u32,
    /// Passes under way.
    pub passes: u32,
    /// Searches answered since the start.
    pub answered: f64,
}

/// What the engine has done since it was opened, and what waits.
#[napi(object)]
pub struct NativeMeter {
    /// Transactions that were made durable.
    pub commits: f64,
    /// Microseconds they took, until what they wrote was searchable.
    pub commit_micros: f64,
    /// Writes not yet begun.
    pub writes_waiting: u32,
    /// Bytes of codes that scans went through.
    pub scanned_bytes: f64,
}

/// The databases of a data directory.
#[napi]
pub struct NativeEngine {
    engine: Arc<Engine>,
}

impl NativeEngine {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine }
    }
}

impl Drop for NativeEngine {
    /// Closes an engine whose handle is garbage-collected, or whose JavaScript environment ends, without `close`. It
    /// takes a thread of its own, because saving may take seconds.
    fn drop(&mut self) {
        if !self.engine.is_closed() {
            Engine::close_in_background(&self.engine, Box::new(|_| ()));
        }
    }
}

#[napi]
impl NativeEngine {
    /// Brings every database to memory.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn load<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        promise(env, |()| (), |done| self.engine.load(done))
    }

    /// How far loading has come: `{"databases":[{"id","loaded","writable","records"}]}`.
    #[napi]
    pub fn progress(&self) -> String {
        self.engine.progress().to_string()
    }

    /// Makes a database or finds it made: `{"created","database"}`.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn create_database<'env>(
        &self,
        env: &'env Env,
        id: String,
        settings: String,
    ) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| {
            self.engine.create_database(id, settings, done)
        })
    }

    /// Describes every database, a JSON array.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn list_databases<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| self.engine.list_databases(done))
    }

    /// Describes a database, JSON.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn describe_database<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| {
            self.engine.describe_database(&id, done)
        })
    }

    /// Drops a database with all its files.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn drop_database<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(env, |()| (), |done| self.engine.drop_database(id, done))
    }

    /// Checks a JSON batch. `vectors` are those of records that come without, one after the other, or none.
    #[napi(ts_return_type = "Promise<Prepared | NativeFailure>")]
    pub fn prepare_batch<'env>(
        &self,
        env: &'env Env,
        id: String,
        body: Uint8Array,
        vectors: Float32Array,
    ) -> Result<Object<'env>> {
        let (body, vectors) = (body.to_vec(), vectors.to_vec());
        promise(env, Prepared::from, |done| {
            self.engine.prepare(&id, body, vectors, Format::Batch, done)
        })
    }

    /// Checks lines of JSON, of which the first has number `first_line`.
    #[napi(ts_return_type = "Promise<Prepared | NativeFailure>")]
    pub fn prepare_lines<'env>(
        &self,
        env: &'env Env,
        id: String,
        body: Uint8Array,
        first_line: f64,
    ) -> Result<Object<'env>> {
        let format = Format::Lines {
            first: first_line as u64,
        };
        promise(env, Prepared::from, |done| {
            self.engine
                .prepare(&id, body.to_vec(), Vec::new(), format, done)
        })
    }

    /// Writes prepared records with the vectors of their texts, one after the other, and the fingerprint of the
    /// model that made them.
    #[napi(ts_return_type = "Promise<NativeCommitted | NativeFailure>")]
    pub fn commit<'env>(
        &self,
        env: &'env Env,
        id: String,
        prepared: &Prepared,
        vectors: Float32Array,
        fingerprint: Option<String>,
    ) -> Result<Object<'env>> {
        let prepared = Arc::clone(&prepared.inner);
        let embedded = Embedded {
            vectors: vectors.to_vec(),
            fingerprint,
        };
        promise(env, committed, |done| {
            self.engine.commit(&id, prepared, embedded, done)
        })
    }

    /// One record as a variant shows it; `request` holds `variant` and `forced_filter`.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn record<'env>(
        &self,
        env: &'env Env,
        id: String,
        record: String,
        request: String,
    ) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| {
            self.engine.record(&id, record, request, done)
        })
    }

    /// Deletes records and tells how many there were; none once it is stopped.
    #[napi(ts_return_type = "Promise<number | NativeFailure>")]
    pub fn delete_records<'env>(
        &self,
        env: &'env Env,
        id: String,
        request: String,
        stop: &StopFlag,
    ) -> Result<Object<'env>> {
        let stop = Arc::clone(&stop.flag);
        promise(
            env,
            |deleted| deleted as f64,
            |done| self.engine.delete(&id, &request, stop, done),
        )
    }

    /// Searches by a vector.
    #[napi(ts_return_type = "Promise<NativePage | NativeFailure>")]
    pub fn search<'env>(
        &self,
        env: &'env Env,
        id: String,
        request: String,
        vector: Float64Array,
        stop: &StopFlag,
    ) -> Result<Object<'env>> {
        let stop = Arc::clone(&stop.flag);
        promise(env, NativePage::from, |done| {
            self.engine.search(&id, &request, &vector, stop, done)
        })
    }

    /// Runs the filter-only operation.
    #[napi(ts_return_type = "Promise<NativePage | NativeFailure>")]
    pub fn query<'env>(
        &self,
        env: &'env Env,
        id: String,
        request: String,
        stop: &StopFlag,
    ) -> Result<Object<'env>> {
        let stop = Arc::clone(&stop.flag);
        promise(env, NativePage::from, |done| {
            self.engine.query(&id, request, stop, done)
        })
    }

    /// Reads the change feed: `{"changes","position","has_more","epoch"}`.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn changes<'env>(
        &self,
        env: &'env Env,
        id: String,
        request: String,
        stop: &StopFlag,
    ) -> Result<Object<'env>> {
        let stop = Arc::clone(&stop.flag);
        promise(env, Buffer::from, |done| {
            self.engine.changes(&id, request, stop, done)
        })
    }

    /// Begins to embed a database with another model, or goes on: as `reembedding`. `settings` is JSON.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn begin_reembedding<'env>(
        &self,
        env: &'env Env,
        id: String,
        settings: String,
    ) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| {
            self.engine.begin_reembedding(&id, settings, done)
        })
    }

    /// How far it has come: `{"model","fingerprint","done","started_at"}` or `null`.
    #[napi(ts_return_type = "Promise<Buffer | NativeFailure>")]
    pub fn reembedding<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(env, Buffer::from, |done| self.engine.reembedding(&id, done))
    }

    /// Reads what is to be embedded next.
    #[napi(ts_return_type = "Promise<ReembeddingBatch | NativeFailure>")]
    pub fn prepare_reembedding<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(env, ReembeddingBatch::from, |done| {
            self.engine.prepare_reembedding(&id, done)
        })
    }

    /// Stores a batch with the vectors of its texts and the fingerprint of the model that made them, and tells how
    /// many records there are now.
    #[napi(ts_return_type = "Promise<number | NativeFailure>")]
    pub fn commit_reembedding<'env>(
        &self,
        env: &'env Env,
        id: String,
        batch: &ReembeddingBatch,
        vectors: Float32Array,
        fingerprint: String,
    ) -> Result<Object<'env>> {
        let batch = Arc::clone(&batch.inner);
        let embedded = Embedded {
            vectors: vectors.to_vec(),
            fingerprint: Some(fingerprint),
        };
        promise(
            env,
            |records| records as f64,
            |done| self.engine.commit_reembedding(&id, batch, embedded, done),
        )
    }

    /// Makes ready what is embedded so far, so that the switch is quick.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn warm_reembedding<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(env, |()| (), |done| self.engine.warm_reembedding(id, done))
    }

    /// Puts what is embedded in the database's place; nothing may be written since the last batch.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn switch_reembedding<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(
            env,
            |()| (),
            |done| self.engine.switch_reembedding(id, done),
        )
    }

    /// Removes what is embedded so far.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn cancel_reembedding<'env>(&self, env: &'env Env, id: String) -> Result<Object<'env>> {
        promise(
            env,
            |()| (),
            |done| self.engine.cancel_reembedding(&id, done),
        )
    }

    /// How busy the scan threads are.
    #[napi]
    pub fn scan_stats(&self) -> NativeScanStats {
        let stats = self.engine.scanner_stats();
        NativeScanStats {
            waiting: stats.waiting as u32,
            passes: stats.passes as u32,
            answered: stats.answered as f64,
        }
    }

    /// What has been done since the engine was opened, and what waits.
    #[napi]
    pub fn meter(&self) -> NativeMeter {
        let reading = self.engine.metrics();
        NativeMeter {
            commits: reading.commits as f64,
            commit_micros: reading.commit_micros as f64,
            writes_waiting: reading.writes_waiting as u32,
            scanned_bytes: reading.scanned_bytes as f64,
        }
    }

    /// Removes and returns the events since the last call, also after `close`:
    /// `{"events":[{"at","level","code","database","text"}],"dropped"}`.
    #[napi]
    pub fn take_events(&self) -> String {
        self.engine.take_events().to_json().to_string()
    }

    /// Answers what was taken, saves, and gives the directory free.
    #[napi(ts_return_type = "Promise<undefined | NativeFailure>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        promise(
            env,
            |()| (),
            |done| Engine::close_in_background(&self.engine, done),
        )
    }
}

fn committed(committed: Committed) -> NativeCommitted {
    NativeCommitted {
        created: committed.count(Status::Created) as u32,
        changed: committed.count(Status::Changed) as u32,
        unchanged: committed.count(Status::Unchanged) as u32,
        results: committed.results_json().into(),
        problems: committed
            .problems
            .into_iter()
            .map(NativeLineProblem::from)
            .collect(),
    }
}
