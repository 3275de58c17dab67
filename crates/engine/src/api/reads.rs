//! Calls that read: single records, searches, queries, changes and exports.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::api::changes::Changes;
use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::workers::FirstPart;
use crate::error::{Done, Error};
use crate::export::ExportReader;
use crate::filter::RequestReader;
use crate::record::{RecordRow, TimeRange};
use crate::reply::{Reply, replies_of};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::{ExampleQuery, Examples, NewSearch, Page, Pages, Query, RecordWriter, Search};
use crate::snapshot::{Selection, VectorWriter};
use crate::write::RecordRef;

impl Engine {
    /// Reads one record as JSON, if it passes the forced filter.
    pub fn record(
        self: &Arc<Self>,
        id: &str,
        record: String,
        request: String,
        done: Done<Vec<u8>>,
    ) {
        self.with(id, done, move |engine, database| {
            let request = RequestReader::new(&request, &engine.limits)?;
            let variant = request.variant()?;
            let forced = request.filter(variant)?;
            let vectors = request.flag("vectors")?;
            let fingerprint = database.settings.fingerprint.as_deref();
            let reference = RecordRef::parse(&record);
            let (snapshot, found) = {
                let published = database.published().read();
                let found = reference.and_then(|record| record.find(&published));
                (Arc::clone(&published.snapshot), found)
            };
            let selection = Selection::bind(&snapshot, forced.as_ref(), TimeRange::ALWAYS);
            let holds = |row: &RecordRow| {
                selection.holds(snapshot.at(*row), &StopCheck::never()) == Ok(true)
            };
            match found.filter(holds) {
                Some(row) => {
                    let mut out = Vec::new();
                    let mut writer = RecordWriter {
                        snapshot: &snapshot,
                        variant,
                        shown: None,
                        vectors: vectors.then(|| VectorWriter::new(fingerprint)),
                    };
                    writer.write(snapshot.at(row), &mut out)?;
                    Ok(out)
                }
                None => Err(Error::RecordNotFound {
                    database: database.id.clone(),
                    id: record.clone(),
                }),
            }
        });
    }

    /// Makes the query of the examples of a search; see [`Examples::parse`] for the request.
    pub fn examples(self: &Arc<Self>, id: &str, request: String, done: Done<ExampleQuery>) {
        self.with(id, done, move |engine, database| {
            let examples = Examples::parse(&request, &engine.limits)?;
            let (snapshot, rows) = {
                let published = database.published().read();
                (Arc::clone(&published.snapshot), examples.rows(&published))
            };
            examples.query(database.epoch, &database.settings, &snapshot, &rows)
        });
    }

    /// Runs one search; see [`Engine::searches`].
    pub fn search(
        self: &Arc<Self>,
        id: &str,
        request: &str,
        vector: &[impl Copy + Into<f64>],
        stop: StopFlag,
        done: Done<Page>,
    ) {
        let vector = vector.iter().map(|&value| value.into()).collect();
        let only = |mut pages: Pages| pages.pop().unwrap_or(Err(Error::Closed));
        let done: Done<Pages> = Box::new(move |pages| done(pages.and_then(only)));
        self.searches(id, vec![(request.to_owned(), vector)], stop, done);
    }

    /// Runs semantic searches on one snapshot; see [`Search::parse`] for a request. Each has the vector of its query text. A
    /// search that fails leaves the others.
    pub fn searches(
        self: &Arc<Self>,
        id: &str,
        searches: Vec<(String, Vec<f64>)>,
        stop: StopFlag,
        done: Done<Pages>,
    ) {
        let database = match self.database(id) {
            Ok(database) => database,
            Err(error) => return done(Err(error)),
        };
        if searches.len() == 1 {
            return self.start_searches(database, &searches, &stop, done);
        }
        // The caller does not wait until many requests are parsed.
        let engine = Arc::clone(self);
        let reply = Reply::new(done);
        let refused = reply.clone();
        let started: Done<()> = Box::new(move |started| {
            if let Err(error) = started {
                refused.send(Err(error));
            }
        });
        self.threads.queries.run(started, move || {
            let done = Box::new(move |pages| reply.send(pages));
            engine.start_searches(database, &searches, &stop, done);
            Ok(())
        });
    }

    fn start_searches(
        &self,
        database: Arc<Database>,
        searches: &[(String, Vec<f64>)],
        stop: &StopFlag,
        done: Done<Pages>,
    ) {
        let replies = replies_of(searches.len(), done);
        let settings = database.current_settings();
        let mut checked = Vec::with_capacity(searches.len());
        for ((request, vector), reply) in searches.iter().zip(replies) {
            let search = Search::parse(request, &self.limits).and_then(|search| {
                let vector = search.check(&settings, vector)?;
                Ok((search, vector))
            });
            match search {
                Ok((request, vector)) => checked.push(NewSearch {
                    request,
                    vector,
                    reply,
                }),
                Err(error) => reply.send(Err(error)),
            }
        }
        // Only what is searched is kept: the last handle of a database must not end with a search of the caller.
        let searchable = Arc::clone(&database.searchable);
        drop(database);
        self.searches.submit(&searchable, checked, stop);
    }

    /// Lists the records that pass a filter; see [`Query::parse`] for the request.
    pub fn query(self: &Arc<Self>, id: &str, request: String, stop: StopFlag, done: Done<Page>) {
        let (engine, database) = (Arc::clone(self), self.database(id));
        self.run_query(done, move || {
            let database = database?;
            let query = Query::parse(&request, &engine.limits)?;
            query.common.check(&database.current_settings())?;
            let query = query.bind(&database.searchable, stop)?;
            Ok(if query.is_expensive() {
                FirstPart::Heavy(Box::new(move || query.run()))
            } else {
                FirstPart::Done(query.run()?)
            })
        });
    }

    /// Reads the change feed; see [`Changes::parse`] for the request.
    pub fn changes(
        self: &Arc<Self>,
        id: &str,
        request: String,
        stop: StopFlag,
        done: Done<Vec<u8>>,
    ) {
        let (engine, database) = (Arc::clone(self), self.database(id));
        self.run_query(done, move || {
            let database = database?;
            let changes = Changes::parse(&request, &engine.limits)?;
            Ok(FirstPart::Done(changes.run(&database, &stop)?))
        });
    }
}

/// An export in progress; see [`Engine::open_export`].
pub struct Export {
    database: String,
    /// The epoch of the database: one that is created later with the same id has another.
    epoch: [u8; 16],
    /// `None` once the export was closed.
    reader: Mutex<Option<ExportReader>>,
}

impl Export {
    /// Frees what the export holds. A later call for its chunks fails.
    pub fn close(&self) {
        self.reader.lock().take();
    }
}

impl Engine {
    /// Begins to export the records of the newest snapshot as NDJSON, in the order of their ids. `request` is JSON:
    /// `vectors`, `filter`, `forced_filter`.
    pub fn open_export(
        self: &Arc<Self>,
        id: &str,
        request: String,
        stop: StopFlag,
        done: Done<Export>,
    ) {
        let (engine, database) = (Arc::clone(self), self.database(id));
        self.threads.exports.run(done, move || {
            let database = database?;
            let reader = ExportReader::begin(
                &request,
                &engine.limits,
                &database.settings,
                database.snapshot(),
                &stop,
            )?;
            Ok(Export {
                database: database.id.clone(),
                epoch: database.epoch,
                reader: Mutex::new(Some(reader)),
            })
        });
    }

    /// Reads the next lines of an export; nothing after the last record. The export continues after a switch to another
    /// model, with the vectors of the former model.
    ///
    /// `done` gets [`Error::DatabaseNotFound`] when the database was dropped meanwhile, and [`Error::Stopped`] when the
    /// export was closed.
    pub fn export_chunk(
        self: &Arc<Self>,
        export: &Arc<Export>,
        stop: StopFlag,
        done: Done<Vec<u8>>,
    ) {
        let (engine, export) = (Arc::clone(self), Arc::clone(export));
        self.threads.exports.run(done, move || {
            let id = &export.database;
            if engine.database(id)?.epoch != export.epoch {
                return Err(Error::DatabaseNotFound { id: id.clone() });
            }
            let mut reader = export.reader.lock();
            reader.as_mut().ok_or(Error::Stopped)?.next_chunk(&stop)
        });
    }
}
