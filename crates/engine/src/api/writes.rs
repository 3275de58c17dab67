//! Calls that write: upserts and patches in two halves, and deletions.

use std::sync::Arc;

use crate::api::database::Database;
use crate::api::engine::Engine;
use crate::api::workers::FirstPart;
use crate::error::{Done, Error};
use crate::record::hexadecimal;
use crate::runtime::StopFlag;
use crate::snapshot::EXPENSIVE_NS;
use crate::write::{
    Command, Commit, Committed, Deleted, Deletion, DeletionMatches, Embedded, Format, Patch,
    Prepared, prepare, prepare_patch,
};

impl Engine {
    /// Parses and checks records, and finds which of them need an embedding.
    ///
    /// `vectors` are the vectors of a batch, one after the other, with `dimensions` values each. They may be empty.
    pub fn prepare(
        self: &Arc<Self>,
        id: &str,
        body: impl AsRef<[u8]> + Send + 'static,
        vectors: Vec<f32>,
        format: Format,
        done: Done<Prepared>,
    ) {
        self.with(id, done, move |engine, database| {
            prepare(
                &database.prepare_target(),
                body.as_ref(),
                &vectors,
                format,
                &engine.limits,
            )
        });
    }

    /// Parses a patch of one record and finds whether it needs an embedding. `record` is an integer, a UUID, or `key:` and
    /// a key; `form` is how the response shows the record: `uuid`, `integer` or `both`.
    pub fn prepare_patch(
        self: &Arc<Self>,
        id: &str,
        record: String,
        form: String,
        body: Vec<u8>,
        done: Done<Prepared>,
    ) {
        self.with(id, done, move |engine, database| {
            let (target, limits) = (database.prepare_target(), &engine.limits);
            let flatten = target.settings.flatten;
            let patch = Patch::parse(&database.id, &record, &form, &body, flatten, limits)?;
            prepare_patch(&target, patch, limits)
        });
    }

    /// Commits prepared records with the vectors of their texts. They are durable and searchable when `done` is called.
    /// Then they are freed, and another commit of them fails.
    ///
    /// `done` gets [`Error::Stale`], and nothing is stored, when `embedded` was made by another model than the
    /// database has, or when the commit needs other texts: read the texts again, embed them, and commit again.
    /// [`Error::DatabaseNotFound`] when the records were prepared for an earlier database of the same id, which was
    /// dropped.
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
            Ok(database) => {
                let commit = Commit {
                    prepared,
                    embedded,
                    reply: database.reply(done),
                };
                database.send(Command::Commit(database.waiting_write(), commit));
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Deletes records; `done` gets their number. When `stop` is set before the commit, nothing is deleted. `done` gets
    /// [`Error::DeletionRefused`] when there are more records than the request allows.
    pub fn delete(self: &Arc<Self>, id: &str, request: &str, stop: StopFlag, done: Done<usize>) {
        let checked = self
            .database(id)
            .and_then(|database| Ok((database, Deletion::parse(request, &self.limits)?)))
            .and_then(|(database, deletion)| {
                if !deletion.is_of(&hexadecimal(database.epoch)) {
                    return Err(Error::DatabaseNotFound { id: id.to_owned() });
                }
                Ok((database, deletion))
            });
        match checked {
            Ok((database, deletion)) => {
                let matches = DeletionMatches::untested(deletion, stop);
                if matches.needs_no_test() {
                    self.delete_matches(database, matches, done);
                } else {
                    self.find_and_delete(database, matches, done);
                }
            }
            Err(error) => done(Err(error)),
        }
    }

    /// Finds the records of a deletion on a query thread, so that the writer is not blocked, then deletes them.
    fn find_and_delete(
        self: &Arc<Self>,
        database: Arc<Database>,
        matches: DeletionMatches,
        done: Done<usize>,
    ) {
        let (engine, target) = (Arc::clone(self), Arc::clone(&database));
        let delete: Done<DeletionMatches> = Box::new(move |matches| match matches {
            Ok(matches) => engine.delete_matches(target, matches, done),
            Err(error) => done(Err(error)),
        });
        self.run_query(delete, move || {
            let bound = matches.bind(database.published());
            Ok(if bound.cost() > EXPENSIVE_NS {
                FirstPart::Heavy(Box::new(move || Ok(bound.test()?)))
            } else {
                FirstPart::Done(bound.test()?)
            })
        });
    }

    /// Sends the matches to the writer, and finds them again when too much was written meanwhile.
    fn delete_matches(
        self: &Arc<Self>,
        database: Arc<Database>,
        matches: DeletionMatches,
        done: Done<usize>,
    ) {
        let (engine, target) = (Arc::clone(self), Arc::clone(&database));
        let reply: Done<Deleted> = Box::new(move |deleted| match deleted {
            Ok(Deleted::Records(records)) => done(Ok(records)),
            Ok(Deleted::Outdated(matches)) => engine.find_and_delete(target, matches, done),
            Err(error) => done(Err(error)),
        });
        database.send(Command::Delete {
            waiting: database.waiting_write(),
            matches,
            reply: database.reply(reply),
        });
    }
}
