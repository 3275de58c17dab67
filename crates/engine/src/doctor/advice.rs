//! What to do about the problems of a check.

pub(super) const RESTORE: &str =
    "stop the service and restore the database from a backup; nothing can make damaged rows again";

pub(super) const RECORDS: &str = "restore the database from a backup; or, if the named records are known elsewhere, \
     restore an older backup and import them again. The database is not served with fewer records";

pub(super) const INDEXES: &str =
    "run the doctor with --repair: it makes the indexes of SQLite again from the tables";

pub(super) const INDEX_FILES: &str = "run the doctor with --repair: it removes the index files, and the next start makes them again from the records";

pub(super) const STATE: &str = "restore the database from a backup; if all records and changes are in order, the doctor \
     makes the count again with --repair";

pub(super) const ACKNOWLEDGED: &str = "run the doctor with --repair: it removes the file `acknowledged`, and the next start checks all records and gives \
     the change feed a new epoch";

pub(super) const LOST: &str = "restore the log records.sqlite-wal or a backup; or delete the file `acknowledged` to accept the loss";

pub(super) const OTHER_STORE: &str = "put the files of the right database back; if records.sqlite was replaced on purpose, delete the file \
     `acknowledged`";

pub(super) const SETTINGS: &str = "restore the database from a backup";

pub(super) const REEMBEDDING: &str = "run the doctor with --repair: it removes the unfinished re-embedding, which can then be started again";

pub(super) const SEARCHES: &str = "run the doctor with --repair, which removes the index files; if the problem stays, report a bug";
