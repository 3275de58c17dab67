//! The switch of a database to another model: the re-embedding store takes the place of the database.

use std::sync::Arc;

use crate::api::catalog::Catalog;
use crate::api::database::Database;
use crate::api::reembeddings::Reembeddings;
use crate::disk::{remove_dropped, swap_directories};
use crate::error::Error;
use crate::reembedding::ReembeddingStore;

/// Switches a database to the model of its re-embedding store. Searches and reads are served throughout, from the old
/// or from the new database.
///
/// # Errors
/// [`Error::Stale`] when something was written after the last batch: then the database continues with the old model.
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::File`], [`Error::Store`].
pub(crate) fn switch(
    catalog: &Catalog,
    reembeddings: &Reembeddings,
    id: &str,
) -> Result<(), Error> {
    // Held to the end, so that the switch does not restore a database that is dropped meanwhile.
    let _files = catalog.lock_files();
    let source = catalog.database(id)?;
    let mut store = reembeddings.take(id)?;
    if source.reader.version()? != store.version() {
        reembeddings.put_back(id, store);
        return Err(Error::Stale);
    }
    // Ends its writer. The published snapshot can still be read and searched.
    source.close();
    let prepared = if source.is_lexical() {
        store.make_lexical()
    } else {
        Ok(())
    };
    let swapped = prepared.and_then(|()| swap(catalog, &source, store));
    // Opens the old or the new database, whichever is in the directory now.
    let opened = catalog.open_database(id, &catalog.path(id));
    catalog.replace(&source, opened)?;
    if swapped.is_ok() {
        // What cannot be removed now is removed at the next start.
        let _ = remove_dropped(catalog.disk(), catalog.root(), id);
    }
    swapped
}

/// Swaps the directories, if the store has all commits of the database.
fn swap(catalog: &Catalog, source: &Arc<Database>, store: ReembeddingStore) -> Result<(), Error> {
    let version = store.version();
    // SQLite must close the files by the path that it opened them by.
    drop(store);
    if source.reader.version()? != version {
        return Err(Error::Stale);
    }
    // Searches may still read them.
    for block in &source.snapshot().blocks {
        block.exact.keep_open();
    }
    let swap = || swap_directories(catalog.disk(), catalog.root(), &source.id);
    (source.reader.replace(swap)).map_err(Error::file(catalog.root()))
}

/// Writes the index files of the re-embedding store, so that [`switch`] is quick.
///
/// # Errors
/// [`Error::ReembeddingNotFound`], [`Error::DatabaseNotFound`], [`Error::Store`].
pub(crate) fn warm(catalog: &Catalog, reembeddings: &Reembeddings, id: &str) -> Result<(), Error> {
    let epoch = catalog.database(id)?.epoch;
    // A store has one writer, so it is closed while a database is opened on it.
    drop(reembeddings.take(id)?);
    let opened = catalog.open_database(id, &reembeddings.path(id));
    let warmed = opened.map(|next| next.close());
    reembeddings.reopen(id, epoch)?;
    warmed
}
