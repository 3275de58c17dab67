//! The engine with blocking calls.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use cosift_engine::{
    Committed, DoctorProgress, Done, Embedded, Engine, Error, Event, Export, Format, Limits, Page,
    Prepared, ReembeddingBatch, StopFlag,
};
use serde_json::{Value, json};

use super::oracle::{Known, Oracle, hits};

/// Timeout of a reply. Every call of the tests takes a small fraction of it.
const REPLY_TIMEOUT: Duration = Duration::from_secs(60);

/// An engine on a directory.
pub(crate) struct Server {
    pub(crate) engine: Arc<Engine>,
}

/// The pending result of a call.
pub(crate) struct Pending<T>(Receiver<Result<T, Error>>);

impl<T> Pending<T> {
    fn of(call: impl FnOnce(Done<T>)) -> Self
    where
        T: Send + 'static,
    {
        let (sender, outcome) = channel();
        // If nobody receives, the test has already failed.
        call(Box::new(move |result| drop(sender.send(result))));
        Self(outcome)
    }

    pub(crate) fn wait(self) -> Result<T, Error> {
        self.0
            .recv_timeout(REPLY_TIMEOUT)
            .expect("every call is answered")
    }
}

pub(crate) fn stop_flag() -> StopFlag {
    Arc::new(AtomicBool::new(false))
}

fn parse(body: &[u8]) -> Value {
    serde_json::from_slice(body).expect("a response is JSON")
}

impl Server {
    /// Opens a data directory with all its databases.
    pub(crate) fn open(directory: &Path) -> Self {
        Self::with_threads(directory, 2)
    }

    pub(crate) fn with_threads(directory: &Path, threads: usize) -> Self {
        Self::with(directory, threads, Limits::default())
    }

    pub(crate) fn with_limits(directory: &Path, limits: Limits) -> Self {
        Self::with(directory, 2, limits)
    }

    fn with(directory: &Path, threads: usize, limits: Limits) -> Self {
        let engine =
            Engine::open(directory, Some(threads), limits).expect("nobody else has the directory");
        Pending::of(|done| engine.load(done))
            .wait()
            .expect("every database loads");
        Self { engine }
    }

    pub(crate) fn create(&self, id: &str, dimensions: usize) {
        self.create_with(id, &json!({ "model": null, "dimensions": dimensions }))
            .expect("created");
    }

    pub(crate) fn create_with(&self, id: &str, settings: &Value) -> Result<Vec<u8>, Error> {
        let settings = settings.to_string();
        Pending::of(|done| self.engine.create_database(id.into(), settings, done)).wait()
    }

    pub(crate) fn commit_with(
        &self,
        id: &str,
        prepared: Arc<Prepared>,
        embedded: Embedded,
    ) -> Result<Committed, Error> {
        Pending::of(|done| self.engine.commit(id, prepared, embedded, done)).wait()
    }

    pub(crate) fn configure(&self, id: &str, settings: &Value) -> Result<Vec<u8>, Error> {
        let settings = settings.to_string();
        Pending::of(|done| self.engine.configure_database(id.into(), settings, done)).wait()
    }

    /// The report of the doctor on a database that is served.
    pub(crate) fn examine(&self, id: &str) -> Value {
        let progress = DoctorProgress::default();
        let report = Pending::of(|done| {
            Arc::clone(&self.engine).examine(id.into(), stop_flag(), progress, done)
        });
        parse(&report.wait().expect("examined"))
    }

    pub(crate) fn begin_reembedding(&self, id: &str, settings: &Value) -> Result<Value, Error> {
        let settings = settings.to_string();
        let reembedding =
            Pending::of(|done| self.engine.begin_reembedding(id, settings, done)).wait()?;
        Ok(parse(&reembedding))
    }

    pub(crate) fn reembedding(&self, id: &str) -> Value {
        let reembedding = Pending::of(|done| self.engine.reembedding(id, done)).wait();
        parse(&reembedding.expect("described"))
    }

    pub(crate) fn prepare_reembedding(&self, id: &str) -> Result<ReembeddingBatch, Error> {
        Pending::of(|done| self.engine.prepare_reembedding(id, done)).wait()
    }

    pub(crate) fn commit_reembedding(
        &self,
        id: &str,
        batch: impl Into<Arc<ReembeddingBatch>>,
        embedded: Embedded,
    ) -> Result<u64, Error> {
        let batch = batch.into();
        Pending::of(|done| self.engine.commit_reembedding(id, batch, embedded, done)).wait()
    }

    pub(crate) fn warm_reembedding(&self, id: &str) -> Result<(), Error> {
        Pending::of(|done| self.engine.warm_reembedding(id.into(), done)).wait()
    }

    pub(crate) fn switch_reembedding(&self, id: &str) -> Result<(), Error> {
        Pending::of(|done| self.engine.switch_reembedding(id.into(), done)).wait()
    }

    pub(crate) fn cancel_reembedding(&self, id: &str) -> Result<(), Error> {
        Pending::of(|done| self.engine.cancel_reembedding(id, done)).wait()
    }

    pub(crate) fn prepare(
        &self,
        id: &str,
        body: Vec<u8>,
        vectors: Vec<f32>,
        format: Format,
    ) -> Result<Prepared, Error> {
        Pending::of(|done| self.engine.prepare(id, body, vectors, format, done)).wait()
    }

    /// Prepares lines, the first of which has the number `first`.
    pub(crate) fn prepare_lines(
        &self,
        id: &str,
        body: Vec<u8>,
        first: u64,
    ) -> Result<Prepared, Error> {
        let needs_identity = false;
        let format = Format::Lines {
            first,
            needs_identity,
            read_at: None,
        };
        self.prepare(id, body, Vec::new(), format)
    }

    pub(crate) fn prepare_patch(
        &self,
        id: &str,
        record: &str,
        data: &Value,
    ) -> Result<Prepared, Error> {
        let body = json!({ "data": data }).to_string().into_bytes();
        let is_integer = record.parse::<u64>().is_ok();
        let form = if is_integer { "integer" } else { "uuid" }.to_owned();
        Pending::of(|done| {
            self.engine
                .prepare_patch(id, record.into(), form, body, done)
        })
        .wait()
    }

    pub(crate) fn commit(&self, id: &str, prepared: Prepared) -> Pending<Committed> {
        Pending::of(|done| {
            self.engine
                .commit(id, Arc::new(prepared), Embedded::default(), done)
        })
    }

    /// Upserts a batch as JSON, vectors inside.
    pub(crate) fn upsert(&self, id: &str, records: &Value) -> Result<Committed, Error> {
        let body = json!({ "records": records }).to_string().into_bytes();
        let prepared = self.prepare(id, body, Vec::new(), Format::Batch)?;
        self.commit(id, prepared).wait()
    }

    /// Upserts records in batches of a thousand.
    pub(crate) fn put(&self, id: &str, records: &[Known]) {
        for batch in records.chunks(1000) {
            self.put_batch(id, batch).wait().expect("committed");
        }
    }

    /// Upserts one batch with its vectors outside the JSON.
    pub(crate) fn put_batch(&self, id: &str, batch: &[Known]) -> Pending<Committed> {
        let records: Vec<Value> = batch.iter().map(Known::to_json).collect();
        let vectors = batch
            .iter()
            .flat_map(|record| record.vector.iter().copied())
            .collect();
        let body = json!({ "records": records }).to_string().into_bytes();
        let prepared = self
            .prepare(id, body, vectors, Format::Batch)
            .expect("good records");
        self.commit(id, prepared)
    }

    /// Upserts records in the engine and in the oracle.
    pub(crate) fn put_known(&self, id: &str, oracle: &mut Oracle, records: Vec<Known>) {
        self.put(id, &records);
        oracle
            .records
            .extend(records.into_iter().map(|record| (record.id, record)));
    }

    pub(crate) fn open_export(&self, id: &str, request: &Value) -> Result<Arc<Export>, Error> {
        let request = request.to_string();
        let opened = Pending::of(|done| self.engine.open_export(id, request, stop_flag(), done));
        opened.wait().map(Arc::new)
    }

    /// The next lines of an export.
    pub(crate) fn export_chunk(&self, export: &Arc<Export>) -> Result<Vec<u8>, Error> {
        Pending::of(|done| self.engine.export_chunk(export, stop_flag(), done)).wait()
    }

    /// All further lines of an export.
    pub(crate) fn export_rest(&self, export: &Arc<Export>) -> Result<Vec<u8>, Error> {
        let mut lines = Vec::new();
        loop {
            let chunk = self.export_chunk(export)?;
            if chunk.is_empty() {
                return Ok(lines);
            }
            lines.extend(chunk);
        }
    }

    pub(crate) fn export(&self, id: &str, request: &Value) -> Vec<u8> {
        let export = self.open_export(id, request).expect("opened");
        self.export_rest(&export).expect("exported")
    }

    pub(crate) fn delete(&self, id: &str, request: &Value) -> Result<usize, Error> {
        self.start_delete(id, request, stop_flag()).wait()
    }

    /// A moment in the writes of a database, for a deletion of the records that were not written since.
    pub(crate) fn mark(&self, id: &str) -> Value {
        let mark = Pending::of(|done| self.engine.mark(id, done)).wait();
        serde_json::from_slice(&mark.expect("a mark")).expect("JSON")
    }

    pub(crate) fn start_delete(&self, id: &str, request: &Value, stop: StopFlag) -> Pending<usize> {
        Pending::of(|done| self.engine.delete(id, &request.to_string(), stop, done))
    }

    pub(crate) fn start_query(&self, id: &str, request: &Value, stop: StopFlag) -> Pending<Page> {
        Pending::of(|done| self.engine.query(id, request.to_string(), stop, done))
    }

    pub(crate) fn start_search(
        &self,
        id: &str,
        request: &Value,
        vector: &[f32],
        stop: StopFlag,
    ) -> Pending<Page> {
        Pending::of(|done| {
            self.engine
                .search(id, &request.to_string(), vector, stop, done)
        })
    }

    pub(crate) fn try_search(
        &self,
        id: &str,
        request: &Value,
        vector: &[f32],
    ) -> Result<Value, Error> {
        Ok(parse(
            &self
                .start_search(id, request, vector, stop_flag())
                .wait()?
                .body,
        ))
    }

    pub(crate) fn search(&self, id: &str, request: &Value, vector: &[f32]) -> Value {
        self.try_search(id, request, vector)
            .unwrap_or_else(|error| panic!("{request}: {error}"))
    }

    pub(crate) fn try_query(&self, id: &str, request: &Value) -> Result<Value, Error> {
        let response = self.start_query(id, request, stop_flag()).wait()?;
        Ok(parse(&response.body))
    }

    pub(crate) fn query(&self, id: &str, request: &Value) -> Value {
        self.try_query(id, request)
            .unwrap_or_else(|error| panic!("{request}: {error}"))
    }

    pub(crate) fn record(&self, id: &str, record: &str) -> Result<Value, Error> {
        self.record_with(id, record, &json!({}))
    }

    pub(crate) fn record_with(
        &self,
        id: &str,
        record: &str,
        request: &Value,
    ) -> Result<Value, Error> {
        let request = request.to_string();
        let call = |done| self.engine.record(id, record.into(), request, done);
        Ok(parse(&Pending::of(call).wait()?))
    }

    pub(crate) fn changes(&self, id: &str, after: u64, limit: usize) -> Value {
        let request = json!({ "after": after, "limit": limit });
        self.try_changes(id, &request).expect("changes")
    }

    pub(crate) fn try_changes(&self, id: &str, request: &Value) -> Result<Value, Error> {
        let request = request.to_string();
        let call = |done| self.engine.changes(id, request, stop_flag(), done);
        Ok(parse(&Pending::of(call).wait()?))
    }

    pub(crate) fn describe(&self, id: &str) -> Value {
        parse(
            &Pending::of(|done| self.engine.describe_database(id, done))
                .wait()
                .expect("described"),
        )
    }

    /// Starts to create a database of two dimensions.
    pub(crate) fn start_create(&self, id: &str) -> Pending<Vec<u8>> {
        let settings = json!({ "model": null, "dimensions": 2 }).to_string();
        Pending::of(|done| self.engine.create_database(id.into(), settings, done))
    }

    /// The state of a database; `null` when there is none.
    pub(crate) fn state(&self, id: &str) -> Value {
        let progress = self.engine.progress();
        let databases = progress["databases"].as_array().expect("a list");
        let found = databases.iter().find(|database| database["id"] == id);
        found.cloned().unwrap_or(Value::Null)
    }

    /// The events since the last call: code, database and text.
    pub(crate) fn events(&self) -> Vec<(&'static str, Option<String>, String)> {
        let events = self.engine.take_events();
        assert_eq!(events.dropped, 0);
        let event = |event: Event| {
            let database = event.database.as_deref().map(str::to_owned);
            (event.code.name(), database, event.text)
        };
        events.events.into_iter().map(event).collect()
    }

    pub(crate) fn drop_database(&self, id: &str) -> Pending<()> {
        Pending::of(|done| self.engine.drop_database(id.into(), done))
    }

    /// Checks one page of a search, and its total, against the oracle.
    pub(crate) fn check(&self, id: &str, oracle: &Oracle, request: &Value, vector: &[f32]) {
        let page = self.search(id, request, vector);
        let expected = oracle.ranking(request, vector);
        let count = expected.matches.len();
        if request["total"] == true {
            assert_eq!(page["total"]["value"], json!(count), "{request}");
        }
        let limit = request["limit"].as_u64().unwrap_or(50) as usize;
        assert_eq!(
            page["pagination"]["has_more"],
            json!(count > limit),
            "{request}"
        );
        assert_same(&hits(&page), &expected.shown(limit), request);
        let cursor = page["pagination"]["next_cursor"].as_str();
        if let (Some(cursor), false) = (cursor, request["distinct"].is_null()) {
            let mut request = request.clone();
            request["cursor"] = json!(cursor);
            let next = self.search(id, &request, vector);
            let expected = expected.shown(2 * limit);
            assert_same(&hits(&next), &expected[limit..], &request);
        }
    }

    /// Closes the engine and releases the directory lock.
    pub(crate) fn close(self) {
        self.engine.close();
    }
}

/// Compares results and panics with the first difference.
pub(crate) fn assert_same(found: &[Value], expected: &[Value], request: &Value) {
    for (at, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "result {at} of {request}");
    }
    assert_eq!(found.len(), expected.len(), "{request}");
}

/// A command that runs one ignored test of this test binary in a separate process.
pub(crate) fn child(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the test's own path"));
    command.args([
        test,
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Reports that the current test had to skip a check. The line bypasses the harness, which hides the output of a
/// passing test. `scripts/test.mjs` counts these lines.
pub(crate) fn skipped(reason: &str) {
    use std::io::Write;

    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // The line is one write, because other tests print at the same time.
    let line = format!("\nskipped: {test}: {reason}\n");
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("stderr is writable");
}
