//! Facets: how the matches of a request spread over values, intervals of numbers and calendar intervals.
//!
//! A [`Facet`] is bound to a snapshot by a [`FacetCounter`], which is told block by block what
//! matches and writes the response's `facets`. Exact: every match counts once, whatever the page.

mod buckets;
mod calendar;
mod counter;
mod numbers;
mod request;
mod tally;
#[cfg(test)]
mod tests;
mod texts;
mod top;

pub(crate) use counter::FacetCounter;
pub(crate) use request::Facet;
