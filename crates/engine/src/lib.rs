#![forbid(unsafe_code)]
//! Exact semantic search over the records of a database.
//!
//! A search is one path: request → snapshot → filter bound to columns → certified scan → rank → page.
//! A write is one path: prepare → commit to the store → next snapshot.

mod api;
mod background;
mod columns;
mod disk;
#[cfg(test)]
mod disk_faults;
mod doctor;
mod error;
mod export;
mod external;
mod facets;
mod filter;
mod json;
mod lexical;
mod limits;
mod record;
mod reembedding;
mod reply;
mod runtime;
mod search;
mod settings;
mod snapshot;
mod sqlite_file;
mod store;
mod write;

pub use api::{Backup, Engine, Export};
pub use cosift_kernels::kernel_name;
pub use disk::{FileError, LockError};
pub use doctor::{Doctor, DoctorProgress};
pub use error::{Done, Error};
pub use external::{
    ColumnChange, ExternalChange, ExternalFacets, ExternalPage, ExternalPut, ExternalQuery,
    ExternalRow, ExternalRules, ExternalSearch, ExternalTexts, ExternalVectors, ExternalWrites,
    KeptData, ScannedVector,
};
pub use json::{check as check_json, time_text};
pub use lexical::lexical_scorer;
pub use limits::{FilterLimits, Limits};
pub use record::{InvalidVector, RecordId, RecordUuid, ValidationCode, ValidationError};
pub use reembedding::ReembeddingBatch;
pub use runtime::{Event, EventCode, EventLevel, MetricsReading, StopFlag, TakenEvents};
pub use search::{ExampleQuery, ExternalSelection, Page, Pages, SearchStats};
pub use settings::{PassageSettings, TextLine};
pub use sqlite_file::SqliteFile;
pub use store::{Header, StoreError};
pub use write::{Committed, Embedded, Format, LineError, Prepared, Status, Upserted};
