//! What a record is: its identities, values, times and score, its place in an order, and what may be wrong with it.

pub(crate) mod cursor;
mod hash;
mod identity;
mod rank;
mod score;
mod time_range;
mod uuid_maker;
mod validation;
mod value;

pub(crate) use cursor::parse_integer_id;
pub(crate) use hash::{content_hash, former_record_hash, record_hash};
pub(crate) use identity::{IdKey, MAX_RECORD_ID, RecordRow, Variant};
pub use identity::{RecordId, RecordUuid};
pub(crate) use rank::{Hit, Position, TopK};
pub use score::InvalidVector;
pub(crate) use score::{SCORE_STEPS, Score, q30_to_f32, text_vector, to_unit_q30};
pub(crate) use time_range::TimeRange;
pub(crate) use uuid_maker::UuidMaker;
pub(crate) use validation::ValidationErrors;
pub use validation::{ValidationCode, ValidationError};
pub(crate) use value::{Data, OwnedValue, Value};
