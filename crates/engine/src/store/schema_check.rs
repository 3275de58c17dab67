//! A check that a file has the schema that cosift makes, and nothing else.
//!
//! A file may come from somebody else, in an archive for instance. A trigger or a view in it could change or delete what
//! later commits write, or keep a statement running without end.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::store::error::StoreError;
use crate::store::schema::STATEMENTS;

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
