//! What callers ask of one database: writes, reads and searches.

use std::sync::Arc;

use crate::answer::Answer;
use crate::changes::Changes;
use crate::commit::{Commit, Committed, Embedded};
use crate::delete::{Deletion, RecordRef};
use crate::engine::{Done, Engine};
use crate::error::Error;
use crate::prepare::{Format, Prepared, prepare};
use crate::query::Query;
use crate::score::to_unit_q30;
use crate::search::{
    Page, RequestReader, Search, StopFlag, TimeRange, not_approximate, write_record,
};
use crate::select::Selection;
use crate::task::Task;

impl Engine {
    /// Parses and checks records, and finds which of them need an embedding.
    ///
    /// `vectors` are those of a batch whose records come without: one after the other, or none.
    pub fn prepare(
        self: &Arc<Self>,
        id: &str,
        body: Vec<u8>,
        vectors: Vec<f32>,
        format: Format,
        done: Done<Prepared>,
    ) {
        self.with(id, done, move |engine, database| {
            prepare(database, &body, &vectors, format, &engine.limits)
        });
    }

    /// Commits prepared records with the vectors of their texts; they are durable and searchable when `done` is called.
    ///
    /// `done` gets [`Error::Stale`], and nothing is stored, when `embedded` comes of another model than the database
    /// has, or other texts are needed by now: ask for the texts again, embed them, and commit.
    /// [`Error::DatabaseNotFound`] when the records were prepared for another database of that id, which was dropped
    /// since.
    pub fn commit(
        &self,
        id: &str,
        prepared: Arc<Prepared>,
        embedded: Embedded,
        done: Done<Committed>,
    ) {
        match self.database(id) {
            Ok(database) if database.epoch != prepared.epoch => {
                done(Err(Error::DatabaseNotFound { id: id.to_owned() }));
            }
            Ok(database) => database.send(Task::Commit(Commit {
                prepared,
                embedded,
                answer: Answer::new(done),
            })),
            Err(error) => done(Err(error)),
        }
    }

    /// Deletes records; `done` gets how many there were.
    pub fn delete(&self, id: &str, request: &str, done: Done<usize>) {
        match self
            .database(id)
            .and_then(|database| Ok((database, Deletion::parse(request, &self.limits)?)))
        {
            Ok((database, deletion)) => database.send(Task::Delete {
                deletion,
                answer: Answer::new(done),
            }),
            Err(error) => done(Err(error)),
        }
    }

    /// One record as `variant` shows it, if it satisfies the forced filter.
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
            database.with_published(|published| {
                let snapshot = &published.snapshot;
                let selection = Selection::bind(snapshot, forced.as_ref(), TimeRange::ALWAYS);
                let found = RecordRef::parse(&record).and_then(|record| record.find(published));
                match found.filter(|&row| selection.holds(snapshot.at(row))) {
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
            })
        });
    }

    /// Searches; see [`Search::parse`] for the request. `vector` is the query's embedding.
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
            let fingerprint = &database.settings.fingerprint;
            if (search.embedded_by.as_ref()).is_some_and(|by| by != fingerprint) {
                return Err(Error::Stale);
            }
            let expected = database.settings.dimensions;
            if vector.len() != expected {
                return Err(Error::Dimensions {
                    expected,
                    got: vector.len(),
                });
            }
            if search.approximate && !database.settings.approximate {
                return Err(not_approximate(
                    "the database has no approximate index: make one with \"approximate\": true, or search without",
                ));
            }
            Ok((database, search, to_unit_q30(vector)?))
        });
        match checked {
            Ok((database, search, vector)) => {
                self.scanner.submit(database, search, vector, stop, done)
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Runs the filter-only operation; see [`Query::parse`] for the request.
    pub fn query(self: &Arc<Self>, id: &str, request: String, stop: StopFlag, done: Done<Page>) {
        self.with(id, done, move |engine, database| {
            Query::parse(&request, &engine.limits)?.run(database, &stop)
        });
    }

    /// Reads the change feed; see [`Changes::parse`] for the request.
    pub fn changes(self: &Arc<Self>, id: &str, request: String, done: Done<Vec<u8>>) {
        self.with(id, done, move |engine, database| {
            Changes::parse(&request, &engine.limits)?.run(database)
        });
    }
}
