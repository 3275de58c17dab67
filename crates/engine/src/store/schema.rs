//! The format of a store's file: its tables and the numbers in its header.

/// "cosf": identifies the file to `file` and other tools.
pub(super) const APPLICATION_ID: i64 = 0x636f_7366;

/// Raised with every change of the tables or of the meaning of their values.
///
/// Format 2 has `store_id`, `epoch` and `state` in `meta`, which format 1 had not. Format 3 has the keys of records, in
/// `contents` and `changes`. Format 4 has the passages of records, in `contents`. Format 5 has the checksums of `changes`.
/// See [`upgrade`](super::upgrade).
pub(super) const FORMAT: i64 = 5;

pub(super) const PAGE_BYTES: u64 = 16 * 1024;

/// `auto_vacuum`: free pages can be returned to the file system, a few at a time.
pub(super) const INCREMENTAL: i64 = 2;

/// The tables and indexes of a file of `format`: the name of each, and the statement that makes it.
pub(super) fn statements(format: i64) -> [(&'static str, String); 6] {
    let since = |first: i64, columns: &'static str| if format < first { "" } else { columns };
    // `records` is apart from `contents` so that touching a record rewrites about 80 bytes, not its vector.
    // Every row of `records` carries the version of the commit that last wrote it: a snapshot catches up by that index,
    // and by `deletions` for what is gone.
    let records = "CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        uuid BLOB NOT NULL UNIQUE,
        hash BLOB NOT NULL,
        created INTEGER NOT NULL,
        changed INTEGER NOT NULL,
        synced INTEGER NOT NULL,
        version INTEGER NOT NULL
    ) STRICT";
    let contents = format!(
        "CREATE TABLE contents (
        id INTEGER PRIMARY KEY,
        data BLOB NOT NULL,
        vector BLOB NOT NULL,
        crc INTEGER NOT NULL{}{}
    ) STRICT",
        since(3, ", key TEXT"),
        since(4, ", passages BLOB")
    );
    let changes = format!(
        "CREATE TABLE changes (
        position INTEGER PRIMARY KEY,
        version INTEGER NOT NULL,
        id INTEGER NOT NULL,
        uuid BLOB NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL,
        data BLOB{}{}
    ) STRICT",
        since(3, ", key TEXT"),
        since(5, ", crc INTEGER")
    );
    let meta =
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID";
    let versions = "CREATE INDEX versions ON records (version)";
    let deletions = "CREATE INDEX deletions ON changes (version) WHERE kind = 3";
    [
        ("records", records.to_owned()),
        ("versions", versions.to_owned()),
        ("contents", contents),
        ("changes", changes),
        ("deletions", deletions.to_owned()),
        ("meta", meta.to_owned()),
    ]
}

/// Adds what format 3 has and format 2 has not. It rewrites no row: a row without the columns reads as one without a key.
pub(super) const ADD_KEYS: &str =
    "ALTER TABLE contents ADD COLUMN key TEXT; ALTER TABLE changes ADD COLUMN key TEXT;";

/// Adds what format 4 has and format 3 has not. It rewrites no row: a row without the column reads as one with one vector.
pub(super) const ADD_PASSAGES: &str = "ALTER TABLE contents ADD COLUMN passages BLOB;";

/// Adds what format 5 has and format 4 has not. It rewrites no row: a row without the column reads as one without a checksum.
pub(super) const ADD_CHECKSUMS: &str = "ALTER TABLE changes ADD COLUMN crc INTEGER;";
