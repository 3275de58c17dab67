//! The format of a store's file: its tables and the numbers in its header.
//!
//! A file is checked to have this schema and nothing else. It may come from somebody else, in an archive for instance: a
//! trigger or a view in it could change or delete what later commits write, or keep a statement running without end.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::store::error::StoreError;

/// "cosf": identifies the file to `file` and other tools.
pub(super) const APPLICATION_ID: i64 = 0x636f_7366;

/// Raised with every change of the tables or of the meaning of their values.
pub(super) const FORMAT: i64 = 8;

pub(super) const PAGE_BYTES: u64 = 16 * 1024;

/// `auto_vacuum`: free pages can be returned to the file system, a few at a time.
pub(super) const INCREMENTAL: i64 = 2;

/// The tables and indexes of a file: the name of each, and the statement that makes it.
pub(super) const STATEMENTS: [(&str, &str); 11] = [
    // `records` is apart from `contents` so that touching a record rewrites about 80 bytes, not its data.
    // Every row of `records` carries the version of the commit that last wrote it: a snapshot catches up by that index,
    // and by `deletions` for what is gone. `place` is that of its vectors in a file, and negative while
    // `vectors` has them: that negative number has four bytes, so that a hand-over makes no row longer.
    (
        "records",
        "CREATE TABLE records (
            id INTEGER PRIMARY KEY,
            uuid BLOB NOT NULL UNIQUE,
            hash BLOB NOT NULL,
            created INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            synced INTEGER NOT NULL,
            version INTEGER NOT NULL,
            place INTEGER NOT NULL DEFAULT -2147483648
        ) STRICT",
    ),
    ("versions", "CREATE INDEX versions ON records (version)"),
    (
        "contents",
        "CREATE TABLE contents (
            id INTEGER PRIMARY KEY,
            data BLOB NOT NULL,
            crc INTEGER NOT NULL,
            key TEXT
        ) STRICT",
    ),
    // What a model made of the records is apart from them, so that a re-embedding writes no record again: the places of the
    // passages of records with several, and the vectors of records whose block is not full yet, those of all passages one
    // after the other.
    (
        "passages",
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, places BLOB NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    (
        "vectors",
        "CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    // What the next model made of the records, while they are embedded again. A record whose content changes loses its row.
    // `hash` is that of the record with these vectors, if it differs.
    (
        "next_records",
        "CREATE TABLE next_records (
            id INTEGER PRIMARY KEY,
            place INTEGER NOT NULL DEFAULT -2147483648,
            places BLOB,
            crc INTEGER,
            hash BLOB
        ) STRICT",
    ),
    (
        "next_vectors",
        "CREATE TABLE next_vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL, crc INTEGER NOT NULL) STRICT",
    ),
    // The files that have the vectors of full blocks, how many records have their place in each, and whether the next model
    // made them.
    (
        "vector_files",
        "CREATE TABLE vector_files (
            number INTEGER PRIMARY KEY,
            file INTEGER NOT NULL,
            living INTEGER NOT NULL,
            next INTEGER NOT NULL
        ) STRICT",
    ),
    (
        "changes",
        "CREATE TABLE changes (
            position INTEGER PRIMARY KEY,
            version INTEGER NOT NULL,
            id INTEGER NOT NULL,
            uuid BLOB NOT NULL,
            kind INTEGER NOT NULL,
            at INTEGER NOT NULL,
            data BLOB,
            key TEXT,
            crc INTEGER NOT NULL
        ) STRICT",
    ),
    (
        "deletions",
        "CREATE INDEX deletions ON changes (version) WHERE kind = 3",
    ),
    (
        "meta",
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID",
    ),
];

/// What SQLite and Litestream add to a file: the name, and the definition without white space.
const ADDED: [(&str, &str); 6] = [
    ("sqlite_autoindex_records_1", ""),
    ("sqlite_autoindex_meta_1", ""),
    ("sqlite_stat1", "CREATETABLEsqlite_stat1(tbl,idx,stat)"),
    (
        "sqlite_stat4",
        "CREATETABLEsqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ),
    (
        "_litestream_seq",
        "CREATETABLE_litestream_seq(idINTEGERPRIMARYKEY,seqINTEGER)",
    ),
    ("_litestream_lock", "CREATETABLE_litestream_lock(idINTEGER)"),
];

/// Checks the schema of a file. Run this before every statement that reads a table.
///
/// # Errors
/// [`StoreError::Inconsistent`]; SQLite's.
pub(super) fn check_schema(connection: &Connection) -> Result<(), StoreError> {
    let mut expected: BTreeMap<&str, String> = STATEMENTS
        .into_iter()
        .map(|(name, sql)| (name, without_white_space(sql)))
        .collect();
    let mut statement = connection.prepare("SELECT type, name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
        let sql: Option<String> = row.get(2)?;
        let sql = without_white_space(&sql.unwrap_or_default());
        match expected.remove(name.as_str()) {
            Some(definition) if definition == sql => {}
            Some(_) => {
                return Err(differs(format!(
                    "the {kind} {name:?} is not defined as cosift defines it"
                )));
            }
            None if ADDED.contains(&(name.as_str(), sql.as_str())) => {}
            None => {
                return Err(differs(format!(
                    "it has the {kind} {name:?}, which cosift does not make"
                )));
            }
        }
    }
    match expected.into_keys().next() {
        Some(name) => Err(differs(format!("the table or index {name:?} is missing"))),
        None => Ok(()),
    }
}

fn differs(what: String) -> StoreError {
    StoreError::inconsistent(format!("{what}. Restore a backup"))
}

fn without_white_space(sql: &str) -> String {
    sql.split_ascii_whitespace().collect()
}
