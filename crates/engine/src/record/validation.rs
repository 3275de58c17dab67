//! Validation errors: what is wrong with a caller's JSON, and where.

use std::borrow::Cow;
use std::fmt;

/// One error in a document, a filter or a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValidationError {
    /// JSON pointer (RFC 6901) to the offending value, relative to what was parsed; `""` is the whole.
    pub pointer: String,
    /// The kind, for programs.
    pub code: ValidationCode,
    /// One sentence for people.
    pub detail: String,
    /// [`ValidationCode::PreconditionFailed`]: when the content of the stored record last changed, milliseconds since
    /// 1970; `None` if there is no record.
    pub changed_at: Option<i64>,
}

impl ValidationError {
    /// An error of the value that is being parsed. Callers add the path to the value with [`ValidationError::within`].
    pub(crate) fn new(code: ValidationCode, detail: impl Into<String>) -> Self {
        Self {
            pointer: String::new(),
            code,
            detail: detail.into(),
            changed_at: None,
        }
    }

    /// The same error with the pointer of the parent, which holds the value as `member`.
    pub(crate) fn within(mut self, member: impl fmt::Display) -> Self {
        // The detail of malformed JSON has the byte offset. The path to it was not read completely.
        if self.code != ValidationCode::MalformedJson {
            self.pointer = format!("/{}{}", escape(&member.to_string()), self.pointer);
        }
        self
    }
}

/// The errors found so far, at most [`ValidationErrors::MAX`]: a large invalid request must not lead to a larger
/// response.
#[derive(Debug, Default)]
pub(crate) struct ValidationErrors {
    list: Vec<ValidationError>,
}

impl ValidationErrors {
    const MAX: usize = 100;

    pub(crate) fn push(&mut self, error: ValidationError) {
        if self.list.len() < Self::MAX {
            self.list.push(error);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Prefixes the pointers of the errors after the first `from` with `member`, the name under which the parent holds the
    /// value.
    pub(crate) fn point(&mut self, from: usize, member: impl fmt::Display + Copy) {
        for error in self.list.drain(from..).collect::<Vec<_>>() {
            self.list.push(error.within(member));
        }
    }

    /// The value, or the errors if there are any.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Vec<ValidationError>> {
        if self.list.is_empty() {
            Ok(value)
        } else {
            Err(self.list)
        }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.pointer, self.detail)
    }
}

impl std::error::Error for ValidationError {}

/// Escapes one member name for a JSON pointer: `~` and `/` become `~0` and `~1`.
fn escape(member: &str) -> Cow<'_, str> {
    if member.contains(['~', '/']) {
        member.replace('~', "~0").replace('/', "~1").into()
    } else {
        member.into()
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The kinds of [`ValidationError`]; the text form is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ValidationCode { $($(#[$doc])* $name,)* }

        impl ValidationCode {
            /// The stable name, in snake case.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

codes! {
    /// Not JSON, or not UTF-8; the detail names the byte.
    MalformedJson = "malformed_json",
    /// Nested deeper than allowed.
    TooDeep = "too_deep",
    /// A member name occurs twice in one object.
    DuplicateMember = "duplicate_member",
    /// Half of a surrogate pair, which UTF-8 cannot hold.
    LoneSurrogate = "lone_surrogate",
    /// A number beyond what a double (or, in a vector, a single) can hold.
    NumberOutOfRange = "number_out_of_range",
    /// A member this object does not have.
    UnknownMember = "unknown_member",
    /// A required member is absent.
    MissingMember = "missing_member",
    /// A value of another JSON type than required.
    WrongType = "wrong_type",
    /// `condition` is neither `AND` nor `OR`.
    UnknownCondition = "unknown_condition",
    /// There is no such `operator`.
    UnknownOperator = "unknown_operator",
    /// `rules` is an empty array.
    EmptyRules = "empty_rules",
    /// `value` given for an operator that takes none.
    UnexpectedValue = "unexpected_value",
    /// More rules in one filter than allowed.
    TooManyRules = "too_many_rules",
    /// More values in a list, or in the lists of one filter, than allowed.
    TooManyValues = "too_many_values",
    /// A filter value longer than allowed.
    ValueTooLong = "value_too_long",
    /// A column name that is empty, longer than 256 bytes or holds a control character.
    InvalidColumn = "invalid_column",
    /// An id that is not an integer from 1 to 2^53 - 1.
    InvalidId = "invalid_id",
    /// Not a hyphenated UUID.
    InvalidUuid = "invalid_uuid",
    /// A key that is empty or longer than 512 bytes.
    InvalidKey = "invalid_key",
    /// Not an ISO 8601 date, or date and time with an offset.
    InvalidTime = "invalid_time",
    /// `created_at` and `first_seen_time` names in one object.
    MixedTimeNames = "mixed_time_names",
    /// More records in one batch than allowed.
    TooManyRecords = "too_many_records",
    /// A column name beyond the number that a database may have.
    TooManyColumns = "too_many_columns",
    /// A text that is split into more passages than a record may have.
    TooManyPassages = "too_many_passages",
    /// A value of the right type that is not allowed.
    InvalidValue = "invalid_value",
    /// A vector the database can't take.
    InvalidVector = "invalid_vector",
    /// A vector of another length than the database's.
    InvalidDimensions = "invalid_dimensions",
    /// An id, a UUID and a key that do not belong to the same record.
    IdentityConflict = "identity_conflict",
    /// A record larger than allowed.
    TooLarge = "too_large",
    /// The stored record is not as the write requires.
    PreconditionFailed = "precondition_failed",
}
