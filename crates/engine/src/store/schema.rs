//! The format of a store's file: its tables and the numbers in its header.

/// "cosf": identifies the file to `file` and other tools.
pub(super) const APPLICATION_ID: i64 = 0x636f_7366;

/// Raised with every change of the tables or of the meaning of their values.
pub(super) const FORMAT: i64 = 6;

pub(super) const PAGE_BYTES: u64 = 16 * 1024;

/// `auto_vacuum`: free pages can be returned to the file system, a few at a time.
pub(super) const INCREMENTAL: i64 = 2;

/// The tables and indexes of a file: the name of each, and the statement that makes it.
pub(super) const STATEMENTS: [(&str, &str); 6] = [
    // `records` is apart from `contents` so that touching a record rewrites about 80 bytes, not its vector.
    // Every row of `records` carries the version of the commit that last wrote it: a snapshot catches up by that index,
    // and by `deletions` for what is gone.
    (
        "records",
        "CREATE TABLE records (
            id INTEGER PRIMARY KEY,
            uuid BLOB NOT NULL UNIQUE,
            hash BLOB NOT NULL,
            created INTEGER NOT NULL,
            changed INTEGER NOT NULL,
            synced INTEGER NOT NULL,
            version INTEGER NOT NULL
        ) STRICT",
    ),
    ("versions", "CREATE INDEX versions ON records (version)"),
    (
        "contents",
        "CREATE TABLE contents (
            id INTEGER PRIMARY KEY,
            data BLOB NOT NULL,
            vector BLOB NOT NULL,
            crc INTEGER NOT NULL,
            key TEXT,
            passages BLOB
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
