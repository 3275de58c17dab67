//! A record: its identities, values, times, score and position in an order, and the errors of its validation.

pub(crate) mod cursor;
mod hash;
mod identity;
mod key;
mod order;
mod passages;
mod score;
mod time_range;
mod top_k;
mod unit_vector;
mod uuid_maker;
mod validation;
mod value;
mod weight;

pub(crate) use cursor::parse_integer_id;
pub(crate) use hash::{content_hash, hexadecimal, record_hash};
pub(crate) use identity::{IdKey, MAX_RECORD_ID, RecordRow, Variant};
pub use identity::{RecordId, RecordUuid};
pub(crate) use key::{MAX_KEY_BYTES, RecordKey, parse_key_reference};
pub(crate) use order::{Hit, PageStart, Position, Ranked};
pub(crate) use passages::{Passage, Passages, Vectors, passage_count, take_number};
pub(crate) use score::{SCORE_STEPS, Score};
pub(crate) use time_range::{RecordTime, TimeRange};
pub(crate) use top_k::TopK;
pub use unit_vector::InvalidVector;
pub(crate) use unit_vector::{direction_of, q30_to_f32, q30_to_f64, text_vector, to_unit_q30};
pub(crate) use uuid_maker::UuidMaker;
pub(crate) use validation::ValidationErrors;
pub use validation::{ValidationCode, ValidationError};
pub(crate) use value::{Data, Elements, List, MAX_LIST_ELEMENTS, OwnedValue, Value};
pub(crate) use weight::{Extra, Weight};
