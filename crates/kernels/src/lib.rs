//! Dot products over packed codes: bounds of the cosine in three pruning passes, and the exact integer score.
//!
//! Together with the binding, the only crate with `unsafe`. A [`Codec`] packs unit vectors into [`Codes`]. From the codes,
//! [`scan_codes`] (pruning pass 1), [`refine`] (pass 2) and [`refine_low`] (pass 3) bound the cosine of every record with
//! a query. The records that remain get their [`exact`] score. [`integers_between`], [`split_integers_between`] and
//! [`floats_between`] evaluate filters, [`find_near`] compares words, and [`add_nearness`] computes boosts.
//! Every kernel returns the same bits as the scalar one, on every machine.
//! [`return_freed_memory`] is here because it needs `unsafe`, too.

mod aligned;
mod allocator;
mod axis;
mod between;
mod check;
mod codec;
mod codes;
mod detect;
mod dots;
mod exact;
mod full_codes;
mod kernel;
mod lanes;
mod layout;
mod low_nibbles;
mod near;
mod nearness;
#[cfg(target_arch = "aarch64")]
mod neon;
mod nibble_codes;
mod nibbles;

mod plane_rows;
mod planes;
mod query;
mod reference;
mod refine;
mod remainder;
mod residence;
mod rotate;
mod scalar;
mod scan;
mod scan_codes;
mod steps;
mod training;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use allocator::return_freed_memory;
pub use codec::Codec;
pub use codes::Codes;
pub use detect::{
    add_nearness, exact, find_near, floats_between, integers_between, kernel_name, prefetch,
    refine, refine_low, rotate, scan_codes, split_integers_between,
};
pub use full_codes::FullCodes;
pub use layout::{BLOCK_RECORDS, Layout, TILE_RECORDS};
pub use low_nibbles::LowNibbles;
pub use nearness::{NEAREST, Nearness};
pub use query::{MAX_LEADING, MAX_ONE_PRODUCT, Query};
pub use residence::Residence;
pub use scan::{Candidate, Counted, HigherFloor, Mask, Scan, Wanted};
pub use steps::Steps;
