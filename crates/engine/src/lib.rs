#![forbid(unsafe_code)]
//! Exact semantic search over the records of a database.
//!
//! A search is one path: [`Search`] → snapshot → filter bound to columns → certified scan → rank → page.
//! A write is one path: [`prepare`] → commit to the store → next snapshot.

mod answer;
mod approximate;
mod axes;
mod basis;
mod block;
mod calls;
mod changes;
mod check;
mod cold;
pub mod columns;
mod commit;
mod cost;
mod cursor;
mod database;
mod defect;
mod delete;
mod derived;
mod describe;
mod engine;
mod error;
mod events;
mod exchange;
mod explain;
mod facets;
mod files;
pub mod filter;
mod hash;
mod identity;
pub mod json;
mod keeper;
mod limits;
mod load;
mod lock;
pub mod mask;
mod memory;
mod meter;
mod prepare;
pub mod problem;
mod query;
mod rank;
mod reembedding;
mod score;
mod search;
mod select;
mod serial;
mod settings;
mod shadow;
mod snapshot;
mod sort;
mod stage;
mod store;
mod task;
mod uuid;
mod workers;
mod writer;

pub use commit::{Committed, Embedded};
pub use cosift_kernels::kernel_name;
pub use database::Database;
pub use engine::{Done, Engine};
pub use error::Error;
pub use events::{Event, EventCode, EventLevel, TakenEvents};
pub use files::FileError;
pub use identity::{RecordId, RecordUuid, Variant};
pub use limits::Limits;
pub use meter::MeterReading;
pub use prepare::{Format, LineProblem, Prepared};
pub use score::Score;
pub use search::{Page, ScannerStats, Search, StopFlag, TimeRange};
pub use settings::Settings;
pub use shadow::ReembeddingBatch;
pub use stage::{Status, Upserted};
pub use store::{StoreError, sqlite_version};
