//! Only complete files of this engine and this format are opened.

use std::fs;

use rusqlite::Connection;

use crate::store::schema::FORMAT;
use crate::store::tests::support::{Record, create_store, open_store, real_disk, scratch};
use crate::store::{Inspection, PutKind, StoreError};

#[test]
fn the_bundled_sqlite_is_free_of_the_log_reset_bug() {
    // Before 3.51.3 a checkpoint could reset the log under a writer and lose its commit.
    assert!(
        rusqlite::version_number() >= 3_051_003,
        "{}",
        rusqlite::version()
    );
}

#[test]
fn a_database_is_made_once() {
    let (_directory, path) = scratch();
    drop(create_store(&path, b"first").expect("a new database"));
    assert!(matches!(
        create_store(&path, b"second"),
        Err(StoreError::Exists { .. })
    ));
    let store = open_store(&path).expect("it opens");
    assert_eq!(
        store
            .reader()
            .meta("settings")
            .expect("it is read")
            .as_deref(),
        Some(&b"first"[..])
    );
}

#[test]
fn a_creation_replaces_the_files_of_an_interrupted_one() {
    let (_directory, path) = scratch();
    fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
    for ending in [".new", ".new-wal", ".new-shm"] {
        fs::write(
            path.with_extension(format!("sqlite{ending}")),
            b"half of a database",
        )
        .expect("it is written");
    }
    drop(create_store(&path, b"{}").expect("a new database"));
    let mut names: Vec<_> = fs::read_dir(path.parent().expect("it has one"))
        .expect("it is listed")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["acknowledged", "records.sqlite"],
        "no other file is left"
    );
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let (_directory, path) = scratch();
    fs::create_dir_all(path.parent().expect("it has one")).expect("it is made");
    assert!(
        matches!(open_store(&path), Err(StoreError::Sqlite { .. })),
        "the file is missing"
    );
    assert!(!path.exists());

    fs::write(&path, "not a database, however long it is. ".repeat(100)).expect("it is written");
    assert!(matches!(open_store(&path), Err(StoreError::Foreign { .. })));
    fs::remove_file(&path).expect("it is removed");

    let other = Connection::open(&path).expect("it is made");
    other
        .execute_batch("CREATE TABLE records (id INTEGER PRIMARY KEY)")
        .expect("it is made");
    drop(other);
    let before = fs::read(&path).expect("it is read");
    assert!(matches!(open_store(&path), Err(StoreError::Foreign { .. })));
    assert_eq!(fs::read(&path).expect("it is read"), before);
}

#[test]
fn another_format_is_refused() {
    let (_directory, path) = scratch();
    drop(create_store(&path, b"{}").expect("a new database"));
    for other in [FORMAT - 1, FORMAT + 1] {
        let connection = Connection::open(&path).expect("it opens");
        connection
            .pragma_update(None, "user_version", other)
            .expect("it is set");
        drop(connection);
        let error = open_store(&path).expect_err("it is refused");
        assert!(
            matches!(error, StoreError::Format { found, supported: FORMAT, .. } if found == other),
            "{error}"
        );
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_file_gives_its_own_error() {
    let (_directory, path) = scratch();
    let mut store = create_store(&path, b"{}").expect("a new database");
    store
        .connection()
        .expect("it is open")
        .pragma_update(None, "query_only", true)
        .expect("it is set");
    let error = store
        .commit(&[Record::made(1, 1, 8).put(PutKind::Created)])
        .expect_err("it is refused");
    assert!(matches!(error, StoreError::ReadOnly), "{error}");
}

#[test]
fn a_schema_that_cosift_does_not_make_is_refused_before_a_statement_runs() {
    const ENDLESS: &str = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT";
    let (_directory, path) = scratch();
    drop(create_store(&path, b"{}").expect("a new database"));
    let original = fs::read(&path).expect("it is read");
    for sql in [
        "CREATE TRIGGER t AFTER INSERT ON records BEGIN DELETE FROM records WHERE id < new.id; END"
            .to_owned(),
        "CREATE TRIGGER t AFTER UPDATE ON meta BEGIN UPDATE meta SET value = x'00'; END".to_owned(),
        format!("CREATE TRIGGER t BEFORE INSERT ON changes BEGIN {ENDLESS} count(*) FROM n; END"),
        format!(
            "DROP TABLE meta; CREATE VIEW meta AS {ENDLESS} 'state' AS key, x'00' AS value FROM n"
        ),
        format!("DROP TABLE records; CREATE VIEW records AS {ENDLESS} x AS id FROM n"),
        "CREATE VIEW v AS SELECT 1".to_owned(),
        "CREATE INDEX i ON records (abs(synced))".to_owned(),
        "CREATE TABLE other (id INTEGER PRIMARY KEY REFERENCES records ON DELETE RESTRICT)"
            .to_owned(),
        "CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER CHECK (id < 1))"
            .to_owned(),
        "ALTER TABLE records ADD COLUMN extra INTEGER DEFAULT 1".to_owned(),
        "DROP INDEX versions; CREATE INDEX versions ON records (changed)".to_owned(),
        "DROP INDEX deletions".to_owned(),
    ] {
        fs::write(&path, &original).expect("it is written");
        let other = Connection::open(&path).expect("it opens");
        other.execute_batch(&sql).expect("it is changed");
        drop(other);
        let before = fs::read(&path).expect("it is read");
        for error in [
            open_store(&path).map(drop).expect_err(&sql),
            Inspection::open(&real_disk(), &path)
                .map(drop)
                .expect_err(&sql),
        ] {
            assert_eq!(error.code(), "damaged", "{sql}: {error}");
            assert!(error.to_string().ends_with("Restore a backup"), "{error}");
        }
        assert_eq!(fs::read(&path).expect("it is read"), before, "{sql}");
    }
    fs::write(&path, &original).expect("it is written");
    let other = Connection::open(&path).expect("it opens");
    other
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER);
             CREATE TABLE IF NOT EXISTS _litestream_lock (id INTEGER);
             ANALYZE;",
        )
        .expect("it is changed");
    drop(other);
    open_store(&path).expect("the tables of Litestream and of SQLite do no harm");
}
