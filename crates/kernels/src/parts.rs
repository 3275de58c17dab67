//! The parts of passes 2 and 3: a plane each, in the order in which they narrow the bounds.

use crate::codes::{RecordMeta, RowResiduals};
use crate::nibble_codes::NibbleCodes;
use crate::query::{Query, Weights};

/// A plane that narrows bounds, given the planes before it.
pub(crate) trait Part {
    /// The query's codes of the plane's band.
    fn band(query: &Query) -> &NibbleCodes;

    /// `tail_low_norm` is at least the norm of any record's low nibbles in the tail.
    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors;

    /// The residuals of a record once the plane is known. The error of unknown low nibbles of the tail is not part of them: it
    /// is in [`Factors::scale`].
    fn residuals(meta: &RecordMeta, row: &RowResiduals) -> RowResiduals;
}

/// How the bounds of a candidate follow from the dot product with a row.
pub(crate) struct Factors {
    /// Of the dot product.
    pub(crate) dot: f32,
    /// Of the scale: the low nibbles of the tail, if they are not known.
    pub(crate) scale: f32,
}

/// The high nibbles of the tail.
pub(crate) struct TailHigh;
/// The low nibbles of the coarse band.
pub(crate) struct CoarseLow;
/// The low nibbles of the tail.
pub(crate) struct TailLow;
/// The low nibbles of the fine band.
pub(crate) struct FineLow;

impl Part for TailHigh {
    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.tail
    }

    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors {
        Factors {
            dot: weights.tail_high,
            scale: weights.tail_low_norm * tail_low_norm,
        }
    }

    #[inline(always)]
    fn residuals(meta: &RecordMeta, row: &RowResiduals) -> RowResiduals {
        RowResiduals {
            fine: meta.fine_residual,
            coarse: meta.coarse_residual,
            ..*row
        }
    }
}

impl Part for CoarseLow {
    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.coarse
    }

    fn factors(weights: &Weights, tail_low_norm: f32) -> Factors {
        Factors {
            dot: weights.low,
            ..TailHigh::factors(weights, tail_low_norm)
        }
    }

    #[inline(always)]
    fn residuals(meta: &RecordMeta, row: &RowResiduals) -> RowResiduals {
        RowResiduals {
            fine: meta.fine_residual,
            ..*row
        }
    }
}

impl Part for TailLow {
    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.tail
    }

    fn factors(weights: &Weights, _: f32) -> Factors {
        Factors {
            dot: weights.tail_low,
            scale: 0.0,
        }
    }

    #[inline(always)]
    fn residuals(meta: &RecordMeta, row: &RowResiduals) -> RowResiduals {
        CoarseLow::residuals(meta, row)
    }
}

impl Part for FineLow {
    fn band(query: &Query) -> &NibbleCodes {
        &query.codes.fine
    }

    fn factors(weights: &Weights, _: f32) -> Factors {
        Factors {
            dot: weights.fine_low,
            scale: 0.0,
        }
    }

    #[inline(always)]
    fn residuals(_: &RecordMeta, row: &RowResiduals) -> RowResiduals {
        *row
    }
}
