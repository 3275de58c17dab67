//! Facets: the numbers of matches by value, by interval of numbers and by calendar interval.
//!
//! A [`FacetCounter`] binds each [`Facet`] of a request to a snapshot, counts the matches block by block, and writes the
//! response's `facets`. The counts are exact and the same on every page.

mod buckets;
mod counter;
mod histogram;
mod intervals;
mod request;
mod tally;
mod tally_memory;
#[cfg(test)]
mod tests;
mod texts;
mod values;

pub(crate) use counter::FacetCounter;
pub(crate) use request::Facet;
pub(crate) use tally_memory::TallyMemory;
