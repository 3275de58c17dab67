//! Calls that read: single records, searches, queries and changes.

use std::sync::Arc;

use crate::api::changes::Changes;
use crate::api::engine::Engine;
use crate::api::workers::Step;
use crate::error::{Done, Error};
use crate::filter::RequestReader;
use crate::record::{RecordRow, TimeRange};
use crate::reply::Reply;
use crate::runtime::{StopCheck, StopFlag};
use crate::search::{Page, Query, Search, write_record};
use crate::snapshot::Selection;
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
            let published = database.published().read();
            let snapshot = &published.snapshot;
            let selection = Selection::bind(snapshot, forced.as_ref(), TimeRange::ALWAYS);
            let found = RecordRef::parse(&record).and_then(|record| record.find(&published));
            let holds = |row: &RecordRow| {
                selection.holds(snapshot.at(*row), &StopCheck::never()) == Ok(true)
            };
            match found.filter(holds) {
                Some(row) => {
                    let (block, slot) = snapshot.at(row);
                    let mut out = Vec::new();
                    write_record(snapshot, block, slot, variant, &mut out);
                    Ok(out)
                }
                None => Err(Error::RecordNotFound {
                    database: database.id.clone(),
                    id: record.clone(),
                }),
            }
        });
    }

    /// Runs a semantic search; see [`Search::parse`] for the request. `vector` is the vector of the query text.
    pub fn search<T: Copy + Into<f64>>(
        &self,
        id: &str,
        request: &str,
        vector: &[T],
        stop: StopFlag,
        done: Done<Page>,
    ) {
        let checked = self.database(id).and_then(|database| {
            let search = Search::parse(request, &self.limits)?;
            let vector = search.check(&database.settings, database.is_lexical(), vector)?;
            // Only what is searched is kept: the last handle of a database must not end with a search of the caller.
            Ok((Arc::clone(&database.searchable), search, vector))
        });
        match checked {
            Ok((searchable, search, vector)) => {
                let reply = Reply::new(done);
                self.searches
                    .submit(searchable, search, vector, stop, reply);
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Lists the records that pass a filter; see [`Query::parse`] for the request.
    pub fn query(self: &Arc<Self>, id: &str, request: String, stop: StopFlag, done: Done<Page>) {
        let (engine, database) = (Arc::clone(self), self.database(id));
        self.run_query(done, move || {
            let database = database?;
            let query = Query::parse(&request, &engine.limits)?.bind(&database.searchable, stop)?;
            Ok(if query.is_expensive() {
                Step::Heavy(Box::new(move || query.run()))
            } else {
                Step::Done(query.run()?)
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
            Ok(Step::Done(changes.run(&database, &stop)?))
        });
    }
}
