//! Tests of filters on random and golden cases.

mod dates;
mod encoding;
mod golden;
mod masks;
mod oracle;
mod random;
