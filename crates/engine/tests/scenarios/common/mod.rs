//! Helpers of all scenarios: a blocking engine, random records, and an oracle that computes every expected response.

mod facets;
#[cfg(target_os = "linux")]
mod faults;
mod image;
mod model;
mod oracle;
mod random;
mod server;
mod store_copy;

#[cfg(target_os = "linux")]
pub(crate) use faults::{Faults, assert_names_are_synced, run_with_faults};
pub(crate) use image::image;
pub(crate) use model::{Model, embed, embedded, fingerprint, settings};
pub(crate) use oracle::{Known, Oracle, elements, hits, total, uuid_of_key};
pub(crate) use random::{Random, Vectors, random_boosts, random_data, random_filter, time};
pub(crate) use server::{Server, assert_same, child, skipped, stop_flag};
pub(crate) use store_copy::StoreCopy;

/// Whether every test runs in full (`npm run test:all`): `all`, otherwise `few`.
pub(crate) fn in_full(all: usize, few: usize) -> usize {
    if std::env::var_os("TESTS_IN_FULL").is_some() {
        all
    } else {
        few
    }
}
