//! What callers ask of one database: writes, reads and searches.

use std::sync::Arc;

use crate::api::changes::Changes;
use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::workers::Step;
use crate::error::{Done, Error};
use crate::filter::RequestReader;
use crate::record::{RecordRow, TimeRange, to_unit_q30};
use crate::runtime::{StopCheck, StopFlag};
use crate::search::{Page, Query, Search, not_approximate, write_record};
use crate::snapshot::{EXPENSIVE_NS, Selection};
use crate::write::{
    Answer, Command, Commit, Committed, Deleted, Deletion, Embedded, Format, Found, Prepared,
    RecordRef, prepare,
};

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
            prepare(
                &database.prepare_target(),
                &body,
                &vectors,
                format,
                &engine.limits,
            )
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
            Ok(database) => database.send(Command::Commit(Commit {
                prepared,
                embedded,
                answer: Answer::new(done),
            })),
            Err(error) => done(Err(error)),
        }
    }

    /// Deletes records; `done` gets how many there were. None is deleted once `stop` is set before the commit.
    pub fn delete(self: &Arc<Self>, id: &str, request: &str, stop: StopFlag, done: Done<usize>) {
        let checked = self
            .database(id)
            .and_then(|database| Ok((database, Deletion::parse(request, &self.limits)?)));
        match checked {
            Ok((database, deletion)) => {
                let found = Found::nothing(deletion, stop);
                if found.needs_no_test() {
                    self.delete_found(database, found, done);
                } else {
                    self.find_and_delete(database, found, done);
                }
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Finds the records of a deletion beside the writer, then deletes them.
    fn find_and_delete(self: &Arc<Self>, database: Arc<Database>, found: Found, done: Done<usize>) {
        let (engine, target) = (Arc::clone(self), Arc::clone(&database));
        let delete: Done<Found> = Box::new(move |found| match found {
            Ok(found) => engine.delete_found(target, found, done),
            Err(error) => done(Err(error)),
        });
        self.run_query(delete, move || {
            let finding = found.bind(database.published());
            Ok(if finding.cost() > EXPENSIVE_NS {
                Step::Heavy(Box::new(move || Ok(finding.run()?)))
            } else {
                Step::Done(finding.run()?)
            })
        });
    }

    /// Has the writer delete the records that were found, and finds them again where too much was written meanwhile.
    fn delete_found(self: &Arc<Self>, database: Arc<Database>, found: Found, done: Done<usize>) {
        let (engine, target) = (Arc::clone(self), Arc::clone(&database));
        let answer: Done<Deleted> = Box::new(move |deleted| match deleted {
            Ok(Deleted::Records(records)) => done(Ok(records)),
            Ok(Deleted::Outdated(found)) => engine.find_and_delete(target, found, done),
            Err(error) => done(Err(error)),
        });
        database.send(Command::Delete {
            found,
            answer: Answer::new(answer),
        });
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
                self.scanner
                    .submit(Arc::clone(&database.searchable), search, vector, stop, done)
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Runs the filter-only operation; see [`Query::parse`] for the request.
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
